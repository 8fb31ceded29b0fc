/** The running gateway, for commands that ask it something. */
import { existsSync } from 'node:fs'
import { type Connection, httpCall } from '@holdpoint/client'
import { type Call, Fault } from '@holdpoint/protocol'
import { type DataFolder, dataFolderAt, lastUrl, runningProcess } from '../config/data-folder.ts'
import { send } from './http-transport.ts'

export interface GatewayClient {
  readonly url: string
  readonly call: Call
  readonly connection: Connection
}
/** Where a person says that the gateway is. */
export interface GatewayAddress {
  readonly home?: string
  readonly url?: string
}

export function findGateway(home: DataFolder, url?: string): GatewayClient | null {
  const at = givenUrl(url) ?? (runningProcess(home, 'gateway') ? lastUrl(home) : null)
  return at ? clientFor(home, at) : null
}

/** The address that a person names; one that cannot be any is theirs to mend, and no gateway that is away. */
function givenUrl(flag: string | undefined): string | null {
  const url = flag || process.env.HOLDPOINT_URL
  if (!url) return null
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new Fault('bad_input', `${flag ? '--url' : 'HOLDPOINT_URL'} must be like http://127.0.0.1:4747, not "${url}"`)
}
/** There is none to ask. */
export class NoGateway extends Error {
  override readonly name = 'NoGateway'
}
export function requireGateway({ home: folder, url }: GatewayAddress): GatewayClient {
  const home = dataFolderAt(folder)
  const remote = findGateway(home, url)
  if (!remote) throw new NoGateway(`No gateway of ${home.path} runs; start one with: holdpoint up`)
  return remote
}

/** One that may go away and come back elsewhere while it is spoken to: looked for again at every call, by whoever tries again. */
export function followingGateway(place: GatewayAddress): GatewayClient {
  return following(dataFolderAt(place.home), requireGateway(place), place.url, 1)
}
/** The same for whoever stays with it: an address that nobody has named is read again whenever it is used. */
export function following(
  home: DataFolder,
  { url, connection }: GatewayClient,
  flag?: string,
  attempts?: number,
): GatewayClient {
  const named = givenUrl(flag)
  const now = () => named ?? lastUrl(home) ?? url
  const call: Call = (op, input, options) => clientFor(home, now(), attempts).call(op, input, options)
  const moving: Connection = {
    ...connection,
    get url() {
      return now()
    },
  }
  return { url, connection: moving, call }
}

function clientFor(home: DataFolder, url: string, attempts?: number): GatewayClient {
  const connection = { url, token: findToken(home), via: 'cli', fetch: send }
  return { url, connection, call: httpCall({ ...connection, ...(attempts !== undefined && { attempts }) }) }
}

function findToken(home: DataFolder): string {
  const { HOLDPOINT_TOKEN: token } = process.env
  if (token && !/^[\x21-\x7e]+$/.test(token))
    throw new Fault('unauthenticated', 'HOLDPOINT_TOKEN holds a blank, a line end or another sign that no token has')
  if (token) return token
  if (existsSync(home.tokenFile)) return home.ownerToken()
  throw new Fault(
    'unauthenticated',
    `There is no token for this gateway: set HOLDPOINT_TOKEN, or put the owner's into ${home.tokenFile}`,
  )
}
