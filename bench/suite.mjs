/** Main module of a suite's process: measures, and sends the results to the parent process. */
import { join } from 'node:path'

const [name, folder, quick, profiles] = process.argv.slice(2)
/** With --profile, the gateway processes write a CPU profile when they end. */
const profile = actor => (profiles ? ['--cpu-prof', '--cpu-prof-dir', join(profiles, `${name}-${actor}`)] : [])
const { measure } = await import(`./suites/${name}.mjs`)
try {
  process.send({ results: await measure({ folder, quick: quick === 'quick', profile }) }, () => process.exit(0))
} catch (error) {
  process.send({ failure: error?.stack ?? String(error) }, () => process.exit(1))
}
