/** Finds pending requests that are like another one: the same program or tool in the same folder. */
import { toolName } from '@holdpoint/client'
import { actionOf, type Request, type RequestId } from '@holdpoint/protocol'

/** Returns a key that similar requests share; null for a request that has to be answered on its own. */
export function similarityKey({ ask }: Pick<Request, 'ask'>): string | null {
  if (ask.kind !== 'approval' || ask.plan !== undefined) return null
  const action = actionOf(ask)
  if ('shell' in action) return JSON.stringify(['shell', programOf(action.shell), ask.cwd])
  const { name, server } = toolName(ask)
  return JSON.stringify(['tool', server, name, ask.cwd])
}

/** Returns the first word of a command that does not set a variable. People review every command before they answer, so this needs no exact parser. */
export function programOf(command: string): string {
  const words = command.trim().split(/\s+/)
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
