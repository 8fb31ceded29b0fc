/** Composes the browser notification about new requests: the action of a single request, or the number of several requests. */
import { actionLabel, type InboxSnapshot, sessionName, summary } from '@holdpoint/client'
import { escapeInvisible, type Request, type RequestId, type Session } from '@holdpoint/protocol'
import { manyRequests, unknownSession } from './texts.ts'

export interface RequestNotification {
  /** The browser shows one notification per tag. A newer notification with the same tag replaces the older one. */
  readonly tag: string
  readonly title: string
  readonly body: string
  readonly request: RequestId | null
}

const bodyMax = 160
/** Tag of a notification about several requests. */
export const summaryTag = 'holdpoint.many'

/** Returns null if there are no requests. */
export function composeNotification(
  requests: readonly Request[],
  { sessions }: Pick<InboxSnapshot, 'sessions'>,
): RequestNotification | null {
  const [first] = requests
  if (!first) return null
  const nameOf = ({ session }: Request) => nameOfSession(sessions.get(session))
  if (requests.length === 1)
    return {
      tag: first.id,
      title: `${actionLabel(first.ask)} · ${truncate(nameOf(first), 60)}`,
      body: truncate(escapeInvisible(summary(first.ask)), bodyMax),
      request: first.id,
    }
  const names = [...new Set(requests.map(nameOf))]
  return {
    tag: summaryTag,
    title: manyRequests(requests.length),
    body: truncate(names.join(', '), bodyMax),
    request: null,
  }
}

function nameOfSession(session: Session | undefined): string {
  return session ? escapeInvisible(sessionName(session)) : unknownSession
}

function truncate(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}
