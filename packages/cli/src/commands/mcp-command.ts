/** Defines `holdpoint mcp` and its subcommands. Their code is imported only when one of them runs. */
import { Argument, type Command, type Option } from 'commander'
import { argumentHelp, mcpHelp, moreHelp, optionHelp, unknownSubcommand } from './help-texts.ts'

/** The agents whose settings Holdpoint can change. */
const agents = ['claude', 'codex', 'gemini', 'opencode']

export function defineMcpCommands(
  mcp: Command,
  addAddress: (command: Command) => Command,
  homeOption: () => Option,
): void {
  addAddress(mcp)
    .option('--http', optionHelp.mcpHttp)
    .option('--port <n>', optionHelp.mcpPort)
    .option('--folder <path>', optionHelp.mcpFolder)
    .addHelpText('after', moreHelp.mcp)
    // Without this call, commander would report a mistyped subcommand as an excess argument.
    .allowExcessArguments()
    .action(async ({ http, ...options }, command: Command) => {
      const [typed] = command.args
      if (typed !== undefined) command.error(unknownSubcommand(typed))
      if (http) await (await import('../mcp/http/http-server.ts')).runMcpHttp(options)
      else await (await import('../mcp/mcp.ts')).runMcp(options)
    })
  addAddress(mcp.command('wrap').description(mcpHelp.wrap).argument('<server...>', argumentHelp.mcpServer))
    .passThroughOptions()
    .usage('[options] -- SERVER [ARGUMENTS…]')
    .option('--name <name>', optionHelp.mcpName)
    .option('--allow-read-only', optionHelp.allowReadOnly)
    .addHelpText('after', moreHelp.mcpWrap)
    .action(async (server: string[], options) => {
      process.exitCode = await (await import('../mcp/wrap/wrap.ts')).runWrap(server, options)
    })
  const define = (name: 'install' | 'remove') =>
    mcp
      .command(name)
      .description(mcpHelp[name])
      .addArgument(new Argument('<agent>', argumentHelp.mcpAgent).choices(agents))
  define('install')
    .addOption(homeOption())
    .addHelpText('after', moreHelp.mcpInstall)
    .action(async (agent: string, options) => (await import('../mcp/install.ts')).installMcp(agent, options))
  define('remove').action(async (agent: string) => (await import('../mcp/install.ts')).removeMcp(agent))
}
