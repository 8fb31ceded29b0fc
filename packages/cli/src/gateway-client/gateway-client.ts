/** Finds the gateway that a command talks to, and the token to use. */
import { existsSync } from 'node:fs'
import { type Connection, httpCall } from '@holdpoint/client'
import { type Call, Fault } from '@holdpoint/protocol'
import { type DataFolder, dataFolderAt, lastUrl, runningProcess } from '../config/data-folder.ts'
import { nothingRunning } from '../gateway/texts.ts'
import { httpFetch } from './http-transport.ts'

export interface GatewayClient {
  readonly url: string
  readonly call: Call
  readonly connection: Connection
}
/** A gateway as the flags name it: by its data folder (`--home`) or by its URL (`--url`). */
export interface GatewayAddress {
  readonly home?: string
  readonly url?: string
}

export function findGateway(dataFolder: DataFolder, url?: string): GatewayClient | null {
  const target = givenUrl(url) ?? (runningProcess(dataFolder, 'gateway') ? lastUrl(dataFolder) : null)
  return target ? clientFor(dataFolder, target) : null
}

/** Returns the URL from `--url` or HOLDPOINT_URL, or null if neither is set. Throws a usage error if the URL is malformed. */
function givenUrl(flag: string | undefined): string | null {
  const url = flag || process.env.HOLDPOINT_URL
  if (!url) return null
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new Fault('bad_input', `${flag ? '--url' : 'HOLDPOINT_URL'} must be like http://127.0.0.1:4747, not "${url}"`)
}
/** Thrown if no gateway is running. */
export class NoGateway extends Error {
  override readonly name = 'NoGateway'
}
export function requireGateway({ home: folder, url }: GatewayAddress): GatewayClient {
  const dataFolder = dataFolderAt(folder)
  const client = findGateway(dataFolder, url)
  if (!client) throw new NoGateway(`${nothingRunning(dataFolder.path)}. Start one with: holdpoint up`)
  return client
}

/** Returns a client that still finds the gateway after it restarts at another address. Calls are not retried, because the callers retry by themselves. */
export function followingGateway(address: GatewayAddress): GatewayClient {
  return following(dataFolderAt(address.home), requireGateway(address), address.url, 1)
}
/** Returns a client that reads the gateway's URL from the data folder again for every call, unless the person gave a URL. */
export function following(
  dataFolder: DataFolder,
  { url, connection }: GatewayClient,
  flag?: string,
  attempts?: number,
): GatewayClient {
  const given = givenUrl(flag)
  const currentUrl = () => given ?? lastUrl(dataFolder) ?? url
  const call: Call = (op, input, options) => clientFor(dataFolder, currentUrl(), attempts).call(op, input, options)
  const followingConnection: Connection = {
    ...connection,
    get url() {
      return currentUrl()
    },
  }
  return { url, connection: followingConnection, call }
}

function clientFor(dataFolder: DataFolder, url: string, attempts?: number): GatewayClient {
  const connection = { url, token: findToken(dataFolder), via: 'cli', fetch: httpFetch }
  return { url, connection, call: httpCall({ ...connection, ...(attempts !== undefined && { attempts }) }) }
}

function findToken(dataFolder: DataFolder): string {
  const { HOLDPOINT_TOKEN: token } = process.env
  if (token && !/^[\x21-\x7e]+$/.test(token))
    throw new Fault(
      'unauthenticated',
      'HOLDPOINT_TOKEN contains a space, a line break or another character that is not allowed in a token',
    )
  if (token) return token
  if (existsSync(dataFolder.tokenFile)) return dataFolder.ownerToken()
  throw new Fault(
    'unauthenticated',
    `There is no token for this gateway. Set HOLDPOINT_TOKEN, or copy the owner’s token to ${dataFolder.tokenFile}`,
  )
}
