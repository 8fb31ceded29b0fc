/** `npm run mutation`: changes the code that decides who may do what, one change (a mutant) at a time, and checks that a test fails for each. `npm run mutation -- quota slots` checks only files whose path contains one of these words. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { mutationTargets } from './mutation-targets.mjs'

/** The smallest accepted percentage of killed mutants. */
const minimum = 90

const words = process.argv.slice(2)
const targets = Object.keys(mutationTargets).filter(
  target => words.length === 0 || words.some(word => target.includes(word)),
)
if (targets.length === 0) {
  console.error(`No file of scripts/mutation-targets.mjs contains ${words.join(' or ')} in its path.`)
  process.exit(2)
}

const rows = targets.map(target => ({ target, ...score(target) }))
const total = rows.reduce((sum, row) => ({ mutants: sum.mutants + row.mutants, killed: sum.killed + row.killed }), {
  mutants: 0,
  killed: 0,
})
for (const row of [...rows, { target: 'all', ...total }])
  console.log(`${row.target.padEnd(52)} ${row.killed} of ${row.mutants} killed (${percentage(row).toFixed(1)} %)`)
process.exitCode = percentage(total) < minimum ? 1 : 0

function percentage({ killed, mutants }) {
  return mutants === 0 ? 100 : (100 * killed) / mutants
}

/** Runs Stryker for one file. A mutant that never ends or breaks the program counts as killed; one that no test reaches counts as alive. */
function score(target) {
  const report = `reports/mutation/${basename(target, '.ts')}.json`
  const { status } = spawnSync('npx', ['stryker', 'run', '--mutate', target], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, MUTATION_TARGET: target, MUTATION_REPORT: report },
  })
  if (status !== 0 || !existsSync(report)) throw new Error(`Stryker failed for ${target}`)
  const { files } = JSON.parse(readFileSync(report, 'utf8'))
  const found = Object.values(files).flatMap(({ mutants }) => mutants.map(mutant => mutant.status))
  const count = (...statuses) => found.filter(status => statuses.includes(status)).length
  return {
    mutants: count('Killed', 'Timeout', 'Survived', 'NoCoverage'),
    killed: count('Killed', 'Timeout'),
  }
}
