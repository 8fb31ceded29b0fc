/**
 * Module hook that lets a user's agent import @holdpoint/* from any folder. The agent gets the packages of the running
 * program, even if its own node_modules has other versions, so that `instanceof` recognizes errors on both sides. Node
 * loads this file a second time, on the loader thread.
 */
import { existsSync } from 'node:fs'
import { type ResolveHook, register } from 'node:module'

let registered = false

export function registerResolver(): void {
  if (!registered) register(new URL('./module-resolver.js', import.meta.url))
  registered = true
}

export const resolve: ResolveHook = async (specifier, context, next) => {
  const name = /^@holdpoint\/(\w+)$/.exec(specifier)?.[1]
  if (!name) return next(specifier, context)
  const url = new URL(`./packages/${name}.js`, import.meta.url)
  // Only the bundle has these files. Tests run the sources.
  return existsSync(url)
    ? { url: url.href, shortCircuit: true }
    : next(specifier, { ...context, parentURL: import.meta.url })
}
