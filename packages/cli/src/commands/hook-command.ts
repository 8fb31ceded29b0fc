/** Defines `holdpoint hook` and its subcommands. Their code is imported only when one of them runs. */
import { Argument, type Command, Option } from 'commander'
import { jsonOption } from './command-options.ts'
import { hookHelp, moreHelp, optionHelp } from './help-texts.ts'

const agents = ['claude', 'codex', 'gemini'] as const
type Agent = (typeof agents)[number]

export function defineHookCommands(hook: Command, homeOption: () => Option): void {
  const define = (name: keyof typeof hookHelp) =>
    hook
      .command(name)
      .description(hookHelp[name])
      .addArgument(new Argument('[agent]', optionHelp.hookAgent).choices(agents).default('claude' satisfies Agent))
      .addOption(homeOption())
  const addScope = (command: Command) =>
    command
      .addOption(new Option('--user', optionHelp.hookUser).conflicts('project'))
      .addOption(new Option('--project', optionHelp.hookProject))
  const commands = () => import('../hooks/hook.ts')
  addScope(define('install'))
    .addHelpText('after', moreHelp.hookInstall)
    .action(async (agent: Agent, options) => (await commands()).installHooks(agent, options))
  addScope(define('remove')).action(async (agent: Agent, options) =>
    (await commands()).removeInstalledHooks(agent, options),
  )
  define('status')
    .addOption(jsonOption('hooks'))
    .action(async (agent: Agent, options) => {
      process.exitCode = (await commands()).hookStatus(agent, options)
    })
  hook
    .command('run', { hidden: true })
    .addArgument(new Argument('<agent>').choices(agents))
    .addOption(homeOption())
    .action(async (agent: Agent, options) => (await import('../hooks/run-hook.ts')).runHook(agent, options))
}
