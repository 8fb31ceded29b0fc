/** Compares more generated shell texts with bash than the tests do: `npm run fuzz:shell -- --count 1000000 [--seed 7]`. */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { count: { type: 'string', default: '1000000' }, seed: { type: 'string' } } })
const env = { ...process.env }
for (const [name, value] of Object.entries(values)) env[name.toUpperCase()] = value
const args = ['vitest', 'run', 'packages/rules/test/shell/bash-fuzz.test.ts', '--disable-console-intercept']
const { status } = spawnSync('npx', args, { env, stdio: 'inherit' })
process.exit(status ?? 1)
