/** Formats and parses the cookie that keeps a browser signed in. authenticate.ts checks the credential in it. */

/** The name contains the port, because browsers share cookies between all ports of a host, and two gateways on one machine must not overwrite each other's cookie. */
const cookieName = (port: number) => `holdpoint_${port}`

export interface SignInCookie {
  readonly port: number
  /** The credential of the signed-in person. An empty string deletes the cookie. */
  readonly secret: string
  readonly ttlMs: number
  /** Whether the browser may send the cookie over https only. */
  readonly secure: boolean
}

/** Returns the value of a Set-Cookie header. */
export function formatSignInCookie({ port, secret, ttlMs, secure }: SignInCookie): string {
  const maxAge = `Max-Age=${Math.floor(ttlMs / 1000)}`
  return `${cookieName(port)}=${secret}; HttpOnly; SameSite=Strict; Path=/; ${maxAge}${secure ? '; Secure' : ''}`
}

/** Returns the secret from a Cookie header, or null if the header has no sign-in cookie or more than one. If there are two, a page on another port may have planted one of them. */
export function parseSignInCookie(header: string | undefined, port: number): string | null {
  if (header === undefined) return null
  const prefix = `${cookieName(port)}=`
  const found = header
    .split(';')
    .map(pair => pair.trim())
    .filter(pair => pair.startsWith(prefix))
  return found.length === 1 ? (found[0] as string).slice(prefix.length) : null // `found` has exactly one entry
}
