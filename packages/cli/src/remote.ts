/** The running gateway, for commands that ask it something. */
import { existsSync } from 'node:fs'
import { type Connection, httpCall } from '@holdpoint/client'
import { type Call, Fault } from '@holdpoint/protocol'
import { type Home, lastUrl, livingProcess, openHome } from './home.ts'

export interface Remote {
  readonly url: string
  readonly call: Call
  readonly connection: Connection
}
/** Where a person says that the gateway is. */
export interface Place {
  readonly home?: string
  readonly url?: string
}

export function findGateway(home: Home, url = process.env.HOLDPOINT_URL): Remote | null {
  const at = url || (livingProcess(home, 'gateway') ? lastUrl(home) : null)
  return at ? remoteAt(home, at) : null
}
/** There is none to ask. */
export class NoGateway extends Error {
  override readonly name = 'NoGateway'
}
export function needGateway({ home: folder, url }: Place): Remote {
  const home = openHome(folder)
  const remote = findGateway(home, url)
  if (!remote) throw new NoGateway(`No gateway of ${home.folder} runs; start one with: holdpoint up`)
  return remote
}

/** One that may go away and come back elsewhere while it is spoken to: looked for again at every call, by whoever tries again. */
export function steadyGateway(place: Place): Remote {
  const { url, connection } = needGateway(place)
  const home = openHome(place.home)
  const named = place.url || process.env.HOLDPOINT_URL
  const call: Call = (op, input, options) => remoteAt(home, named || (lastUrl(home) ?? url), 1).call(op, input, options)
  return { url, connection, call }
}

function remoteAt(home: Home, url: string, attempts?: number): Remote {
  const connection = { url, token: tokenFor(home), via: 'cli' }
  return { url, connection, call: httpCall({ ...connection, ...(attempts !== undefined && { attempts }) }) }
}

function tokenFor(home: Home): string {
  const { HOLDPOINT_TOKEN: token } = process.env
  if (token) return token
  if (existsSync(home.tokenFile)) return home.ownerToken()
  throw new Fault(
    'unauthenticated',
    `There is no token for this gateway: set HOLDPOINT_TOKEN, or put the owner's into ${home.tokenFile}`,
  )
}
