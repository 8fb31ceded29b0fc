/** Finds the gateway that a command talks to, how to reach it, and the token to use. */
import { existsSync } from 'node:fs'
import { type Connection, httpCall, type TokenSource } from '@holdpoint/client'
import { type Call, Fault, type RequestId } from '@holdpoint/protocol'
import { type DataFolder, dataFolderAt, lastGateway, requirePrivate, runningProcess } from '../config/data-folder.ts'
import { gatewaySocket } from '../config/gateway-socket.ts'
import { isLoopback } from '../gateway/loopback.ts'
import { nothingRunning } from '../gateway/texts.ts'
import { httpFetch, unixFetch } from './http-transport.ts'
import { addressTexts, localAdvice, remoteAdvice } from './texts.ts'

/** The route to a gateway, without a credential. */
export type GatewayRoute = Required<Pick<Connection, 'url' | 'fetch' | 'trusted' | 'advice'>>

export interface GatewayClient {
  readonly url: string
  readonly call: Call
  readonly connection: GatewayRoute & Connection
}
/** A gateway as the flags name it: by its data folder (`--home`) or by its URL (`--url`). */
export interface GatewayAddress {
  readonly home?: string
  readonly url?: string
}
export interface ClientOptions {
  /** The total number of attempts of a call. Callers that retry by themselves pass 1. */
  readonly attempts?: number
}

/** Returns the route to the gateway at the given URL. Without a URL, returns the route to the gateway of the data folder, which may be stopped now and restart at another address later. */
export function routeTo(dataFolder: DataFolder, flag?: string): GatewayRoute {
  const given = givenUrl(flag)
  if (given === null || isOwnUrl(dataFolder, given.url)) return localRoute(dataFolder)
  const { url, source } = given
  return { url, fetch: httpFetch, trusted: false, advice: reason => remoteAdvice(source, reason) }
}

function localRoute(dataFolder: DataFolder): GatewayRoute {
  // The data folder names the socket, and the program that listens there gets the token.
  requirePrivate(dataFolder.path)
  const url = lastGateway(dataFolder)?.url ?? 'http://localhost'
  return { url, fetch: unixFetch(() => gatewaySocket(dataFolder)), trusted: true, advice: localAdvice }
}

/** Returns the URL from `--url` or HOLDPOINT_URL and where it comes from, or null if neither is set. Throws a usage error if the URL is malformed. */
function givenUrl(flag: string | undefined): { readonly url: string; readonly source: string } | null {
  const url = flag || process.env.HOLDPOINT_URL
  if (!url) return null
  const source = flag ? '--url' : 'HOLDPOINT_URL'
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return { url, source }
  throw new Fault('bad_input', addressTexts.malformed(source, url))
}

/** Returns whether the gateway of the data folder has this URL. Its Unix socket is safer than its port. */
function isOwnUrl(dataFolder: DataFolder, url: string): boolean {
  const own = runningProcess(dataFolder, 'gateway') && lastGateway(dataFolder)
  return own !== null && comparable(own.url) === comparable(url)
}
function comparable(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  return `${protocol}//${isLoopback(hostname.replace(/^\[|\]$/g, '')) ? 'loopback' : hostname}:${port}`
}

/** Returns null if no URL is given and the gateway of the data folder is not running. */
export function findGateway(dataFolder: DataFolder, flag?: string, options: ClientOptions = {}): GatewayClient | null {
  if (givenUrl(flag) === null && !runningProcess(dataFolder, 'gateway')) return null
  const connection = { ...routeTo(dataFolder, flag), token: findToken(dataFolder) }
  return { url: connection.url, connection, call: httpCall({ ...connection, ...options }) }
}

/** Returns null if the gateway of the data folder is not running. The environment can name another gateway or token, and has no effect here. */
export function findLocalGateway(dataFolder: DataFolder, options: ClientOptions = {}): GatewayClient | null {
  if (!runningProcess(dataFolder, 'gateway') || !existsSync(dataFolder.tokenFile)) return null
  const connection = { ...localRoute(dataFolder), token: () => dataFolder.ownerToken() }
  return { url: connection.url, connection, call: httpCall({ ...connection, ...options }) }
}

/** Thrown if no gateway is running. */
export class NoGateway extends Error {
  override readonly name = 'NoGateway'
}
export function requireGateway({ home: folder, url }: GatewayAddress, options?: ClientOptions): GatewayClient {
  const dataFolder = dataFolderAt(folder)
  const client = findGateway(dataFolder, url, options)
  if (!client) throw new NoGateway(`${nothingRunning(dataFolder.path)}. Start one with: holdpoint up`)
  return client
}

/** Returns the address of the page that opens a request. The person who opens it must be signed in. */
export function requestLink(url: string, id: RequestId): string {
  return `${url.replace(/\/$/, '')}/#/inbox/${id}`
}

function findToken(dataFolder: DataFolder): TokenSource {
  const { HOLDPOINT_TOKEN: token } = process.env
  if (token && !/^[\x21-\x7e]+$/.test(token)) throw new Fault('unauthenticated', addressTexts.tokenCharacters)
  if (token) return token
  // The token can be rotated while a command runs, so the file is read for every call.
  if (existsSync(dataFolder.tokenFile)) return () => dataFolder.ownerToken()
  throw new Fault('unauthenticated', addressTexts.noToken(dataFolder.tokenFile))
}
