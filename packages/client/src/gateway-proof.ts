/** Decides whether a token may be sent to a URL: only over TLS, or to a gateway on this machine that has just proved that it knows the token (G11). */
import { apiRoot, Fault, proofText, tokenHintLength } from '@holdpoint/protocol'
import { type Connection, faultFromReply, type HttpReply, randomHex, transmit, Unreachable } from './connection.ts'

type TokenConnection = Connection & { readonly token: string }

/** Resolves with the URL to which the token may be sent, without a slash at the end. */
export async function provenUrl(connection: TokenConnection, signal?: AbortSignal | null): Promise<string> {
  const target = new URL(connection.url)
  if (target.protocol === 'https:' || connection.trusted) return connection.url.replace(/\/$/, '')
  if (!isLoopback(target.hostname)) throw insecureUrl(connection.url)
  // Another program may listen on the other loopback address, so the token must go to exactly the address that was proved.
  if (target.hostname === 'localhost') target.hostname = '127.0.0.1'
  const url = target.href.replace(/\/$/, '')
  await requireProof(connection, url, signal)
  return url
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

function insecureUrl(url: string): Fault {
  return new Fault(
    'bad_input',
    `With ${url}, your token would cross the network unencrypted. Use https://, or forward the port over ssh (ssh -L 4747:localhost:4747 HOST) and use http://localhost:4747`,
  )
}

async function requireProof(connection: TokenConnection, url: string, signal?: AbortSignal | null): Promise<void> {
  const tokenHash = await sha256(connection.token)
  const nonce = randomHex(16)
  const reply = await transmit(connection, `${url}${apiRoot}/proof`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ hint: tokenHash.slice(0, tokenHintLength), nonce }),
    signal: signal ?? null,
  })
  if (!reply.ok) throw await refusal(connection, reply)
  const claim = await readClaim(reply)
  const { hostname, host } = new URL(url)
  const isProved =
    claim !== null &&
    isAddressOf(hostname, claim.address) &&
    claim.proof === (await hmac(tokenHash, proofText({ nonce, host, address: claim.address })))
  if (!isProved) throw new Unreachable(connection, 'no proof')
}

/** The statuses with which a gateway says that it cannot give the proof now, or cannot give it under this host name. The person sees the fault of such a reply. */
const statusesToReport: ReadonlySet<number> = new Set([421, 429, 503])

async function refusal(connection: Connection, reply: HttpReply): Promise<Error> {
  const fault = await faultFromReply(reply)
  if (statusesToReport.has(reply.status)) return fault
  if (fault.code !== 'unauthenticated') return new Unreachable(connection, 'no proof')
  return new Fault(
    'unauthenticated',
    `The gateway at ${connection.url} does not know your token, so the token was not sent. Check the URL and the token`,
  )
}

interface Claim {
  readonly address: string
  readonly proof: string
}

async function readClaim(reply: HttpReply): Promise<Claim | null> {
  try {
    const claim = JSON.parse(await reply.text()) as Partial<Claim> | null // both properties are checked
    const { address, proof } = claim ?? {}
    return typeof address === 'string' && typeof proof === 'string' ? { address, proof } : null
  } catch {
    return null
  }
}

/** Returns whether a connection to `hostname` can arrive at `address`. In a container, a gateway sees the container's own address instead of the loopback address. */
function isAddressOf(hostname: string, address: string): boolean {
  return (
    `[${address}]` === hostname || address === hostname || !isLoopback(address.includes(':') ? `[${address}]` : address)
  )
}

async function sha256(text: string): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}
async function hmac(keyText: string, text: string): Promise<string> {
  const encode = (value: string) => new TextEncoder().encode(value)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encode(keyText), algorithm, false, ['sign'])
  return toHex(await crypto.subtle.sign('HMAC', key, encode(text)))
}
function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), byte => byte.toString(16).padStart(2, '0')).join('')
}
