/** Defines the commands for sessions. Their code is imported only when one of them runs. */
import { SessionState } from '@holdpoint/protocol'
import { Argument, type Command, Option } from 'commander'
import type { GatewayAddress, GatewayClient } from '../gateway-client/gateway-client.ts'
import { collect, jsonOption } from './command-options.ts'
import { argumentHelp, type commandHelp, moreHelp, optionHelp, unknownSubcommand } from './help-texts.ts'
import { defineWatcherCommands } from './watcher-command.ts'

const sessionArgument = () => new Argument('<session>', argumentHelp.session)

type DefineCommand = (name: keyof typeof commandHelp) => Command
type OpenGateway = (address: GatewayAddress & { json?: boolean }) => Promise<GatewayClient>

/** `gatewayCommand` adds a command that talks to a gateway. */
export function defineSessionCommands(
  gatewayCommand: DefineCommand,
  addAddress: (command: Command) => Command,
  gateway: OpenGateway,
): void {
  gatewayCommand('sessions')
    .option('--all', optionHelp.all)
    .addOption(new Option('--state <state>', optionHelp.state).choices(SessionState.options))
    .option('--search <text>', optionHelp.search)
    .option('--limit <n>', optionHelp.limit)
    .addOption(jsonOption('sessions'))
    .action(async options => (await import('./sessions.ts')).sessions(await gateway(options), options))
  gatewayCommand('start')
    .argument('<driver>', argumentHelp.driver)
    .argument('[prompt...]', argumentHelp.prompt)
    .option('--cwd <folder>', optionHelp.cwd)
    .option('--mode <mode>', optionHelp.mode)
    .option('--model <model>', optionHelp.model)
    .option('--title <text>', optionHelp.title)
    .addOption(jsonOption('session'))
    .action(async (driver: string, words: string[], { url, home, ...options }) =>
      (await import('./sessions.ts')).start(await gateway({ url, home }), driver, words, options),
    )
  gatewayCommand('rehearse')
    .argument('[message...]', argumentHelp.rehearseMessage)
    .addOption(jsonOption('session'))
    .action(async (words: string[], options) =>
      (await import('./sessions.ts')).rehearse(await gateway(options), words, options),
    )
  gatewayCommand('send')
    .addArgument(sessionArgument())
    .argument('<text...>', argumentHelp.message)
    .option('--attach <file>', optionHelp.attach, collect)
    .addOption(jsonOption('command'))
    .action(async (id: string, words: string[], options) =>
      (await import('./sessions.ts')).send(await gateway(options), id, words, options),
    )
  const watch = gatewayCommand('watch')
    .option('--session <id>', optionHelp.onlySession)
    .option('--after <cursor>', optionHelp.after)
    .addOption(jsonOption('events'))
    .addHelpText('after', moreHelp.watch)
    // Options after the name of a subcommand belong to the subcommand.
    .enablePositionalOptions()
    .helpCommand(false)
    // Without this call, commander would report a mistyped subcommand as an excess argument.
    .allowExcessArguments()
    .action(async (options, command: Command) => {
      const [typed] = command.args
      if (typed !== undefined) command.error(unknownSubcommand(typed))
      await (await import('./watch.ts')).watch(options)
    })
  defineWatcherCommands(watch, addAddress, gateway)
  gatewayCommand('logs')
    .addArgument(sessionArgument())
    .option('-f, --follow', optionHelp.follow)
    .option('--limit <n>', optionHelp.entries)
    .option('--output', optionHelp.toolOutput)
    .addOption(jsonOption('events'))
    .action(async (id: string, options) => (await import('./logs.ts')).logs(id, options))
  defineSessionChanges(gatewayCommand, gateway)
}

function defineSessionChanges(gatewayCommand: DefineCommand, gateway: OpenGateway): void {
  gatewayCommand('stop')
    .addOption(jsonOption('stopped'))
    .action(async options => (await import('./sessions.ts')).stop(await gateway(options), options))
  gatewayCommand('rename')
    .addArgument(sessionArgument())
    .argument('<name...>', argumentHelp.newTitle)
    .addOption(jsonOption('session'))
    .action(async (id: string, words: string[], options) =>
      (await import('./sessions.ts')).rename(await gateway(options), id, words, options),
    )
  gatewayCommand('delete')
    .addArgument(sessionArgument())
    .option('--yes', optionHelp.yes)
    .addOption(jsonOption('deleted'))
    .action(async (id: string, options) =>
      (await import('./sessions.ts')).deleteSession(await gateway(options), id, options),
    )
  for (const name of ['interrupt', 'end'] as const)
    gatewayCommand(name)
      .addArgument(sessionArgument())
      .addOption(jsonOption('session'))
      .action(async (id: string, options) => (await import('./sessions.ts'))[name](await gateway(options), id, options))
  gatewayCommand('vars')
    .addArgument(sessionArgument())
    .addOption(jsonOption('variables'))
    .action(async (id: string, options) =>
      (await import('./variables.ts')).listVariables(await gateway(options), id, options),
    )
  gatewayCommand('set')
    .argument('<name>', argumentHelp.variable)
    .argument('<value>', argumentHelp.variableValue)
    .option('--session <id>', optionHelp.setSession)
    .option('--file <file>', optionHelp.setFile)
    .addOption(jsonOption('variable'))
    .action(async (name: string, value: string, options) =>
      (await import('./variables.ts')).setVariable(await gateway(options), name, value, options),
    )
  gatewayCommand('mode')
    .addArgument(sessionArgument())
    .argument('<mode>', optionHelp.newMode)
    .addOption(jsonOption('session'))
    .action(async (id: string, mode: string, options) =>
      (await import('./sessions.ts')).changeMode(await gateway(options), id, mode, options),
    )
  gatewayCommand('model')
    .addArgument(sessionArgument())
    .argument('<model>', optionHelp.newModel)
    .addOption(jsonOption('session'))
    .action(async (id: string, model: string, options) =>
      (await import('./sessions.ts')).changeModel(await gateway(options), id, model, options),
    )
}
