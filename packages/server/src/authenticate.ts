/** Who may come in: Host, Origin, Sec-Fetch-Site and the credential, judged by one function for REST, streams and sockets. */
import type { Caller, Gateway } from '@holdpoint/engine'
import { Fault } from '@holdpoint/protocol'
import type { IncomingRequest } from './http-message.ts'

/** What is wanted: a file of the page, something that needs no credential, to read, to change, or a socket, which may do both. */
export type AccessLevel = 'page' | 'nothing' | 'read' | 'write' | 'socket'

export interface Authenticated {
  readonly caller: Caller | null
  /** Asks again whether the credential still holds: a stream outlives the moment of its admission. */
  renew(): Promise<Caller>
}
export type Authenticator = (incoming: IncomingRequest, need: AccessLevel) => Promise<Authenticated>

export interface AuthenticatorOptions {
  readonly gateway: Pick<Gateway, 'authenticate'>
  readonly port: number
  /** Further names under which this gateway is reached. */
  readonly hosts?: readonly string[]
  /** Further origins that serve our page: those of a proxy in front. */
  readonly origins?: readonly string[]
}

const secretInQuery = /[?&](?:access_token|token|auth|authorization|bearer|secret|password|code)=/i
const viaPattern = /^[a-z][a-z0-9-]{0,19}$/

export function cookieName(port: number): string {
  return `holdpoint_${port}`
}

export function createAuthenticator({ gateway, port, hosts = [], origins = [] }: AuthenticatorOptions): Authenticator {
  const ownHosts = spellHosts(port, hosts)
  const ownOrigins = new Set([...[...ownHosts].map(host => `http://${host}`), ...origins])
  const cookie = cookieName(port)

  return async function admit(incoming, need) {
    checkHost(incoming, ownHosts)
    if (secretInQuery.test(incoming.target))
      throw new Fault('bad_input', 'A credential must not stand in a URL; send it as Authorization: Bearer.')
    const origin = incoming.header('origin')
    if (origin !== undefined && !ownOrigins.has(origin))
      throw new Fault('wrong_origin', 'This Origin is not one of this gateway’s own.')
    const site = incoming.header('sec-fetch-site')
    if (need !== 'page' && site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new Fault('wrong_origin', 'Pages of other sites may not call this gateway.')
    if (need === 'page' || need === 'nothing') return stranger
    const { secret, kind } = findSecret(incoming, cookie)
    if (kind === 'cookie') checkCookieUse(incoming, need, origin !== undefined, site)
    const said = incoming.header('x-holdpoint-via') ?? ''
    const via = viaPattern.test(said) ? said : 'api'
    const renew = async () => {
      const caller = await gateway.authenticate(secret, kind, via)
      if (!caller)
        throw new Fault('unauthenticated', 'This credential is not known here, or no longer valid; sign in again.')
      return caller
    }
    return { caller: await renew(), renew }
  }
}

const stranger: Authenticated = {
  caller: null,
  renew: () => Promise.reject(new Fault('unauthenticated', 'This needs a credential.')),
}

function spellHosts(port: number, hosts: readonly string[]): ReadonlySet<string> {
  const names = ['localhost', '127.0.0.1', '[::1]']
  const local = port === 80 ? names : names.map(name => `${name}:${port}`)
  const further = hosts.flatMap(host => [host.toLowerCase(), `${host.toLowerCase()}:${port}`])
  return new Set([...local, ...further])
}

function checkHost(incoming: IncomingRequest, ownHosts: ReadonlySet<string>): void {
  if (incoming.repeated !== null && incoming.repeated !== 'host')
    throw new Fault('bad_input', `The header ${incoming.repeated} stands twice.`)
  const host = incoming.header('host')?.toLowerCase()
  if (host === undefined) throw new Fault('bad_input', 'The request names no Host.')
  // A request line in absolute form names a host of its own, which nothing behind this check would look at.
  if (incoming.repeated || !ownHosts.has(host) || !incoming.target.startsWith('/'))
    throw new Fault('wrong_host', 'This gateway does not answer under that name; use localhost, or configure the host.')
}

function findSecret(incoming: IncomingRequest, cookie: string): { secret: string; kind: 'bearer' | 'cookie' } {
  const authorization = incoming.header('authorization')
  if (authorization !== undefined) {
    const secret = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1]
    if (secret === undefined) throw new Fault('unauthenticated', 'Authorization must be: Bearer, a blank, the token.')
    return { secret, kind: 'bearer' }
  }
  const secret = readCookie(incoming.header('cookie'), cookie)
  if (!secret) throw new Fault('unauthenticated', 'This needs a credential: Authorization: Bearer, or sign in.')
  return { secret, kind: 'cookie' }
}

/** Two cookies of our name mean that another port of this machine planted one: neither is believed. */
function readCookie(header: string | undefined, name: string): string | null {
  if (header === undefined) return null
  const found = header
    .split(';')
    .map(pair => pair.trim())
    .filter(pair => pair.startsWith(`${name}=`))
  return found.length === 1 ? (found[0] as string).slice(name.length + 1) : null // the length is checked
}

/** Browsers attach cookies by themselves, so a cookie alone proves nothing about which page is asking. */
function checkCookieUse(
  incoming: IncomingRequest,
  need: AccessLevel,
  ownOrigin: boolean,
  site: string | undefined,
): void {
  const ownPage = ownOrigin || site === 'same-origin'
  // No page of another origin can send this header without a preflight, which is never granted.
  const marked = incoming.header('x-holdpoint') === '1'
  const proven = need === 'read' ? ownPage || marked || site === 'none' : ownPage && (marked || need === 'socket')
  if (!proven)
    throw new Fault(
      'wrong_origin',
      'A cookie counts only with this gateway’s Origin, and for changes with x-holdpoint: 1.',
    )
}
