/** Loads the agents listed in the config. An agent that fails to load becomes a driver that is not ready and says why, so that the other agents still work. */
import { type AcpOptions, acpDriver, customProfile, type Driver, generatorDriver, loadAgent } from '@holdpoint/drivers'
import { type Call, Fault, limits } from '@holdpoint/protocol'
import type { Config } from '../config/config-schema.ts'
import { registerResolver } from './module-resolver.ts'

type Agents = NonNullable<Config['agents']>

/** `acp` are the options of agents that speak the Agent Client Protocol. */
export async function configuredDrivers(agents: Agents = {}, acp: AcpOptions): Promise<Driver[]> {
  const entries = Object.entries(agents)
  if (entries.some(([, agent]) => typeof agent === 'string')) registerResolver()
  return Promise.all(
    entries.map(([name, agent]) =>
      typeof agent === 'string' ? loadDriver(name, agent) : acpDriver(customProfile(name, agent), acp),
    ),
  )
}

async function loadDriver(name: string, file: string): Promise<Driver> {
  try {
    const agent = await loadAgent(file)
    return generatorDriver({ name, title: agent.title, modes: agent.modes ?? [], run: turn => agent.run(turn) })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const missing = error.message.slice(0, limits.reasonMax)
    return {
      info: () => ({ name, title: name, capabilities: [], modes: [], ready: false, missing }),
      run: () => Promise.reject(error),
    }
  }
}

const announceMaxMs = 15_000
const pollMs = 200

/** Waits until a runner has announced the configured agents, and returns a warning for each one that cannot run. */
export async function unavailableAgents(call: Call, agents: Agents = {}): Promise<string[]> {
  const names = Object.keys(agents)
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const { items } = names.length > 0 ? await call('listDrivers', {}) : { items: [] }
    const offered = names.map(name => items.find(driver => driver.name === name))
    if (offered.every(Boolean) || waitedMs >= announceMaxMs)
      return names.flatMap((name, index) => {
        const driver = offered[index]
        if (!driver)
          return `No runner offers the agent "${name}". If you just added it to the config, restart: holdpoint down, then holdpoint up`
        return driver.ready ? [] : `The agent "${name}" is not ready: ${driver.missing}`
      })
    await new Promise(resolve => setTimeout(resolve, pollMs))
  }
}
