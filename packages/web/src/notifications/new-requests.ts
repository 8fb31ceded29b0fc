/** Which requests are news to a person, and in which words they are told outside the page. */
import { actionLabel, type InboxSnapshot, sessionName, summary } from '@holdpoint/client'
import { escapeInvisible, type Request, type RequestId, type Session } from '@holdpoint/protocol'

export interface RequestNotification {
  /** One notification stands per tag: a newer one takes its place. */
  readonly tag: string
  readonly title: string
  readonly body: string
  readonly request: RequestId | null
}

const bodyMax = 160
export const manyTag = 'holdpoint.many'

/** Tells new requests from known ones. What waits when the page opens is no news: it is on the page. */
export class NewRequests {
  #known: Set<RequestId> | null = null

  take({ order, complete, status }: Pick<InboxSnapshot, 'order' | 'complete' | 'status'>): readonly RequestId[] {
    if (status !== 'live' || !complete) return []
    const before = this.#known
    this.#known = new Set(order)
    return before ? order.filter(id => !before.has(id)) : []
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
      title: `${actionLabel(first.ask)} · ${clip(nameOf(first), 60)}`,
      body: clip(escapeInvisible(summary(first.ask)), bodyMax),
      request: first.id,
    }
  const names = [...new Set(requests.map(nameOf))]
  return {
    tag: manyTag,
    title: `${requests.length} requests wait for you`,
    body: clip(names.join(', '), bodyMax),
    request: null,
  }
}

function nameOfSession(session: Session | undefined): string {
  return session ? escapeInvisible(sessionName(session)) : 'An agent'
}

function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}
