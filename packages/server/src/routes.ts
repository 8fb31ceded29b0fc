/** Finds the operation for a path in a tree of path segments. Paths are not decoded or normalized, so each route has exactly one spelling. */
import { contract, type Operation, type OperationName } from '@holdpoint/protocol'

/** An operation of the contract, or one of the other three routes: the event stream, the WebSocket and the OpenAPI document. */
export type Target = OperationName | 'events' | 'socket' | 'openapi'

interface RouteNode {
  readonly literals: Map<string, RouteNode>
  param: { readonly name: string; readonly node: RouteNode } | null
  readonly targets: Map<string, Target>
}
export interface Route {
  readonly targets: ReadonlyMap<string, Target>
  readonly params: Readonly<Record<string, string>>
}

const root = newNode()
for (const [name, op] of Object.entries(contract)) addRoute(op, name as OperationName) // the keys of the contract are operation names
addRoute({ method: 'GET', path: '/events' }, 'events')
addRoute({ method: 'GET', path: '/socket' }, 'socket')
addRoute({ method: 'GET', path: '/openapi.json' }, 'openapi')

function newNode(): RouteNode {
  return { literals: new Map(), param: null, targets: new Map() }
}

function addRoute({ method, path }: Pick<Operation, 'method' | 'path'>, target: Target): void {
  let node = root
  for (const segment of path.slice(1).split('/')) {
    if (segment.startsWith(':')) {
      node.param ??= { name: segment.slice(1), node: newNode() }
      node = node.param.node
    } else {
      const next = node.literals.get(segment) ?? newNode()
      node.literals.set(segment, next)
      node = next
    }
  }
  if (node.targets.has(method)) throw new Error(`two operations at ${method} ${path}`)
  node.targets.set(method, target)
}

/** Returns the route of a path, or null. A literal segment takes precedence over a parameter. The search does not backtrack, because no path of the contract needs backtracking. */
export function findRoute(path: string): Route | null {
  let node: RouteNode = root
  const params: Record<string, string> = {}
  for (const segment of path.slice(1).split('/')) {
    const literal = node.literals.get(segment)
    if (literal) node = literal
    else if (node.param && segment) {
      params[node.param.name] = segment
      node = node.param.node
    } else return null
  }
  return node.targets.size > 0 ? { targets: node.targets, params } : null
}
