import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const room = (name: string) => fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url))
const rooms = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client']

export default defineConfig({
  resolve: { alias: rooms.map(name => ({ find: `@holdpoint/${name}`, replacement: room(name) })) },
  test: {
    include: ['packages/*/test/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most of them wait for a browser, a terminal or an agent, not for the processor.
    maxWorkers: 3,
    globalSetup: ['test/support/postgres.ts'],
  },
})
