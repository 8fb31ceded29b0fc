/** The command line: reads words, calls one function each, and turns faults into a sentence and an exit code. */
import { Fault, faultStatus } from '@holdpoint/protocol'
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
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage
  else if (error instanceof Fault) {
    console.error(`holdpoint: ${error.message}`)
    process.exitCode = exitOf(error)
  } else if (error instanceof Error && error.name === 'Unreachable') {
    console.error(`holdpoint: ${error.message} Start it with: holdpoint up`)
    process.exitCode = exitCodes.noGateway
  } else throw error
}

function exitOf(fault: Fault): number {
  if (faultStatus[fault.code] === 404) return exitCodes.notFound
  if (fault.code === 'already_resolved') return exitCodes.resolved
  return fault.code === 'bad_input' ? exitCodes.usage : 1
}
