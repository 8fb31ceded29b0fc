/** Selects the agents that a run of the tests with real agents includes. The environment variable HOLDPOINT_TEST_AGENTS names them, and `1` means the default. */
import { installableAgents } from './install.mjs'

export const agentNames = ['claude', ...installableAgents]
/** The agents that CI tests. The others need `npm run test:agents -- --all`. */
export const defaultAgents = ['claude', 'codex', 'opencode', 'gemini', 'goose']

/** @returns {readonly string[]} */
export function selectedAgents() {
  const value = process.env.HOLDPOINT_TEST_AGENTS ?? '1'
  return value === '1' ? defaultAgents : value.split(',')
}
