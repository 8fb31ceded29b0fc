/**
 * Installs the pinned agents and runs the tests with real agents.
 * `npm run test:agents -- [--all | --only NAME,NAME] [arguments of vitest]`
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { installAgents } from './install.mjs'
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

const { status } = spawnSync('vitest', ['run', ...vitestArguments()], {
  env: { ...process.env, HOLDPOINT_TEST_AGENTS: tested.join(',') },
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
process.exitCode = status ?? 1

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
