/** Finds pending requests that are like another one: the same program or tool in the same folder. */
import { toolName } from '@holdpoint/client'
import { actionOf, type Request, type RequestId } from '@holdpoint/protocol'

/** Caches the keys, because the inbox compares all requests whenever one changes. Requests are immutable, so entries never become stale. */
const keys = new WeakMap<Pick<Request, 'ask'>, string | null>()

function similarityKey(request: Pick<Request, 'ask'>): string | null {
  const cached = keys.get(request)
  if (cached !== undefined) return cached
  const key = findKey(request)
  keys.set(request, key)
  return key
}

/** Returns a key that similar requests share; null for a request that has to be answered on its own. */
function findKey({ ask }: Pick<Request, 'ask'>): string | null {
  if (ask.kind !== 'approval' || ask.plan !== undefined) return null
  const action = actionOf(ask)
  if ('shell' in action) return JSON.stringify(['shell', programOf(action.shell), ask.cwd])
  const { name, server } = toolName(ask)
  return JSON.stringify(['tool', server, name, ask.cwd])
}

/** A program that starts later than this is not found. */
const commandMax = 1000

/** Returns the first word of a command that does not set a variable. People review every command before they answer, so this needs no exact parser. */
export function programOf(command: string): string {
  const words = command.slice(0, commandMax).trim().split(/\s+/)
  return words.find(word => !/^[A-Za-z_]\w*=/.test(word)) ?? ''
}

/** Returns the other pending requests that are similar to this one, in the given order. */
export function similarTo(
  request: Request,
  ids: readonly RequestId[],
  requests: ReadonlyMap<RequestId, Request>,
): readonly Request[] {
  const key = similarityKey(request)
  if (key === null) return []
  return ids
    .flatMap(id => requests.get(id) ?? [])
    .filter(other => other.id !== request.id && other.status === 'pending' && similarityKey(other) === key)
}
