/** `node rounds.mjs FOLDER --rounds N`: the tests of one folder, with as many rounds as asked for. */
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
