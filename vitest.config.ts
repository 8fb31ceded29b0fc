import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const sourceOf = (name: string) => fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url))
const packages = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client']

/** Folders with slow tests, slowest first. They run first, so that no worker still runs a slow file after the others have finished. */
const slowFolders = ['test/crash/', 'test/races/', 'drivers/test/claude/', 'cli/test/', 'test/page/']
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const position = ({ moduleId }: TestSpecification) => {
      const at = slowFolders.findIndex(folder => moduleId.includes(folder))
      return at < 0 ? slowFolders.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => position(a) - position(b))
  }
}

export default defineConfig({
  resolve: { alias: packages.map(name => ({ find: `@holdpoint/${name}`, replacement: sourceOf(name) })) },
  test: {
    include: ['packages/*/test/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On a busy machine, a polled condition may take several seconds to become true.
    expect: { poll: { timeout: 10_000 } },
    // Many tests are new and have not run often on busy machines. CI runs a failed test once more and reports the retry.
    retry: process.env.CI ? 1 : 0,
    pool: 'forks',
    // Most tests wait for a browser, a terminal or an agent and use little CPU time.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    globalSetup: ['test/support/postgres.ts'],
  },
})
