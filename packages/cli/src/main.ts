/** The command line: reads words, calls one function each, and turns faults into a sentence and an exit code. */
import { escapeInvisible, Fault, type FaultCode, faultStatus, SessionState } from '@holdpoint/protocol'
import { Argument, Command, CommanderError, Help, Option } from 'commander'
import type { CommandShape } from './commands/completion.ts'
import type { GatewayAddress, GatewayClient } from './gateway-client/gateway-client.ts'
import { version } from './version.ts'

const exitCodes = { failed: 1, usage: 2, notFound: 3, resolved: 4, noGateway: 5 } as const

/** What a person typed and does not fit is theirs to mend, wherever it was found out. */
const usageFaults: ReadonlySet<FaultCode> = new Set(['bad_input', 'bad_json', 'answer_mismatch', 'digest_mismatch'])

const program = new Command('holdpoint')
  .description('The place where AI agents stop and ask.\n\nWithout a command: holdpoint up')
  .version(version)
  .enablePositionalOptions()
  .showHelpAfterError('(holdpoint --help shows what there is)')
  .configureHelp({
    // Where the gateway is comes last: it is hardly ever asked for.
    visibleOptions(command) {
      const all = Help.prototype.visibleOptions.call(this, command)
      const where = all.filter(({ long }) => long === '--url' || long === '--home')
      return [...all.filter(option => !where.includes(option)), ...where]
    },
  })
  .exitOverride()
  .addHelpText(
    'after',
    `
Examples:
  holdpoint                                   start it; it prints a link to the page
  holdpoint start claude "fix the tests"      an agent goes to work in this folder
  holdpoint inbox                             what waits for you
  holdpoint show req_ab12                     one request, whole; ids may be shortened
  holdpoint allow req_ab12                    shows it to its end, then asks y/N
  holdpoint deny ab12 --reason "not on main"  the agent is told why and goes on
  holdpoint answer ab12 --choose Summary
  holdpoint ask "Deploy?" --choice yes --choice no --deadline 1h --as ci
  holdpoint guard -- make deploy              runs it only if somebody allows it

Exit codes:
  0  done                   3  there is no such id
  1  it failed, or you      4  resolved already (it says by whom, and what)
     said no to it          5  no gateway
  2  wrong words            ask and guard: 0 yes, 1 no, 124 nobody answered in time;
                            guard: the command's own code once it is allowed

Every command that lists or changes something takes --json. HOLDPOINT_URL and HOLDPOINT_TOKEN
name another gateway and who you are there. NO_COLOR is heeded. holdpoint COMMAND --help says more.`,
  )

const homeOption = () =>
  new Option('--home <folder>', 'where data is kept (default: ~/.holdpoint)').env('HOLDPOINT_HOME')
const urlOption = () => new Option('--url <url>', 'the gateway (default: HOLDPOINT_URL, else the one that runs here)')
const storeOption = () => new Option('--store <where>', 'file:PATH or postgres://…')
const jsonOption = (what: string) => new Option('--json', `print ${what} as JSON`)
const digestOption = () => new Option('--digest <digest>', 'the digest of what you read, as `show` prints it')
const deadlineOption = () => new Option('--deadline <time>', 'how long to wait for a person, like 90s, 15m, 1h or 2d')
const sessionArgument = () => new Argument('<session>', 'its id; a few letters are enough')
const requestArgument = () => new Argument('<request>', 'its id; a few letters are enough')

/** A command that asks the gateway something; what it needs is loaded when it is run. */
function asks(name: string, description: string): Command {
  return program.command(name).description(description).addOption(urlOption()).addOption(homeOption())
}
const gateway = async (place: GatewayAddress): Promise<GatewayClient> =>
  (await import('./gateway-client/gateway-client.ts')).requireGateway(place)

program.commandsGroup('Start and stop:')
program
  .command('up', { isDefault: true })
  .description('start the gateway, a runner and the page')
  .option('--port <n>', 'port to listen on; 0 takes any (default 4747)')
  .option('--host <address>', 'address to listen on (default 127.0.0.1)')
  .addOption(storeOption())
  .addOption(new Option('--runner <how>', 'where agents run').choices(['process', 'inline', 'none']))
  .option('--json', 'print one JSON line: {"url","link","tokenFile"}')
  .addOption(homeOption())
  .action(async ({ home, json, ...flags }) => {
    const { config, folder } = await settings(flags, home)
    await (await import('./gateway/up.ts')).up(config, folder, json === true)
  })
program
  .command('down')
  .description('stop the gateway and its runner; what waits goes on waiting')
  .addOption(homeOption())
  .action(async ({ home }) =>
    console.log(await (await import('./gateway/down.ts')).down((await settings({}, home)).folder)),
  )
program
  .command('runner')
  .description('run agents for a gateway; `up` starts one by itself')
  .option('--url <url>', 'the gateway (default: the one noted in the data folder)')
  .addOption(homeOption())
  .action(async ({ home, url }) => {
    const { config, folder } = await settings({}, home)
    await (await import('./runner/runner.ts')).runnerProcess(config, folder, url)
  })
asks('link', 'make a one-use link that signs a browser in').action(async place => {
  const { url, call } = await gateway(place)
  console.log(`${url}/#code=${(await call('makeLink', {})).code}`)
})

program.commandsGroup('Live, in this terminal:')
asks('run', 'one session here: read it, answer it, write to it')
  .argument('[driver]', 'claude, rehearsal, or an agent of your own (default: the first that is ready)')
  .argument('[prompt...]', 'what to say to it first')
  .option('--session <id>', 'come back to one; all the words are said to it, and open it again if it had ended')
  .option('--cwd <folder>', 'another folder than this')
  .option('--mode <mode>', 'the mode to work in')
  .option('--model <model>', 'the model to use')
  .option('--title <text>', 'what people know it by')
  .addHelpText(
    'after',
    '\nWhere no gateway runs, one runs here until you leave. Ctrl+C rejects what is asked, again interrupts the turn,\na third time leaves: what waits goes on waiting, and --session brings you back.',
  )
  .action(async (driver: string | undefined, prompt: string[], options) => {
    const words = driver === undefined ? [] : [driver, ...prompt]
    process.exitCode = await (await import('./tui/run/run.ts')).run(words, options)
  })
asks('tui', 'inbox and sessions here, live; ? helps, q leaves').action(async options => {
  process.exitCode = await (await import('./tui/dashboard/dashboard.ts')).tui(options)
})

program.commandsGroup('Answer:')
asks('inbox', 'what waits for people, longest first')
  .option('--session <id>', 'only of this session')
  .addOption(jsonOption('{items, next} of requests'))
  .action(async options => (await import('./commands/inbox.ts')).inbox(await gateway(options), options))
asks('show', 'one request whole, with what became of it; or one session (ses_…)')
  .addArgument(requestArgument())
  .addOption(jsonOption('the request'))
  .action(async (id: string, options) => (await import('./commands/show.ts')).show(await gateway(options), id, options))
asks('allow', 'allow what is asked: it is shown to its end, then you are asked')
  .addArgument(requestArgument())
  .option('--note <text>', 'say something to the agent along with it')
  .option('--input <file>', 'what shall run instead: the whole input as JSON; - reads stdin')
  .addOption(digestOption())
  .option('--always <number>', 'have the agent’s own program remember what it offers, as `show` numbers it')
  .option('--mode <mode>', 'the mode in which the agent goes on (plans)')
  .addOption(jsonOption('the request as it was resolved'))
  .addHelpText('after', '\nWithout a terminal, --digest is needed: it names what you have read.')
  .action(async (id: string, options) =>
    (await import('./commands/allow.ts')).allow(await gateway(options), id, options),
  )
asks('deny', 'deny what is asked; the agent is told why and goes on')
  .addArgument(requestArgument())
  .option('--reason <text>', 'what the agent is told')
  .option('--stop', 'end its turn, too')
  .addOption(jsonOption('the request as it was resolved'))
  .action(async (id: string, options) =>
    (await import('./commands/allow.ts')).deny(await gateway(options), id, options),
  )
asks('answer', 'answer questions, or fill in a form')
  .addArgument(requestArgument())
  .option('--choose <label>', 'an option, by its label or number; QUESTION=LABEL where there are several', collect)
  .option('--text <words>', 'an answer of your own, or QUESTION=WORDS; - reads stdin', collect)
  .option('--set <field=value>', 'a field of a form; fields that are not named keep their default', collect)
  .option('--values <file>', 'the fields of a form as a JSON object; - reads stdin')
  .option('--decline', 'answer nothing')
  .option('--reason <text>', 'with --decline: what the agent is told')
  .option('--stop', 'with --decline: end its turn, too')
  .addOption(digestOption())
  .addOption(jsonOption('the request as it was resolved'))
  .addHelpText('after', '\n--choose, --text and --set may be given again.')
  .action(async (id: string, options) =>
    (await import('./commands/answer.ts')).answer(await gateway(options), id, options),
  )

program.commandsGroup('Sessions:')
asks('sessions', 'who is at work; those that wait for you first')
  .option('--all', 'ended ones too')
  .addOption(new Option('--state <state>', 'only those in it').choices(SessionState.options))
  .option('--search <words>', 'in title, folder and agent')
  .option('--limit <n>', 'at most so many')
  .addOption(jsonOption('{items, next} of sessions'))
  .action(async options => (await import('./commands/inbox.ts')).sessions(await gateway(options), options))
asks('start', 'start a session with an agent, in this folder')
  .argument('<driver>', 'claude, rehearsal, or an agent of your own')
  .argument('[prompt...]', 'what to say to it first; - reads stdin')
  .option('--cwd <folder>', 'another folder')
  .option('--mode <mode>', 'the mode to work in')
  .option('--model <model>', 'the model to use')
  .option('--title <text>', 'what people know it by')
  .addOption(jsonOption('the session'))
  .action(async (driver: string, words: string[], { url, home, ...options }) =>
    (await import('./commands/sessions.ts')).start(await gateway({ url, home }), driver, words, options),
  )
asks('rehearse', 'start the built-in agent that plays every kind of question')
  .argument('[message...]', 'what to say to it; "short" plays only the first question')
  .addOption(jsonOption('the session'))
  .action(async (words: string[], options) =>
    (await import('./commands/sessions.ts')).rehearse(await gateway(options), words, options),
  )
asks('send', 'say something to a session; one that has ended is opened again where its agent can')
  .addArgument(sessionArgument())
  .argument('<text...>', 'the words; - reads stdin')
  .option('--attach <file>', 'an image, a PDF or a text; may be given again', collect)
  .addOption(jsonOption('the command'))
  .action(async (id: string, words: string[], options) =>
    (await import('./commands/sessions.ts')).send(await gateway(options), id, words, options),
  )
asks('watch', 'what happens, a line each, until Ctrl+C')
  .option('--session <id>', 'only of this session')
  .option('--after <cursor>', 'go on behind this event, as --json names it')
  .addOption(jsonOption('each event on a line,'))
  .action(async options => (await import('./commands/watch.ts')).watch(options))
for (const [name, description] of [
  ['interrupt', 'stop what a session does now; what it asked is withdrawn'],
  ['end', 'end a session'],
] as const)
  asks(name, description)
    .addArgument(sessionArgument())
    .addOption(jsonOption('the session'))
    .action(async (id: string, options) =>
      (await import('./commands/sessions.ts'))[name](await gateway(options), id, options),
    )
asks('mode', 'change the mode a session works in')
  .addArgument(sessionArgument())
  .argument('<mode>')
  .addOption(jsonOption('the session'))
  .action(async (id: string, mode: string, options) =>
    (await import('./commands/sessions.ts')).changeMode(await gateway(options), id, mode, options),
  )

program.commandsGroup('From scripts:')
asks('ask', 'stop and ask people; prints the answer')
  .argument('<question>')
  .option('--choice <label>', 'something to choose; may be given again', collect)
  .option('--text', 'an answer in their own words, beside the choices or alone')
  .addOption(deadlineOption())
  .option('--as <name>', 'what people know the script by', 'script')
  .addOption(jsonOption('the request as it was resolved'))
  .addHelpText(
    'after',
    '\nWithout --choice and --text people allow or deny. Exit code: 0 allowed or answered, 1 denied or declined,\n124 nobody answered in time. Ctrl+C and SIGTERM withdraw the question. It waits through a restart of the gateway.',
  )
  .action(async (question: string, options) => {
    process.exitCode = await (await import('./commands/ask.ts')).ask(question, options)
  })
asks('guard', 'run a command only if somebody allows it')
  .argument('<command...>')
  .passThroughOptions()
  .usage('[options] -- COMMAND [ARGUMENTS…]')
  .addOption(deadlineOption())
  .option('--as <name>', 'what people know the script by', 'guard')
  .addHelpText(
    'after',
    '\nExit code: that of the command; 1 denied (the reason is on stderr), 124 nobody answered in time,\n127 it was allowed but there is no such program.',
  )
  .action(async (argv: string[], options) => {
    process.exitCode = await (await import('./commands/guard.ts')).guard(argv, options)
  })

program.commandsGroup('Keep and mend:')
program
  .command('doctor')
  .description('what is installed, signed in, kept and running; each problem with its remedy')
  .addOption(urlOption())
  .addOption(storeOption())
  .addOption(homeOption())
  .addOption(jsonOption('{ok, findings}'))
  .action(async options => {
    process.exitCode = await (await import('./commands/doctor.ts')).doctor(options)
  })
for (const [name, description] of [
  ['backup', 'copy the archive into a new file, while the gateway runs or not'],
  ['restore', 'put a backup in place of the archive; the old one is kept beside it'],
] as const)
  program
    .command(name)
    .description(description)
    .argument('<file>')
    .addOption(storeOption())
    .addOption(homeOption())
    .action(async (file: string, { home, ...flags }) => {
      const { config, folder } = await settings(flags, home)
      console.log(await (await import('./gateway/backup.ts'))[name](config, folder, file))
    })
program
  .command('completion')
  .description('a script that completes commands, options and ids: source <(holdpoint completion bash)')
  .argument('<shell>', 'bash, zsh or fish')
  .action(async (shell: string) => console.log((await import('./commands/completion.ts')).completionScript(shell)))
program
  .command('complete', { hidden: true })
  .argument('[words...]')
  .addOption(homeOption())
  .action(async (words: string[], place) => (await import('./commands/completion.ts')).complete(words, shapes(), place))

for (const command of program.commands)
  command.showHelpAfterError(`(holdpoint ${command.name()} --help shows what it takes)`)
program.addHelpCommand(new Command('help').argument('[command]').description('what there is, or what a command takes'))

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
async function settings(flags: Record<string, unknown>, home: string | undefined) {
  const [{ readConfig }, { openDataFolder }] = await Promise.all([
    import('./config/config.ts'),
    import('./config/data-folder.ts'),
  ])
  return { config: readConfig(flags), folder: openDataFolder(home) }
}
function shapes(): readonly CommandShape[] {
  const shown = program.createHelp().visibleCommands(program)
  return shown.map(command => ({
    name: command.name(),
    description: command.description(),
    options: command.options.map(({ long, required, description, argChoices }) => ({
      flag: long ?? '',
      takesValue: required,
      description,
      choices: argChoices ?? [],
    })),
    arguments: command.registeredArguments.map(argument => argument.name()),
  }))
}

process.stdout.on('error', unheard)
try {
  const [first, second] = process.argv.slice(2)
  refuseUnknown(first === 'help' ? second : first)
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage
  else fail(error)
}
// What is done is gone: neither idle connections nor what agents have left running keep it.
process.stdout.write('', error => {
  if (error) unheard(error)
  process.stderr.write('', () => process.exit())
})

function unheard({ code, message }: NodeJS.ErrnoException): never {
  // Whoever reads the other end of a pipe may have seen enough.
  if (code === 'EPIPE') process.exit()
  complain(`Not all that there is to say could be written (${escapeInvisible(message)})`)
  process.exit(exitCodes.failed)
}

/** The default command would take it for an argument too many. */
function refuseUnknown(word: string | undefined): void {
  if (word === undefined || word.startsWith('-') || word === 'help') return
  if (program.commands.some(command => command.name() === word)) return
  throw new Fault('bad_input', `Unknown command "${word}"; holdpoint --help shows what there is`)
}

function fail(error: unknown): void {
  if (!(error instanceof Error)) throw error
  const { name, message, stack = message } = error
  const away = name === 'Unreachable' || name === 'NoGateway'
  if (error instanceof Fault || away || name === 'NotDone')
    complain(`${escapeInvisible(message)}${name === 'Unreachable' ? ' Start it with: holdpoint up' : ''}`)
  // A bug: all of it, but as text.
  else process.stderr.write(`${escapeInvisible(stack, { multiline: true })}\n`)
  process.exitCode = away ? exitCodes.noGateway : error instanceof Fault ? exitOf(error) : exitCodes.failed
}

/** Not by the console: where agents run in this process, that is theirs, and goes to a log. */
function complain(sentence: string): void {
  process.stderr.write(`holdpoint: ${sentence}\n`)
}

function exitOf(fault: Fault): number {
  if (faultStatus[fault.code] === 404) return exitCodes.notFound
  if (fault.code === 'already_resolved') return exitCodes.resolved
  return usageFaults.has(fault.code) ? exitCodes.usage : exitCodes.failed
}
