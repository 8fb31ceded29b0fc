/** Encrypts the secret parts of an answer with a key of their own, which is deleted once the agent has them. Rows, events, idempotency keys and backups contain only the masked answer and the ciphertext. */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import {
  type Answer,
  type Ask,
  canonicalJson,
  type Json,
  type Request,
  type RequestId,
  type Resolution,
  secretFieldIds,
  withEffective,
} from '@holdpoint/protocol'
import { isPerson } from './authorization.ts'
import type { Context } from './context.ts'
import type { Caller } from './gateway.ts'
import type { RequestRow, SealedAnswer } from './rows.ts'

const mask = '••••••'

/** The secret parts of an answer by field. A list, because agents choose the names, and a name such as `__proto__` would be lost as an object key. */
type Secrets = readonly (readonly [field: string, value: Json])[]

function secretsOf(ask: Ask, answer: Answer): Secrets {
  const secret = secretFieldIds(ask)
  if (answer.kind === 'answers')
    return answer.answers
      .filter(({ id }) => secret.has(id))
      .map(({ id, chosen, other }) => [id, { chosen, ...(other === undefined ? {} : { other }) }])
  if (answer.kind === 'submit') return Object.entries(answer.values).filter(([name]) => secret.has(name))
  return []
}

/** Replaces the secret parts of an answer. Masking a masked answer changes nothing. */
export function maskAnswer(ask: Ask, answer: Answer): Answer {
  const secret = secretFieldIds(ask)
  if (secret.size === 0) return answer
  if (answer.kind === 'answers') {
    const masked = answer.answers.map(item => (secret.has(item.id) ? { id: item.id, chosen: [], other: mask } : item))
    return { ...answer, answers: masked }
  }
  if (answer.kind === 'submit') {
    const values = Object.entries(answer.values).map(([name, value]) => [name, secret.has(name) ? mask : value])
    return { ...answer, values: Object.fromEntries(values) }
  }
  return answer
}

function unmaskAnswer(answer: Answer, secrets: Secrets): Answer {
  const values = new Map(secrets)
  if (answer.kind === 'answers') {
    const answers = answer.answers.map(item => {
      const value = values.get(item.id)
      return value === undefined ? item : { id: item.id, ...(value as Omit<typeof item, 'id'>) } // `secretsOf` stored these fields of the item
    })
    return { ...answer, answers }
  }
  if (answer.kind === 'submit') {
    const entries = Object.entries(answer.values).map(([name, value]) => [name, values.get(name) ?? value])
    return { ...answer, values: Object.fromEntries(entries) }
  }
  return answer
}

/** Derives the keys for encrypting and for comparing, so that neither use weakens the other. */
function derive(key: string, use: 'encrypt' | 'compare'): Buffer {
  return createHmac('sha256', Buffer.from(key, 'base64url')).update(use).digest()
}
function macOf(key: string, secrets: Secrets): string {
  return createHmac('sha256', derive(key, 'compare')).update(canonicalJson(secrets)).digest('base64url')
}
function seal(request: RequestId, keyId: string, key: string, iv: Buffer, secrets: Secrets): SealedAnswer {
  const cipher = createCipheriv('aes-256-gcm', derive(key, 'encrypt'), iv).setAAD(Buffer.from(request))
  const data = Buffer.concat([cipher.update(JSON.stringify(secrets)), cipher.final(), cipher.getAuthTag()])
  return { key: keyId, iv: iv.toString('base64url'), data: data.toString('base64url'), mac: macOf(key, secrets) }
}
const tagBytes = 16
function unseal(request: RequestId, { iv, data }: SealedAnswer, key: string): Secrets {
  const bytes = Buffer.from(data, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', derive(key, 'encrypt'), Buffer.from(iv, 'base64url'))
  decipher.setAAD(Buffer.from(request)).setAuthTag(bytes.subarray(-tagBytes))
  const text = Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString()
  return JSON.parse(text) as Secrets // `seal` encrypted the JSON of these secrets
}

/** The id of a key names its request, so that a sweep can find out whether the key is still needed. */
export function requestOfKey(keyId: string): RequestId {
  return keyId.split('.')[0] as RequestId // `sealAnswer` starts the id with the id of the request
}

/** An answer whose secrets are encrypted, ready to be stored. */
export interface PreparedAnswer {
  /** The answer as it is stored, without secrets. */
  readonly masked: Answer
  readonly sealed: SealedAnswer | null
  /** Compares the secrets with those of an answer that is already stored. Returns undefined if that answer was stored after this one was prepared. */
  equalsSecrets(stored: SealedAnswer | null | undefined): boolean | undefined
}

/** Encrypts the secrets of an answer, and stores the key durably. The caller must pass the result to `releaseUnused` in the end. */
export async function prepareAnswer(ctx: Context, row: RequestRow, answer: Answer): Promise<PreparedAnswer> {
  const masked = maskAnswer(row.ask, answer)
  const secrets = secretsOf(row.ask, answer)
  if (secrets.length === 0) return { masked, sealed: null, equalsSecrets: () => true }
  let sealed: SealedAnswer | null = null
  if (row.status === 'pending') {
    const keyId = `${row.id}.${ctx.secret(12)}`
    const key = ctx.secret()
    await ctx.store.keys.put(keyId, key)
    sealed = seal(row.id, keyId, key, Buffer.from(ctx.secret(12), 'base64url'), secrets)
  }
  const before = row.sealed ?? null
  const beforeKey = before && (await ctx.store.keys.get(before.key))
  const beforeMac = beforeKey ? macOf(beforeKey, secrets) : null
  return {
    masked,
    sealed,
    equalsSecrets: stored => {
      // Once the agent has the answer, its key is deleted, and only the parts that are not secret can be compared.
      if (!stored) return true
      if (stored.key !== before?.key) return undefined
      return beforeMac !== null && timingSafeEqual(Buffer.from(beforeMac), Buffer.from(stored.mac))
    },
  }
}

/** Deletes the key of a prepared answer that was not stored. If the store or the keys cannot be used now, the sweep deletes it later. */
export async function releaseUnused(ctx: Context, { sealed }: PreparedAnswer): Promise<void> {
  if (!sealed) return
  const row = await ctx.store.get('request', requestOfKey(sealed.key)).catch(() => null)
  if (row !== null && row?.sealed?.key !== sealed.key) await ctx.store.keys.delete([sealed.key]).catch(() => {})
}

/** Returns the request with the secrets of its answer for the agent's side, and unchanged for people. The secrets stay masked once their key is deleted. */
export async function withSecrets(ctx: Context, caller: Caller, request: Request): Promise<Request> {
  if (isPerson(caller) || !request.resolution?.answer || secretFieldIds(request.ask).size === 0) return request
  const row = await ctx.store.get('request', request.id)
  const resolution = row ? await unmasked(ctx, row) : null
  return resolution ? { ...request, resolution: withEffective(request.ask, resolution) } : request
}

async function unmasked(ctx: Context, row: RequestRow): Promise<Resolution | null> {
  const { resolution, sealed } = row
  if (!resolution?.answer) return null
  // A row of schema 3 contains its secrets until the agent has taken them.
  if (!sealed) return resolution
  const key = await ctx.store.keys.get(sealed.key)
  if (key === undefined) return null
  return { ...resolution, answer: unmaskAnswer(resolution.answer, unseal(row.id, sealed, key)) }
}

/** Returns whether the answer has secrets that can no longer be decrypted, for example after a backup was restored. */
export async function hasLostSecrets(ctx: Context, { ask, resolution, sealed }: RequestRow): Promise<boolean> {
  if (!resolution?.answer || secretsOf(ask, resolution.answer).length === 0) return false
  if (sealed) return (await ctx.store.keys.get(sealed.key)) === undefined
  return canonicalJson(maskAnswer(ask, resolution.answer)) === canonicalJson(resolution.answer)
}

/** Returns whether a draft contains a value for a secret field. Drafts are stored as they are, so they must not contain secrets. */
export function draftHasSecret(ask: Ask, draft: unknown): boolean {
  const secret = secretFieldIds(ask)
  return secret.size > 0 && mentions(draft, secret)
}
function mentions(value: unknown, secret: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null) return false
  const fields = Object.entries(value)
  const name = fields.find(([field, text]) => (field === 'id' || field === 'name') && secret.has(String(text)))
  if (name) return fields.some(([field, content]) => field !== name[0] && !isEmpty(content))
  return fields.some(([field, content]) => (secret.has(field) && !isEmpty(content)) || mentions(content, secret))
}
function isEmpty(content: unknown): boolean {
  if (Array.isArray(content)) return content.every(isEmpty)
  return content === undefined || content === null || content === '' || content === false
}
