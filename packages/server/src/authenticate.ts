/** Checks the Host, Origin and Sec-Fetch-Site headers and the credential of a request, in the same way for HTTP, event streams and WebSockets. */
import { type Caller, type Credential, credentialNotValid, type Gateway, type Via } from '@holdpoint/engine'
import { Fault, limits, pageSecretHeader, pageSecretProtocol } from '@holdpoint/protocol'
import type { IncomingRequest } from './http-message.ts'
import { parseSignInCookie } from './sign-in-cookie.ts'
import type { WrongAttempts } from './wrong-attempts.ts'

/** The access that a request needs. `page` (a file of the page) and `public` need no credential. `read` and `write` are for operations, and `socket` allows both. */
export type AccessLevel = 'page' | 'public' | 'read' | 'write' | 'socket'

/** Resolves with the caller, or null if the access needs no credential. */
export type Authenticator = (incoming: IncomingRequest, access: AccessLevel) => Promise<Caller | null>

/** Returns the fault for a wrong token, code or hint, and records in the log if there were too many. */
export async function refuseAttempt(
  gateway: Pick<Gateway, 'recordRefusal'>,
  wrongAttempts: WrongAttempts,
  { source }: IncomingRequest,
  what: 'authenticate' | 'signIn' | 'describeLink' | 'proveGateway',
  fault: Fault,
): Promise<Fault> {
  const refused = wrongAttempts.refuse(source, fault)
  if (refused.code === 'too_many') await gateway.recordRefusal({ what, code: refused.code, by: source })
  return refused
}

export function requireCaller(caller: Caller | null): Caller {
  if (!caller) throw new Fault('unauthenticated', credentialNeeded)
  return caller
}

export interface AuthenticatorOptions {
  readonly gateway: Pick<Gateway, 'authenticate' | 'recordRefusal'>
  readonly port: number
  /** Additional host names of this gateway. */
  readonly hosts?: readonly string[]
  /** Additional origins of the page, for example of a reverse proxy. */
  readonly origins?: readonly string[]
  readonly wrongAttempts: WrongAttempts
}

const secretInQuery = /[?&](?:access_token|token|auth|authorization|bearer|secret|password|code)=/i

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { gateway, port, wrongAttempts } = options
  const checkSender = createSenderCheck(options)

  return async function authenticate(incoming, access) {
    checkSender(incoming, access)
    if (access === 'page' || access === 'public') return null
    const credential = findCredential(incoming, access, port)
    if (credential.kind === 'cookie') checkCookieUse(incoming, access)
    const caller = await gateway.authenticate(credential, viaOf(credential, incoming))
    if (!caller) throw await refuseAttempt(gateway, wrongAttempts, incoming, 'authenticate', credentialNotValid())
    return caller
  }
}

/** Returns a function that throws a Fault if a request names another host, or comes from a page of another site. */
export function createSenderCheck({
  port,
  hosts = [],
  origins = [],
}: Pick<AuthenticatorOptions, 'port' | 'hosts' | 'origins'>): (incoming: IncomingRequest, access: AccessLevel) => void {
  const namedHosts = hostsWithPort(port, hosts)
  const ownHosts: ReadonlySet<string> = new Set([...namedHosts, hostOverUnix])
  const ownOrigins = new Set([...namedHosts.map(host => `http://${host}`), ...origins])

  return (incoming, access) => {
    checkHost(incoming, ownHosts)
    if (secretInQuery.test(incoming.target))
      throw new Fault('bad_input', 'Do not put a credential in a URL. Send it in the header Authorization: Bearer.')
    const origin = incoming.header('origin')
    if (origin !== undefined && !ownOrigins.has(origin))
      throw new Fault('wrong_origin', 'The Origin header does not name this gateway.')
    const site = incoming.header('sec-fetch-site')
    if (access !== 'page' && site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new Fault('wrong_origin', 'Pages of other sites may not call this gateway.')
  }
}

const credentialNeeded = 'This request needs a credential. Send the header Authorization: Bearer, or sign in.'

/** The Host header of requests over the Unix socket, which has no port. It is accepted over TCP too, so that the check does not depend on the transport. That is safe: browsers send this host only to port 80, and it is not part of the accepted origins. */
const hostOverUnix = 'localhost'

function hostsWithPort(port: number, hosts: readonly string[]): readonly string[] {
  const names = ['localhost', '127.0.0.1', '[::1]']
  const local = port === 80 ? names : names.map(name => `${name}:${port}`)
  const additional = hosts.flatMap(host => [host.toLowerCase(), `${host.toLowerCase()}:${port}`])
  return [...local, ...additional]
}

function checkHost(incoming: IncomingRequest, ownHosts: ReadonlySet<string>): void {
  if (incoming.headerCount > limits.headersMax)
    throw new Fault('headers_too_large', `The request has more than ${limits.headersMax} headers. Send fewer headers.`)
  if (incoming.repeatedHeader !== null && incoming.repeatedHeader !== 'host')
    throw new Fault('bad_input', `The header ${incoming.repeatedHeader} was sent twice.`)
  const host = incoming.header('host')?.toLowerCase()
  if (host === undefined) throw new Fault('bad_input', 'The request has no Host header.')
  // Refuse a request line in absolute form, because it contains a second host that no later check reads.
  if (incoming.repeatedHeader || !ownHosts.has(host) || !incoming.target.startsWith('/'))
    throw new Fault(
      'wrong_host',
      'This gateway does not accept that host name. Use localhost, or add the name to the configuration.',
    )
}

function findCredential(incoming: IncomingRequest, access: AccessLevel, port: number): Credential {
  const bearer = readBearer(incoming)
  if (bearer !== null) return { kind: 'bearer', secret: bearer }
  const secret = parseSignInCookie(incoming.header('cookie'), port)
  if (!secret) throw new Fault('unauthenticated', credentialNeeded)
  const pageSecret = access === 'socket' ? readSocketPageSecret(incoming) : incoming.header(pageSecretHeader)
  if (!pageSecret)
    throw new Fault(
      'unauthenticated',
      'A cookie counts only together with the page secret that signIn returned. Open this page with a new link from: holdpoint link',
    )
  return { kind: 'cookie', secret, pageSecret }
}

/** Returns the token in the Authorization header, or null if there is no such header. */
export function readBearer(incoming: IncomingRequest): string | null {
  const authorization = incoming.header('authorization')
  if (authorization === undefined) return null
  const secret = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1]
  if (secret === undefined)
    throw new Fault('unauthenticated', 'The Authorization header must consist of "Bearer", a space and the token.')
  return secret
}

/** Determines how the call reached the gateway, without asking the caller. Only the person who runs the gateway can open the Unix socket in its data folder. */
function viaOf({ kind }: Credential, { transport }: IncomingRequest): Via {
  if (kind === 'cookie') return 'page'
  return transport === 'unixSocket' ? 'cli' : 'api'
}

/** Browsers cannot set headers of a WebSocket handshake, so the page sends its secret as the name of a subprotocol. */
function readSocketPageSecret(incoming: IncomingRequest): string | undefined {
  const protocols = (incoming.header('sec-websocket-protocol') ?? '').split(',').map(name => name.trim())
  return protocols.find(name => name.startsWith(pageSecretProtocol))?.slice(pageSecretProtocol.length)
}

/** Refuses a cookie unless the headers show that no page of another origin sent the request. The page secret already proves that; this check does not depend on the secret staying secret. */
function checkCookieUse(incoming: IncomingRequest, access: AccessLevel): void {
  // The Origin header names this gateway, because `checkSender` has refused others.
  const isOwnPage = incoming.header('origin') !== undefined || incoming.header('sec-fetch-site') === 'same-origin'
  if (!isOwnPage && access !== 'read')
    throw new Fault(
      'wrong_origin',
      'A cookie is accepted for changes only with an Origin header that names this gateway.',
    )
}
