/** Runs the tests of a folder with N rounds: `node rounds.mjs FOLDER --rounds N`. */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({ options: { rounds: { type: 'string' } }, allowPositionals: true })
const env = { ...process.env, ...(values.rounds ? { HOLDPOINT_ROUNDS: values.rounds } : {}) }
const { status } = spawnSync('vitest', ['run', ...positionals], {
  env,
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
process.exitCode = status ?? 1
