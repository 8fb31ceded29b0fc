import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const room = (name: string) => fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url))
const rooms = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client']

/** What takes long begins first, so that no worker is left with it alone at the end. */
const long = ['test/crash/', 'test/races/', 'drivers/test/claude/', 'cli/test/', 'test/page/']
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = long.findIndex(folder => moduleId.includes(folder))
      return at < 0 ? long.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  resolve: { alias: rooms.map(name => ({ find: `@holdpoint/${name}`, replacement: room(name) })) },
  test: {
    include: ['packages/*/test/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is about to be so on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // A test of the real Claude Code sometimes loses its permission stream. CI reports a second attempt as a retry.
    retry: process.env.CI ? 1 : 0,
    pool: 'forks',
    // Most of them wait for a browser, a terminal or an agent, not for the processor.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/support/postgres.ts'],
  },
})
