/** Holdpoint's own credentials: how their secrets look, and how to find and mask them in what agents send. Tokens, cookies, page secrets and the codes of links all have this form, so that none of them goes unnoticed. */

const prefix = 'hp_'
/** Secrets have 32 bytes, and the codes of links 24. In base64url these are 43 and 32 characters. */
const charactersMin = 32
const charactersMax = 43
const masked = '•'

/** Matches text that may be a secret. If more letters follow, the match ends after the longest possible secret. */
const candidates = /hp_[A-Za-z0-9_-]{32,43}/g
const maskedSecret = /hp_•{32}/
/** The start of a secret whose end may follow. */
const unfinished = /^(?:h|hp|hp_[A-Za-z0-9_-]{0,42})$/

/** Returns whether a candidate looks random. A long name such as hp_settings_of_the_printer_in_the_hall has no capital letters. */
function looksRandom(candidate: string): boolean {
  const random = candidate.slice(prefix.length)
  return /[a-z]/.test(random) && /[A-Z]/.test(random) && /[0-9]/.test(random)
}

const attemptsMax = 100
/** Makes a secret that `maskCredentials` recognizes. */
export function newSecret(random: (bytes: number) => Uint8Array, bytes = 32): string {
  let secret = ''
  // About one secret in a thousand has no digit. The number of attempts is limited, because a test may pass numbers that are not random.
  for (let attempt = 0; attempt < attemptsMax && !looksRandom(secret); attempt++)
    secret = prefix + base64Url(random(bytes))
  return secret
}
function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

export interface Masked<T> {
  readonly value: T
  /** The secrets that were masked. */
  readonly found: ReadonlySet<string>
}

/** Masks every secret in a text or JSON value. A masked secret is as long as before, so that positions in texts stay valid. Returns the same value if there is none. */
export function maskCredentials<T>(value: T): Masked<T> {
  const found = new Set<string>()
  if (!mentionsSecret(value)) return { value, found }
  return { value: maskValue(value, found) as T, found } // masking does not change the type
}

/** Returns whether a text or name in a JSON value contains the prefix of a secret. Nearly no value does, so this check copies nothing. */
function mentionsSecret(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(prefix)
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some(mentionsSecret)
  const fields = value as Readonly<Record<string, unknown>> // the checks above leave only objects
  for (const name of Object.keys(fields)) if (name.includes(prefix) || mentionsSecret(fields[name])) return true
  return false
}

function maskValue(value: unknown, found: Set<string>): unknown {
  if (typeof value === 'string') return maskText(value, found)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const items = value.map(item => maskValue(item, found))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  const entries = Object.entries(value)
  const next = entries.map(([name, item]) => [maskText(name, found), maskValue(item, found)] as const)
  const isSame = next.every(([name, item], index) => name === entries[index]?.[0] && item === entries[index]?.[1])
  return isSame ? value : Object.fromEntries(next)
}

function maskText(text: string, found: Set<string>): string {
  if (!text.includes(prefix)) return text
  return text.replace(candidates, candidate => {
    if (!looksRandom(candidate)) return candidate
    found.add(candidate)
    return prefix + masked.repeat(candidate.length - prefix.length)
  })
}

/** Returns whether a JSON value contains a secret, masked or not. */
export function hasCredential(value: unknown): boolean {
  return mentionsSecret(value) && findsCredential(value)
}
function findsCredential(value: unknown): boolean {
  if (typeof value === 'string')
    return value.includes(prefix) && (maskedSecret.test(value) || maskText(value, new Set()) !== value)
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([name, item]) => findsCredential(name) || findsCredential(item))
}

/** Returns how many characters of an unfinished text can be shown without showing the start of a secret. */
export function shownLength(text: string): number {
  const tailAt = Math.max(0, text.length - (prefix.length + charactersMax))
  for (let at = text.indexOf('h', tailAt); at >= 0; at = text.indexOf('h', at + 1))
    if (unfinished.test(text.slice(at))) return at
  return text.length
}

/** Returns the secrets that a candidate may contain: the whole candidate, or the code of a link with other letters after it. */
export function possibleSecrets(candidate: string): readonly string[] {
  return [...new Set([candidate, candidate.slice(0, prefix.length + charactersMin)])]
}
