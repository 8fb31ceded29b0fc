/** What the agent's side needs of Node. The modules are not imported, so that a page can import this package. */

const modules = globalThis.process?.getBuiltinModule

/** Returns the SHA-256 of a text. An agent computes it in the same turn of the event loop in which it asks, which the asynchronous function of browsers cannot do. */
export function sha256(text: string): Uint8Array {
  return hashOf(text).digest()
}
export function sha256Hex(text: string): string {
  return hashOf(text).digest('hex')
}
function hashOf(text: string) {
  if (!modules) throw new Error('connectAgent and AgentSession need Node 20.19 or newer')
  return modules('node:crypto').createHash('sha256').update(text)
}

/** Node warns about more than ten listeners of a signal, but every call that waits has one. */
export function allowManyListeners(signal: AbortSignal): void {
  modules?.('node:events').setMaxListeners(0, signal)
}
