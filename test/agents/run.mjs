/**
 * Installs the pinned agents and runs the tests with real agents.
 * `npm run test:agents -- [--all | --only NAME,NAME] [arguments of vitest]`
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installAgents } from './install.mjs'
import { withResults } from './results-table.mjs'
import { agentNames, defaultAgents } from './selection.mjs'

const { values, tokens } = parseArgs({
  options: { all: { type: 'boolean' }, only: { type: 'string' } },
  strict: false,
  tokens: true,
})
const isOurs = token => token.kind === 'option' && ['all', 'only'].includes(token.name)
const selected = values.only?.split(',') ?? (values.all ? agentNames : defaultAgents)
const unknown = selected.filter(name => !agentNames.includes(name))
if (unknown.length > 0) fail(`No agent is called ${unknown.join(' or ')}. The agents are ${agentNames.join(', ')}.`)

const missing = await installAgents(selected.filter(name => name !== 'claude'))
const tested = selected.filter(name => !missing.includes(name))
if (missing.length > 0 && process.env.CI)
  fail(`CI must test every agent, but ${missing.join(' and ')} could not be installed.`)
if (tested.length === 0) fail('No agent is installed, so there is nothing to test.')
if (missing.length > 0) console.error(`The tests of ${missing.join(' and ')} are left out.`)

const docs = ['agents.md', 'watchers.md'].map(name => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)))
/** Each agent's tests write here what they have measured. */
const results = mkdtempSync(join(tmpdir(), 'holdpoint-agent-results-'))

// While Codex runs a command in its sandbox, the folder for temporary files has a `.git`, which makes it a project for other agents.
const isCodex = name => name.startsWith('codex')
for (const names of [tested.filter(name => !isCodex(name)), tested.filter(isCodex)]) {
  if (names.length === 0) continue
  removeFoldersOfSandbox()
  const { status } = spawnSync('vitest', ['run', ...vitestArguments()], {
    env: { ...process.env, HOLDPOINT_TEST_AGENTS: names.join(','), HOLDPOINT_AGENT_RESULTS: results },
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  process.exitCode ||= status ?? 1
}
removeFoldersOfSandbox()
if (writeMeasured() && process.env.CI)
  fail('What was measured differs from the tables in docs/agents.md and docs/watchers.md.')

/** Writes what the suite has measured into the tables of the docs. Returns whether that changed a file. */
function writeMeasured() {
  const files = readdirSync(results)
  const measured = files.map(file => [file.replace('.json', ''), JSON.parse(readFileSync(join(results, file), 'utf8'))])
  rmSync(results, { recursive: true })
  const changed = docs.filter(file => {
    const before = readFileSync(file, 'utf8')
    const after = withResults(before, Object.fromEntries(measured))
    if (after !== before) writeFileSync(file, after)
    return after !== before
  })
  return changed.length > 0
}

/** Removes the empty folders that Codex leaves if it is killed. */
function removeFoldersOfSandbox() {
  for (const name of ['.git', '.codex', '.agents']) {
    try {
      rmdirSync(join(tmpdir(), name))
    } catch {
      // The folder does not exist, or it belongs to somebody else and is not empty.
    }
  }
}

function vitestArguments() {
  const ours = new Set(
    tokens
      .filter(isOurs)
      .flatMap(({ index, name, inlineValue }) => (name === 'only' && !inlineValue ? [index, index + 1] : [index])),
  )
  return process.argv.slice(2).filter((_, index) => !ours.has(index))
}
function fail(message) {
  console.error(message)
  process.exit(1)
}
