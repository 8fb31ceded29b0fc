/** Opens a session of an agent: continues the earlier conversation, or starts a new one if there is none or the agent does not have it. */
import { type ClientContext, methods } from '@agentclientprotocol/sdk'
import { messageOf } from '@holdpoint/protocol'
import { acpExit } from './messages.ts'
import type { AcpProfile } from './profiles.ts'
import type { AcpSettings } from './settings.ts'

export interface OpenSessionOptions {
  readonly agent: ClientContext
  readonly profile: AcpProfile
  readonly cwd: string
  /** The agent's id of the earlier conversation; null if there is none. */
  readonly conversationId: string | null
  /** Whether the agent can load conversations at all. */
  readonly canLoad: boolean
}
export interface OpenedSession {
  readonly id: string
  readonly settings: AcpSettings
  /** True if there was an earlier conversation that this session does not continue. */
  readonly isForgotten: boolean
}

export async function openSession(options: OpenSessionOptions): Promise<OpenedSession> {
  const { agent, profile, cwd, conversationId } = options
  const loaded = await loadSession(options)
  if (loaded) return loaded
  const opened = await agent
    .request(methods.agent.session.new, { cwd, mcpServers: [] })
    .catch(error => Promise.reject(new Error(acpExit.noSession(profile.title, detailOf(error)))))
  return { id: opened.sessionId, settings: opened, isForgotten: conversationId !== null }
}

/** Returns null if there is no conversation that the agent can load. */
async function loadSession({ agent, profile, cwd, conversationId, canLoad }: OpenSessionOptions) {
  if (conversationId === null || !canLoad) return null
  try {
    const settings = await agent.request(methods.agent.session.load, { cwd, mcpServers: [], sessionId: conversationId })
    return { id: conversationId, settings: settings ?? {}, isForgotten: false }
  } catch (error) {
    // An agent that was killed shortly after its start may not have stored the conversation, and would refuse every later message.
    if (isUnknown(error, profile)) return null
    throw new Error(acpExit.noConversation(profile.title, detailOf(error), profile.loadHint))
  }
}

/** The error code of the protocol for something that does not exist. */
const resourceNotFound = -32002

function isUnknown(error: unknown, { unknownConversation }: AcpProfile): boolean {
  const { code } = Object(error) as { code?: unknown }
  return (
    code === resourceNotFound || (unknownConversation !== undefined && detailOf(error).includes(unknownConversation))
  )
}

/** Agents put the cause of an error into `data`. */
export function detailOf(error: unknown): string {
  const { data } = Object(error) as { data?: unknown }
  const details = typeof data === 'object' && data !== null && 'details' in data ? data.details : data
  const message = messageOf(error)
  return typeof details === 'string' && details !== '' && details !== message ? `${message}: ${details}` : message
}
