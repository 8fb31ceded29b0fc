/** The command line: reads words, calls one function each, and turns faults into a sentence and an exit code. */
import { Fault, faultStatus, reveal } from '@holdpoint/protocol'
import { Command, CommanderError, Option } from 'commander'
import { readConfig } from './config.ts'
import { openHome } from './home.ts'
import { version } from './version.ts'

const exitCodes = { usage: 2, notFound: 3, resolved: 4, noGateway: 5 } as const

const program = new Command('holdpoint')
  .description('The place where AI agents stop and ask.\n\nWithout a command: holdpoint up')
  .version(version)
  .enablePositionalOptions()
  .showHelpAfterError('(holdpoint --help shows what there is)')
  .exitOverride()

const homeOption = () =>
  new Option('--home <folder>', 'where data is kept').env('HOLDPOINT_HOME').default(undefined, '~/.holdpoint')
const storeOption = () => new Option('--store <where>', 'file:PATH or postgres://…')

program
  .command('up', { isDefault: true })
  .description('start the gateway, a runner and the page')
  .option('--port <n>', 'port to listen on; 0 takes any (default 4747)')
  .option('--host <address>', 'address to listen on (default 127.0.0.1)')
  .addOption(storeOption())
  .addOption(new Option('--runner <how>', 'where agents run').choices(['process', 'inline', 'none']))
  .option('--json', 'print one JSON line: {"url","link","tokenFile"}')
  .addOption(homeOption())
  .action(async ({ home, json, ...flags }) =>
    (await import('./up.ts')).up(readConfig(flags), openHome(home), json === true),
  )

program
  .command('runner')
  .description('run agents for a gateway; `up` starts one by itself')
  .option('--url <url>', 'the gateway (default: the one noted in the data folder)')
  .addOption(homeOption())
  .action(async ({ home, url }) => (await import('./runner.ts')).runnerProcess(readConfig({}), openHome(home), url))

program
  .command('rehearse')
  .description('start the built-in agent that plays every kind of question')
  .argument('[message...]', 'what to say to it; "short" plays only the first question')
  .option('--json', 'print the session as JSON')
  .addOption(homeOption())
  .action(async (words: string[], { home, json }) =>
    (await import('./rehearse.ts')).rehearse(openHome(home), words.join(' '), json === true),
  )

program
  .command('link')
  .description('make a one-use link that signs a browser in')
  .addOption(homeOption())
  .action(async ({ home }) => {
    const { url, call } = (await import('./remote.ts')).needGateway(openHome(home))
    console.log(`${url}/#code=${(await call('makeLink', {})).code}`)
  })

program
  .command('backup')
  .description('copy the archive into a new file, while the gateway runs or not')
  .argument('<file>')
  .addOption(storeOption())
  .addOption(homeOption())
  .action(async (file: string, { home, ...flags }) =>
    console.log(await (await import('./keeping.ts')).backup(readConfig(flags), openHome(home), file)),
  )

program
  .command('restore')
  .description('put a backup in place of the archive; the old one is kept beside it')
  .argument('<file>')
  .addOption(storeOption())
  .addOption(homeOption())
  .action(async (file: string, { home, ...flags }) =>
    console.log(await (await import('./keeping.ts')).restore(readConfig(flags), openHome(home), file)),
  )

program
  .command('down')
  .description('stop the gateway and its runner; what waits goes on waiting')
  .addOption(homeOption())
  .action(async ({ home }) => console.log(await (await import('./down.ts')).down(openHome(home))))

try {
  refuseUnknown(process.argv[2])
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage
  else fail(error)
}
// What agents have left running in it must not keep a runner that is done.
if (process.argv[2] === 'runner') process.exit()

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
  if (error instanceof Fault || away)
    console.error(`holdpoint: ${reveal(message)}${name === 'Unreachable' ? ' Start it with: holdpoint up' : ''}`)
  // A bug: all of it, but as text.
  else console.error(reveal(stack, { multiline: true }))
  process.exitCode = away ? exitCodes.noGateway : error instanceof Fault ? exitOf(error) : 1
}

function exitOf(fault: Fault): number {
  if (faultStatus[fault.code] === 404) return exitCodes.notFound
  if (fault.code === 'already_resolved') return exitCodes.resolved
  return fault.code === 'bad_input' ? exitCodes.usage : 1
}
