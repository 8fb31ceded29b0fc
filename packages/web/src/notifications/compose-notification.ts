/** Composes the browser notification about new requests: the action of a single request, or the number of several requests. */
import {
  actionLabel,
  cutMiddle,
  type InboxSnapshot,
  isDangerous,
  labelText,
  omissionMarker,
  riskLevelLabels,
  sessionName,
  summaryText,
} from '@holdpoint/client'
import type { Request, RequestId, Session } from '@holdpoint/protocol'
import { manyRequests, unknownSession } from './texts.ts'

export interface RequestNotification {
  /** The browser shows one notification per tag. A newer notification with the same tag replaces the older one. */
  readonly tag: string
  readonly title: string
  readonly body: string
  readonly request: RequestId | null
}

const bodyMax = 160
const nameMax = 60
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
      title: `${isDangerous(first) ? `${riskLevelLabels.dangerous}: ` : ''}${actionLabel(first.ask)} · ${nameOf(first)}`,
      body: summaryText(first.ask, bodyMax),
      request: first.id,
    }
  const names = [...new Set(requests.map(nameOf))]
  return {
    tag: summaryTag,
    title: manyRequests(requests.length, requests.filter(isDangerous).length),
    body: namesText(names),
    request: null,
  }
}

function nameOfSession(session: Session | undefined): string {
  if (!session) return unknownSession
  const { head, omitted, tail } = cutMiddle(sessionName(session), nameMax)
  return `${labelText(head)}${omissionMarker(omitted)}${labelText(tail)}`
}

/** Lists as many names as fit, and says how many are left out. */
function namesText(names: readonly string[]): string {
  const shown: string[] = []
  for (const name of names) {
    if ([...shown, name].join(', ').length > bodyMax) break
    shown.push(name)
  }
  const more = names.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
