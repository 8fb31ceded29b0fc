/** `npm run bench`: runs the parts one after another, each in processes of its own and all on one disk, and says what was met. */
import { fork } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parts } from './figures.mjs'
import { missedOf, objectOf, tableOf } from './report.mjs'

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    /** A folder for processor profiles of the gateway and of the desk. */
    profile: { type: 'string' },
  },
})
const wanted = options.only?.split(',') ?? parts
const strange = wanted.filter(name => !parts.includes(name))
if (strange.length > 0) {
  console.error(`There is no part ${strange.join(', ')}; there are ${parts.join(', ')}.`)
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'))
// A PostgreSQL that was started by root runs as another user, who has to get to its data.
chmodSync(folder, 0o711)
let current

/** A part and all it started are one group of processes: what it may have left behind ends with it. Only a gateway's runner is detached; it is noted in its home. */
function endGroup() {
  if (current) kill(-current.pid)
  for (const path of readdirSync(folder, { recursive: true }))
    if (basename(path) === 'runner.json') kill(JSON.parse(readFileSync(join(folder, path), 'utf8')).pid)
}
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
function tidy() {
  endGroup()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
process.on('exit', tidy)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

function run(name) {
  return new Promise(done => {
    const place = join(folder, name)
    mkdirSync(place, { mode: 0o711 })
    const args = [name, place, options.quick ? 'quick' : 'full', options.profile ? resolve(options.profile) : '']
    current = fork(fileURLToPath(new URL('./suite.mjs', import.meta.url)), args, {
      detached: true,
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    let outcome = { failure: `${name} ended without a word` }
    current.on('message', message => {
      outcome = message
    })
    current.on('exit', () => {
      endGroup()
      current = undefined
      rmSync(place, { recursive: true, force: true, maxRetries: 5 })
      done(outcome)
    })
  })
}

const results = {}
const failures = {}
for (const name of wanted) {
  const startedAt = Date.now()
  process.stderr.write(`${name} … `)
  const { results: found, failure } = await run(name)
  process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`)
  if (failure) {
    failures[name] = failure
    console.error(failure)
  } else Object.assign(results, found)
}
console.log(options.json ? JSON.stringify(objectOf(results, failures, options.quick)) : tableOf(results))
if (missedOf(results).length > 0 || Object.keys(failures).length > 0) process.exitCode = 1
