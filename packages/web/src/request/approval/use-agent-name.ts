/** Finds the name of the program that runs a session's agent, for use in sentences. */
import { driverLabel, labelText } from '@holdpoint/client'
import type { SessionId } from '@holdpoint/protocol'
import { useInboxPart } from '../../gateway/gateway-context.ts'
import { useDriver } from '../../gateway/use-driver.ts'
import { unknownAgent } from './texts.ts'

/** Returns a name such as "Claude Code". Returns "the agent" for external agents, because they choose their own names. */
export function useAgentName(session: SessionId): string {
  const driver = useInboxPart(({ sessions }) => sessions.get(session)?.driver)
  const title = useDriver(driver)?.title
  return driver === undefined || driver === 'external' ? unknownAgent : labelText(driverLabel(driver, title))
}
