/** Entry point: defines the commands, runs one, and turns errors into a message and an exit code. */
import { escapeInvisible, Fault } from '@holdpoint/protocol'
import { Argument, Command, CommanderError, Help, Option } from 'commander'
import { defineAuditCommands } from './commands/audit-command.ts'
import { addGatewayOptions, collect, jsonOption, storeOption } from './commands/command-options.ts'
import type { CommandShape } from './commands/completion.ts'
import {
  argumentHelp,
  commandHelp,
  groups,
  moreHelp,
  optionHelp,
  programDescription,
  seeCommandHelp,
  seeHelp,
  unknownCommand,
} from './commands/help-texts.ts'
import { defineHookCommands } from './commands/hook-command.ts'
import { defineMcpCommands } from './commands/mcp-command.ts'
import { defineRulesCommands } from './commands/rules-command.ts'
import { defineServiceCommands } from './commands/service-command.ts'
import { defineSessionCommands } from './commands/session-command.ts'
import { similarCommand } from './commands/similar-command.ts'
import { defineTokenCommands } from './commands/token-command.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import type { GatewayAddress, GatewayClient } from './gateway-client/gateway-client.ts'
import { printNotice } from './output/notice.ts'
import { callWithNotice, withNotice } from './output/waiting-notice.ts'
import { hidePassword } from './password-in-arguments.ts'
import { version } from './version.ts'

const program = new Command('holdpoint')
  .description(programDescription)
  .version(version, '-V, --version', optionHelp.version)
  .helpOption('-h, --help', optionHelp.help)
  .enablePositionalOptions()
  .showHelpAfterError(seeHelp)
  .configureHelp({
    // Wrap descriptions between words on narrow screens, too: by default, commander leaves this to the terminal if fewer than 40 columns are left.
    minWidthToWrap: 10,
    // Leave out `[options]`, which almost every command has, so that the descriptions fit on a line.
    subcommandTerm: command =>
      [
        command.name(),
        ...command.registeredArguments.map(argument => {
          const name = `${argument.name()}${argument.variadic ? '…' : ''}`
          return argument.required ? `<${name}>` : `[${name}]`
        }),
      ].join(' '),
    // List --url and --home last, because people rarely need them.
    visibleOptions(command) {
      const all = Help.prototype.visibleOptions.call(this, command)
      const address = all.filter(({ long }) => long === '--url' || long === '--home')
      return [...all.filter(option => !address.includes(option)), ...address]
    },
  })
  .exitOverride()
  .addHelpText('after', moreHelp.program)

const homeOption = () => new Option('--home <folder>', optionHelp.home).env('HOLDPOINT_HOME')
const urlOption = () => new Option('--url <url>', optionHelp.url)
const digestOption = () => new Option('--digest <digest>', optionHelp.digest)
const deadlineOption = () => new Option('--deadline <time>', optionHelp.deadline)
const requestArgument = () => new Argument('<request>', argumentHelp.request)
const requestsArgument = () => new Argument('<request...>', argumentHelp.requests)

/** Adds a command that talks to a gateway. Import the command's code only in its action, so that other commands start fast. */
function gatewayCommand(name: keyof typeof commandHelp): Command {
  return addAddress(program.command(name).description(commandHelp[name]))
}
const addAddress = (command: Command) => command.addOption(urlOption()).addOption(homeOption())
const gateway = async ({ json, ...address }: GatewayAddress & { json?: boolean }): Promise<GatewayClient> => {
  const client = (await import('./gateway-client/gateway-client.ts')).requireGateway(address)
  return json ? client : { ...client, call: callWithNotice(client.call) }
}

program.commandsGroup(groups.start)
for (const name of ['up', 'gateway'] as const) {
  const command = addGatewayOptions(program.command(name, { isDefault: name === 'up' }).description(commandHelp[name]))
    .option('--accept-data-loss', optionHelp.acceptDataLoss)
    .option('--json', optionHelp.upJson)
    .addOption(homeOption())
    // The supervisor passes this option: bin/holdpoint.js starts `up` without it as a supervisor.
    .addOption(new Option('--supervised <start>').choices(['first', 'again']).hideHelp())
    .action(async ({ home, json, acceptDataLoss, supervised, detach, ...flags }) => {
      const { config, dataFolder } = await readSettings(flags, home)
      if (detach)
        return (await import('./gateway/detach.ts')).upDetached(argumentsOf(name), dataFolder, {
          json: json === true,
          startsRunner: config.runner !== 'none',
        })
      await (await import('./gateway/up.ts')).up(config, dataFolder, { json, acceptDataLoss, supervised })
    })
  if (name === 'up') command.option('--detach', optionHelp.detach)
}
program
  .command('down')
  .description(commandHelp.down)
  .addOption(homeOption())
  .action(async ({ home }) => {
    const { down } = await import('./gateway/down.ts')
    console.log(await withNotice('down', down((await readSettings({}, home)).dataFolder)))
  })
program
  .command('runner')
  .description(commandHelp.runner)
  .option('--url <url>', optionHelp.runnerUrl)
  .addOption(homeOption())
  .action(async ({ home, url }) => {
    // The output of a runner goes to its log, whose lines are JSON.
    const { log } = await import('./log.ts')
    const { config, dataFolder } = await readSettings({}, home, message => log({ event: 'config.ignored', message }))
    await (await import('./runner/runner.ts')).runnerProcess(config, dataFolder, url)
  })
gatewayCommand('status')
  .addOption(jsonOption('status'))
  .action(async options => (await import('./commands/status.ts')).status(await gateway(options), options))
gatewayCommand('link').action(async address => (await import('./commands/open.ts')).printLink(await gateway(address)))
gatewayCommand('open').action(async address => {
  const { openDataFolder } = await import('./config/data-folder.ts')
  await (await import('./commands/open.ts')).openPage(await gateway(address), openDataFolder(address.home))
})
defineServiceCommands(program.command('service').description(commandHelp.service).helpCommand(false), {
  homeOption,
  readSettings,
})

defineHookCommands(program.command('hook').description(commandHelp.hook).helpCommand(false), homeOption)
defineMcpCommands(program.command('mcp').description(commandHelp.mcp).helpCommand(false), addAddress, homeOption)

program.commandsGroup(groups.live)
gatewayCommand('run')
  .argument('[driver]', argumentHelp.runDriver)
  .argument('[prompt...]', argumentHelp.runPrompt)
  .option('--session <id>', optionHelp.resume)
  .option('--cwd <folder>', optionHelp.cwd)
  .option('--mode <mode>', optionHelp.mode)
  .option('--model <model>', optionHelp.model)
  .option('--title <text>', optionHelp.title)
  .addHelpText('after', moreHelp.run)
  .action(async (driver: string | undefined, prompt: string[], options) => {
    const words = driver === undefined ? [] : [driver, ...prompt]
    process.exitCode = await (await import('./tui/run/run.ts')).run(words, options)
  })
gatewayCommand('tui').action(async options => {
  process.exitCode = await (await import('./tui/dashboard/dashboard.ts')).runTui(options)
})

program.commandsGroup(groups.answer)
gatewayCommand('inbox')
  .option('--session <id>', optionHelp.onlySession)
  .addOption(new Option('--count', optionHelp.count).conflicts(['json', 'watch']))
  .addOption(new Option('--watch', optionHelp.watch).conflicts('json'))
  .addOption(jsonOption('requests'))
  .action(async options => (await import('./commands/inbox.ts')).inbox(await gateway(options), options))
gatewayCommand('next').action(async address =>
  (await import('./tui/answer/answer.ts')).answerNext(await gateway(address)),
)
gatewayCommand('show')
  .argument('<request>', argumentHelp.shown)
  .addOption(jsonOption('request'))
  .action(async (id: string, options) => (await import('./commands/show.ts')).show(await gateway(options), id, options))
gatewayCommand('allow')
  .addArgument(requestsArgument())
  .option('--note <text>', optionHelp.note)
  .option('--input <file>', optionHelp.input)
  .addOption(digestOption())
  .option('--always [number]', optionHelp.always)
  .option('--for <duration>', optionHelp.alwaysFor)
  .option('--mode <mode>', optionHelp.planMode)
  .option('--comment <place=text>', optionHelp.comment, collect)
  .addOption(jsonOption('resolvedRequests'))
  .addHelpText('after', moreHelp.allow)
  .action(async (ids: string[], options) =>
    (await import('./commands/allow-deny.ts')).allow(await gateway(options), ids, options),
  )
gatewayCommand('deny')
  .addArgument(requestsArgument())
  .option('--reason <text>', optionHelp.reason)
  .option('--ask <question>', optionHelp.askBack)
  .option('--comment <place=text>', optionHelp.comment, collect)
  .option('--stop', optionHelp.stop)
  .addOption(jsonOption('resolvedRequests'))
  .action(async (ids: string[], options) =>
    (await import('./commands/allow-deny.ts')).deny(await gateway(options), ids, options),
  )
gatewayCommand('answer')
  .addArgument(requestArgument())
  .option('--choose <label>', optionHelp.choose, collect)
  .option('--text <text>', optionHelp.text, collect)
  .option('--set <field=value>', optionHelp.set, collect)
  .option('--values <file>', optionHelp.values)
  .option('--decline', optionHelp.decline)
  .option('--reason <text>', optionHelp.declineReason)
  .option('--stop', optionHelp.declineStop)
  .addOption(digestOption())
  .addOption(jsonOption('resolvedRequest'))
  .addHelpText('after', moreHelp.answer)
  .action(async (id: string, options) =>
    (await import('./commands/answer.ts')).answer(await gateway(options), id, options),
  )

program.commandsGroup(groups.sessions)
defineSessionCommands(gatewayCommand, addAddress, gateway)

program.commandsGroup(groups.scripts)
gatewayCommand('ask')
  .argument('<question>')
  .option('--choice <label>', optionHelp.choice, collect)
  .option('--text', optionHelp.askText)
  .addOption(deadlineOption())
  .option('--as <name>', optionHelp.as, 'script')
  .addOption(jsonOption('resolvedRequest'))
  .addHelpText('after', moreHelp.ask)
  .action(async (question: string, options) => {
    process.exitCode = await (await import('./commands/ask.ts')).ask(question, options)
  })
gatewayCommand('guard')
  .argument('<command...>')
  .passThroughOptions()
  .usage('[options] -- COMMAND [ARGUMENTS…]')
  .addOption(deadlineOption())
  .option('--as <name>', optionHelp.as, 'guard')
  .addHelpText('after', moreHelp.guard)
  .action(async (argv: string[], options) => {
    process.exitCode = await (await import('./commands/guard.ts')).guard(argv, options)
  })

program.commandsGroup(groups.maintenance)
program
  .command('doctor')
  .description(commandHelp.doctor)
  .addOption(urlOption())
  .addOption(storeOption())
  .addOption(homeOption())
  .addOption(jsonOption('findings'))
  .action(async options => {
    const done = (await import('./commands/doctor.ts')).doctor(options)
    process.exitCode = await (options.json ? done : withNotice('doctor', done))
  })
defineAuditCommands(program.command('audit').description(commandHelp.audit).helpCommand(false), {
  addAddress,
  gateway,
  readSettings,
})
defineRulesCommands(program.command('rules').description(commandHelp.rules).helpCommand(false), { addAddress, gateway })
defineTokenCommands(program.command('token').description(commandHelp.token).helpCommand(false), {
  addAddress,
  gateway,
})
for (const name of ['backup', 'restore'] as const)
  program
    .command(name)
    .description(commandHelp[name])
    .argument('<file>')
    .addOption(storeOption())
    .addOption(homeOption())
    .action(async (file: string, { home, ...flags }) => {
      const { config, dataFolder } = await readSettings(flags, home)
      const { [name]: run } = await import('./gateway/backup.ts')
      console.log(await withNotice(name, run(config, dataFolder, file)))
    })
program
  .command('trust')
  .description(commandHelp.trust)
  .argument('[path]', argumentHelp.trustPath)
  .option('--yes', optionHelp.yes)
  .addOption(new Option('--list', optionHelp.listTrusted).conflicts(['yes', 'remove']))
  .addOption(new Option('--remove', optionHelp.removeTrust).conflicts('yes'))
  .addOption(homeOption())
  .addHelpText('after', moreHelp.trust)
  .action(async (path: string | undefined, options) => (await import('./commands/trust.ts')).trust(path, options))
program
  .command('completion')
  .description(commandHelp.completion)
  .argument('<shell>', argumentHelp.shell)
  .action(async (shell: string) => console.log((await import('./commands/completion.ts')).completionScript(shell)))
program
  .command('complete', { hidden: true })
  .argument('[words...]')
  .addOption(homeOption())
  .action(async (words: string[], address) =>
    (await import('./commands/completion.ts')).complete(words, commandShapes(), address),
  )

for (const command of program.commands) {
  command.showHelpAfterError(seeCommandHelp(command.name()))
  for (const sub of command.commands) sub.showHelpAfterError(seeCommandHelp(`${command.name()} ${sub.name()}`))
}
program.addHelpCommand(new Command('help').argument('[command]').description(commandHelp.help))

/** Returns the arguments after the name of the command, which may be left out for `up`. */
function argumentsOf(name: string): readonly string[] {
  const words = process.argv.slice(2)
  return words[0] === name ? words.slice(1) : words
}
async function readSettings(flags: Record<string, unknown>, home: string | undefined, report = printNotice) {
  const [{ readConfig }, { openDataFolder }] = await Promise.all([
    import('./config/config.ts'),
    import('./config/data-folder.ts'),
  ])
  const dataFolder = openDataFolder(home)
  const { config, ignored } = readConfig(dataFolder, flags)
  if (ignored !== null) report(ignored)
  return { config, dataFolder }
}
/** Describes the commands for completion.ts, which does not depend on commander. */
function commandShapes(parent = program): readonly CommandShape[] {
  const visible = parent.createHelp().visibleCommands(parent)
  return visible.map(command => ({
    name: command.name(),
    description: command.description(),
    options: command.options.map(({ long, required, description, argChoices }) => ({
      flag: long ?? '',
      takesValue: required,
      description,
      choices: argChoices ?? [],
    })),
    arguments: command.registeredArguments.map(argument => argument.name()),
    isVariadic: command.registeredArguments.at(-1)?.variadic === true,
    subcommands: command.commands.length > 0 ? commandShapes(command) : [],
  }))
}

process.stdout.on('error', onOutputError)
try {
  hidePassword(process.argv, printNotice)
  const [first, second] = process.argv.slice(2)
  requireKnownCommand(first === 'help' ? second : first)
  // Commander does not know the options of its help command.
  if (first === 'help' && second?.startsWith('-')) process.argv.splice(3)
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage
  else reportError(error)
}
// Exit once the output is flushed, because idle connections and agents' timers would keep the process running.
process.stdout.write('', error => {
  if (error) onOutputError(error)
  process.stderr.write('', () => process.exit())
})

function onOutputError({ code, message }: NodeJS.ErrnoException): never {
  // It is not an error if the reader closes the pipe early, as `head` does.
  if (code === 'EPIPE') process.exit()
  printNotice(`Could not write the whole output (${message})`)
  process.exit(exitCodes.failed)
}

/** Throws a usage error if the command is unknown. Without this check, commander would pass an unknown command to `up`, the default command, as an argument. */
function requireKnownCommand(word: string | undefined): void {
  if (word === undefined || word.startsWith('-') || word === 'help') return
  if (program.commands.some(command => command.name() === word)) return
  const names = program.commands.map(command => command.name())
  const similar = similarCommand(word, names)
  throw new Fault('bad_input', unknownCommand(word, similar))
}

function reportError(error: unknown): void {
  if (!(error instanceof Error)) throw error
  const { name, message, stack = message } = error
  // Compare errors by name, because importing their classes would load modules that most commands do not need.
  const hasNoGateway = name === 'Unreachable' || name === 'NoGateway'
  if (error instanceof Fault || hasNoGateway || name === 'Cancelled') printNotice(message)
  // Any other error is a bug, so print its stack.
  else process.stderr.write(`${escapeInvisible(stack, { multiline: true })}\n`)
  process.exitCode = hasNoGateway ? exitCodes.noGateway : error instanceof Fault ? exitCodeOf(error) : exitCodes.failed
}
