import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { agentNames, selectedAgents } from './test/agents/selection.mjs'

const sourceOf = (name: string) => fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url))
const packages = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client']

/** Folders with slow tests. Some of them mostly wait, and others need much CPU time. */
const slowFolders = [
  'test/crash/',
  'test/races/',
  'test/api/',
  'drivers/test/claude/',
  'drivers/test/conformance/',
  'test/agents/',
  'cli/test/',
  'test/page/',
  'store/test/',
]
/** The slowest files, which take more than 50 s. They run first, so that no worker still runs a slow file after the others have finished. */
const slowestFiles = [
  'test/crash/crash.test.ts',
  'test/api/event-loop.test.ts',
  'cli/test/answering.test.ts',
  'drivers/test/claude/parking.test.ts',
  'test/page/accidental-input.test.ts',
  'cli/test/display.test.ts',
  'test/page/hard-texts.test.ts',
  'drivers/test/claude/processes.test.ts',
  'cli/test/live-run-approval.test.ts',
  'test/page/shared-drafts.test.ts',
  'cli/test/session-commands.test.ts',
  'drivers/test/claude/own-turns.test.ts',
]

/** Tests that start real agents. They have a command of their own (`npm run test:agents`), because starting agents takes much CPU time. */
const agentTests = [
  'packages/drivers/test/{claude,codex,opencode,conformance}/**/*.test.ts',
  'test/agents/**/*.test.ts',
]
const runsAgents = process.env.HOLDPOINT_TEST_AGENTS !== undefined

/** Tests in a browser. They take nearly half of the CPU time of all tests, so most of them have a command of their own (`npm run test:page`). */
const pageTests = 'test/page/**/*.test.ts'
/** True also if a page test is named on the command line. */
const runsPage = process.env.HOLDPOINT_TEST_PAGE !== undefined || process.argv.some(word => word.includes('test/page'))
/** The page tests that `npm test` runs too: those that answer each kind of request on the page. */
const corePageTests = ['approvals', 'questions', 'inbox'].map(name => `test/page/${name}.test.ts`)
/** Tests of agents that this run does not include: files and folders with the name of such an agent. */
const otherAgentTests = agentNames
  .filter(name => !selectedAgents().includes(name))
  .flatMap(name => [`**/test/**/${name}.test.ts`, `**/test/**/${name}/**/*.test.ts`])

/** Mixes the folders, so that files that wait run beside files that compute, and runs the quick tests last. */
class MixedFolders extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const position = new Map<TestSpecification, number>()
    const sorted = await super.sort(files)
    for (const folder of slowFolders) {
      const inFolder = sorted.filter(({ moduleId }) => moduleId.includes(folder))
      for (const [index, file] of inFolder.entries()) position.set(file, (index + 0.5) / inFolder.length)
    }
    for (const file of files) {
      const index = slowestFiles.findIndex(path => file.moduleId.endsWith(path))
      if (index >= 0) position.set(file, index - slowestFiles.length)
    }
    return sorted.toSorted((a, b) => (position.get(a) ?? 1) - (position.get(b) ?? 1))
  }
}

function testFiles(): { readonly include: readonly string[]; readonly exclude: readonly string[] } {
  if (runsAgents) return { include: agentTests, exclude: otherAgentTests }
  if (runsPage) return { include: [pageTests], exclude: [] }
  return {
    include: ['packages/*/test/**/*.test.{ts,tsx}', 'test/*.test.ts', 'test/!(page)/**/*.test.ts', ...corePageTests],
    exclude: agentTests,
  }
}
const { include, exclude } = testFiles()

export default defineConfig({
  resolve: { alias: packages.map(name => ({ find: `@holdpoint/${name}`, replacement: sourceOf(name) })) },
  test: {
    include: [...include],
    exclude: [...configDefaults.exclude, ...exclude],
    // Some tests of terminals and processes still depend on how busy the machine is. CI runs a failed test up to twice more and reports that.
    retry: process.env.CI ? 2 : 0,
    // A busy machine needs long; a test that passes never waits for these.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // On a busy machine, a polled condition may take long to become true.
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // Fewer and simpler garbage collections: parallel ones would only take CPU time from the other workers.
    execArgv: ['--max-semi-space-size=32', '--single-threaded-gc'],
    // A worker runs many files and imports each module once. Every file closes what it opens.
    isolate: false,
    // Most tests wait for a browser, a terminal or an agent. With fewer workers, two cores would often be idle.
    maxWorkers: 6,
    sequence: { sequencer: MixedFolders },
    globalSetup: ['test/support/postgres.ts'],
  },
})
