/** The running gateway, for commands that ask it something. */
import { httpCall } from '@holdpoint/client'
import type { Call } from '@holdpoint/protocol'
import { type Home, lastUrl, livingProcess } from './home.ts'

export interface Remote {
  readonly url: string
  readonly call: Call
}

export function findGateway(home: Home, url = process.env.HOLDPOINT_URL): Remote | null {
  const at = url ?? (livingProcess(home, 'gateway') ? lastUrl(home) : null)
  return at
    ? { url: at, call: httpCall({ url: at, token: process.env.HOLDPOINT_TOKEN ?? home.ownerToken(), via: 'cli' }) }
    : null
}
/** There is none to ask. */
export class NoGateway extends Error {
  override readonly name = 'NoGateway'
}
export function needGateway(home: Home): Remote {
  const remote = findGateway(home)
  if (!remote) throw new NoGateway(`No gateway of ${home.folder} runs; start one with: holdpoint up`)
  return remote
}
