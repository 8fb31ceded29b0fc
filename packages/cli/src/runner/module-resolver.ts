/** Lets a person's agent, a module, import @holdpoint/* from wherever it lies. It gets the rooms that run it, also where others lie nearer: an error of theirs is then one of ours. The loader reads this file again, on its own thread. */
import { existsSync } from 'node:fs'
import { type ResolveHook, register } from 'node:module'

let registered = false

export function registerResolver(): void {
  if (!registered) register(new URL('./module-resolver.js', import.meta.url))
  registered = true
}

export const resolve: ResolveHook = async (specifier, context, next) => {
  const room = /^@holdpoint\/(\w+)$/.exec(specifier)?.[1]
  if (!room) return next(specifier, context)
  const url = new URL(`./rooms/${room}.js`, import.meta.url)
  // Only the program has them beside it; a gateway inside of another program uses those of its packages.
  return existsSync(url)
    ? { url: url.href, shortCircuit: true }
    : next(specifier, { ...context, parentURL: import.meta.url })
}
