/** `npm run bench`: runs the suites one after another, each in its own processes and all on one disk, and reports which goals were met. */
import { fork } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { suites } from './figures.mjs'
import { missedOf, objectOf, tableOf } from './report.mjs'

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    /** The folder for CPU profiles of the gateway. */
    profile: { type: 'string' },
  },
})
const selected = options.only?.split(',') ?? suites
const unknown = selected.filter(name => !suites.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown suite: ${unknown.join(', ')}. Suites: ${suites.join(', ')}.`)
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'))
// PostgreSQL refuses to run as root, so a run as root starts PostgreSQL as another user, who needs access to the data folder.
chmodSync(folder, 0o711)
let current

/** Kills the process group of the suite and all runners. Runners are detached, so their pids are read from runner.json. */
function endGroup() {
  if (current) kill(-current.pid)
  for (const path of readdirSync(folder, { recursive: true }))
    if (basename(path) === 'runner.json') kill(JSON.parse(readFileSync(join(folder, path), 'utf8')).pid)
}
function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}
function cleanUp() {
  endGroup()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
process.on('exit', cleanUp)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

function run(name) {
  return new Promise(done => {
    const suiteFolder = join(folder, name)
    mkdirSync(suiteFolder, { mode: 0o711 })
    const args = [name, suiteFolder, options.quick ? 'quick' : 'full', options.profile ? resolve(options.profile) : '']
    current = fork(fileURLToPath(new URL('./suite.mjs', import.meta.url)), args, {
      detached: true,
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    let outcome = { failure: `${name} ended without a result` }
    current.on('message', message => {
      outcome = message
    })
    current.on('exit', () => {
      endGroup()
      current = undefined
      rmSync(suiteFolder, { recursive: true, force: true, maxRetries: 5 })
      done(outcome)
    })
  })
}

const results = {}
const failures = {}
for (const name of selected) {
  const startedAt = Date.now()
  process.stderr.write(`${name} … `)
  const { results: measured, failure } = await run(name)
  process.stderr.write(`${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`)
  if (failure) {
    failures[name] = failure
    console.error(failure)
  } else Object.assign(results, measured)
}
console.log(options.json ? JSON.stringify(objectOf(results, failures, options.quick)) : tableOf(results))
if (missedOf(results).length > 0 || Object.keys(failures).length > 0) process.exitCode = 1
