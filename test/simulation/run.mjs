/** Runs the simulation test with options: `npm run simulate -- --minutes 10 [--steps 400]`, or `-- --seed 42` to repeat a run. */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, steps: { type: 'string' } },
})
const env = { ...process.env }
for (const [name, value] of Object.entries(values)) env[name.toUpperCase()] = value
const { status } = spawnSync('npx', ['vitest', 'run', 'test/simulation'], { env, stdio: 'inherit' })
process.exit(status ?? 1)
