/** Finds the requests that are new since the page opened, and composes the notification for them. */
import { actionLabel, type InboxSnapshot, sessionName, summary } from '@holdpoint/client'
import { escapeInvisible, type Request, type RequestId, type Session } from '@holdpoint/protocol'
import { manyRequests, unknownSession } from './texts.ts'

export interface RequestNotification {
  /** The browser shows one notification per tag: a newer one replaces it. */
  readonly tag: string
  readonly title: string
  readonly body: string
  readonly request: RequestId | null
}

const bodyMax = 160
export const summaryTag = 'holdpoint.many'

/** Remembers which requests are known. Requests that were pending when the page opened are not new. */
export class NewRequests {
  #known: Set<RequestId> | null = null

  update({ order, complete, status }: Pick<InboxSnapshot, 'order' | 'complete' | 'status'>): readonly RequestId[] {
    if (status !== 'live' || !complete) return []
    const known = this.#known
    this.#known = new Set(order)
    return known ? order.filter(id => !known.has(id)) : []
  }
}

export function notificationFor(
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
