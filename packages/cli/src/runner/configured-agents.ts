/** Loads the agents listed in the config. An agent that fails to load becomes a driver that is not ready and says why, so that the other agents still work. */
import { type AcpOptions, acpDriver, customProfile, type Driver, generatorDriver, loadAgent } from '@holdpoint/drivers'
import { Fault, limits } from '@holdpoint/protocol'
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
    const missing = error.message.slice(0, limits.reasonMax).toWellFormed()
    return {
      info: () => ({ name, title: name, capabilities: [], modes: [], ready: false, missing }),
      run: () => Promise.reject(error),
    }
  }
}
