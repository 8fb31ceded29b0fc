/** Finds the agents of the config that no runner can run. This file is separate from the code that loads agents, because a gateway does not need that code. */
import type { Call } from '@holdpoint/protocol'
import type { Config } from '../config/config-schema.ts'

const announceMaxMs = 15_000
const pollMs = 200

/** Waits until a runner has announced the configured agents, and returns a warning for each one that cannot run. */
export async function unavailableAgents(call: Call, agents: Config['agents'] = {}): Promise<string[]> {
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
