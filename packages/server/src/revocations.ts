/** Ends the streams, sockets and calls of a credential as soon as it is revoked or has expired, on this gateway or on another one with the same store. */
import type { Gateway } from '@holdpoint/engine'

/** The number of revoked tokens to remember. They are needed if a credential is revoked after a call was authenticated and before the call is watched. */
const recentMax = 10_000

export class Revocations {
  readonly #callbacks = new Map<string, Set<() => void>>()
  readonly #recent = new Set<string>()

  constructor(gateway: Pick<Gateway, 'onRevoked'>) {
    gateway.onRevoked(token => this.#onRevoked(token))
  }

  /** Calls `onRevoked` when the token is revoked, or at once if it was revoked just now. Returns a function that stops watching. */
  watch(token: string, onRevoked: () => void): () => void {
    if (this.#recent.has(token)) {
      onRevoked()
      return () => {}
    }
    const callbacks = this.#callbacks.get(token) ?? new Set()
    this.#callbacks.set(token, callbacks)
    // Wrap the callback, so that the same function can be watched twice.
    const callback = () => onRevoked()
    callbacks.add(callback)
    return () => {
      callbacks.delete(callback)
      if (callbacks.size === 0 && this.#callbacks.get(token) === callbacks) this.#callbacks.delete(token)
    }
  }

  #onRevoked(token: string): void {
    this.#recent.add(token)
    for (const oldest of this.#recent) {
      if (this.#recent.size <= recentMax) break
      this.#recent.delete(oldest)
    }
    const callbacks = this.#callbacks.get(token)
    this.#callbacks.delete(token)
    for (const callback of callbacks ?? []) callback()
  }
}
