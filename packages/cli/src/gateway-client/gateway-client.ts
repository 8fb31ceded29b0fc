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
/** How the flags name a gateway: by its data folder or by its URL. */
export interface GatewayAddress {
  readonly home?: string
  readonly url?: string
}

export function findGateway(dataFolder: DataFolder, url?: string): GatewayClient | null {
  const target = givenUrl(url) ?? (runningProcess(dataFolder, 'gateway') ? lastUrl(dataFolder) : null)
  return target ? clientFor(dataFolder, target) : null
}

/** The URL from the flag or the environment. A malformed one is a usage error, not a missing gateway. */
function givenUrl(flag: string | undefined): string | null {
  const url = flag || process.env.HOLDPOINT_URL
  if (!url) return null
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new Fault('bad_input', `${flag ? '--url' : 'HOLDPOINT_URL'} must be like http://127.0.0.1:4747, not "${url}"`)
}
/** No gateway is running. */
export class NoGateway extends Error {
  override readonly name = 'NoGateway'
}
export function requireGateway({ home: folder, url }: GatewayAddress): GatewayClient {
  const dataFolder = dataFolderAt(folder)
  const client = findGateway(dataFolder, url)
  if (!client) throw new NoGateway(`${nothingRunning(dataFolder.path)}. Start one with: holdpoint up`)
  return client
}

/** A client that follows the gateway when it restarts at another address. Each call is tried once; callers have their own retry. */
export function followingGateway(address: GatewayAddress): GatewayClient {
  return following(dataFolderAt(address.home), requireGateway(address), address.url, 1)
}
/** Makes a client follow its gateway: unless the URL was given, it is read from the data folder again for every call. */
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
      'HOLDPOINT_TOKEN contains a space, a line break or another character that no token has',
    )
  if (token) return token
  if (existsSync(dataFolder.tokenFile)) return dataFolder.ownerToken()
  throw new Fault(
    'unauthenticated',
    `No token for this gateway. Set HOLDPOINT_TOKEN, or copy the owner's token to ${dataFolder.tokenFile}`,
  )
}
