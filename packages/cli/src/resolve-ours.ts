/** Lets a person's agent import @holdpoint/* from wherever it lies: where it has none of its own, it gets ours. The loader reads this file again, on its own thread. */
import { type ResolveHook, register } from 'node:module'

let registered = false

export function resolveOurs(): void {
  if (!registered) register(import.meta.url)
  registered = true
}

export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context)
  } catch (error) {
    const lacking = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    if (!lacking || !specifier.startsWith('@holdpoint/')) throw error
    return next(specifier, { ...context, parentURL: import.meta.url })
  }
}
