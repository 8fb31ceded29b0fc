/** Which operation a path names: the contract as a tree of segments. Paths are compared as sent, so there is one spelling of each. */
import { contract, type Operation, type OperationName } from '@holdpoint/protocol'

/** Operations of the contract, and what is no operation: the stream, the socket, the printed contract. */
export type Target = OperationName | 'events' | 'socket' | 'openapi'

interface Place {
  readonly literals: Map<string, Place>
  param: { readonly name: string; readonly place: Place } | null
  readonly targets: Map<string, Target>
}
export interface Route {
  readonly targets: ReadonlyMap<string, Target>
  readonly params: Readonly<Record<string, string>>
}

const root = newPlace()
for (const [name, op] of Object.entries(contract)) place(op, name as OperationName) // the keys of the contract are its OpNames
place({ method: 'GET', path: '/events' }, 'events')
place({ method: 'GET', path: '/socket' }, 'socket')
place({ method: 'GET', path: '/openapi.json' }, 'openapi')

function newPlace(): Place {
  return { literals: new Map(), param: null, targets: new Map() }
}

function place({ method, path }: Pick<Operation, 'method' | 'path'>, target: Target): void {
  let at = root
  for (const segment of path.slice(1).split('/')) {
    if (segment.startsWith(':')) {
      at.param ??= { name: segment.slice(1), place: newPlace() }
      at = at.param.place
    } else {
      const next = at.literals.get(segment) ?? newPlace()
      at.literals.set(segment, next)
      at = next
    }
  }
  if (at.targets.has(method)) throw new Error(`two operations at ${method} ${path}`)
  at.targets.set(method, target)
}

/** A literal wins over a parameter; there is no way back from it, which the contract does not need. */
export function findRoute(path: string): Route | null {
  let at: Place = root
  const params: Record<string, string> = {}
  for (const segment of path.slice(1).split('/')) {
    const literal = at.literals.get(segment)
    if (literal) at = literal
    else if (at.param && segment) {
      params[at.param.name] = segment
      at = at.param.place
    } else return null
  }
  return at.targets.size > 0 ? { targets: at.targets, params } : null
}
