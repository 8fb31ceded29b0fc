/** Rebuilds from the log the expected content of the rows that decide what is allowed: requests, rules, tokens, and who may act for the agent of a session. */
import { hash } from 'node:crypto'
import {
  maskResolution,
  type RequestRow,
  type RuleRow,
  type SessionRow,
  type StoredEvent,
  type TokenRow,
  tokenDigest,
} from '@holdpoint/engine'
import { type Ask, canonicalJson, digestText, type Request, type Resolution, secretFieldIds } from '@holdpoint/protocol'

/** The facts about a request in the log. Texts are kept as short hashes, because a log can contain very many requests. */
interface ExpectedRequest {
  readonly opened: string
  /** The ask, if it has secret fields; it is needed to mask the answer as the row does. */
  readonly secretAsk: Ask | null
  resolution: string | null
  delivery: string
}
interface ExpectedSession {
  /** Null if an older version, which did not record fences, wrote the log. */
  fence: number | null
  /** The credential and the person that may act for the agent; undefined if an older version, which did not record this, wrote the log. */
  readonly access: string | undefined
}

export class ExpectedRows {
  readonly #requests = new Map<string, ExpectedRequest>()
  readonly #sessions = new Map<string, ExpectedSession>()
  readonly #rules = new Map<string, string>()
  /** The hash of the row of each token; null if an older version added the token. */
  readonly #tokens = new Map<string, string | null>()
  readonly #seen = new Set<string>()

  add({ body, session }: StoredEvent): void {
    switch (body.type) {
      case 'session.opened':
        this.#sessions.set(body.value.id, { fence: body.fence ?? null, access: accessText(body) })
        return
      case 'session.changed': {
        const known = this.#sessions.get(body.value.id)
        if (known && body.fence !== undefined) known.fence = body.fence
        return
      }
      case 'session.deleted':
        // The earlier events of the session no longer have bodies, so they have added no requests of it.
        this.#sessions.delete(session ?? '')
        return
      case 'rule.added':
      case 'rule.changed':
        this.#rules.set(body.value.id, digestOf(body.value))
        return
      case 'rule.removed':
        this.#rules.delete(body.rule)
        return
      case 'token.added':
        this.#tokens.set(body.token, body.rowDigest ?? null)
        return
      case 'token.removed':
        this.#tokens.delete(body.token)
        return
      case 'store.restored':
      case 'store.lost':
        for (const known of this.#sessions.values()) if (known.fence !== null) known.fence += body.fenceStep ?? 0
        return
      default:
        this.#addRequestEvent(body)
    }
  }

  #addRequestEvent(body: StoredEvent['body']): void {
    switch (body.type) {
      case 'request.opened': {
        const { value } = body
        const secretAsk = secretFieldIds(value.ask).size > 0 ? value.ask : null
        const opened = openedDigest(value)
        const delivery = deliveryText(value.delivery)
        this.#requests.set(value.id, { opened, secretAsk, resolution: null, delivery })
        return
      }
      case 'request.resolved': {
        const known = this.#requests.get(body.request)
        if (!known) return
        known.resolution = resolutionDigest(known.secretAsk, body.resolution)
        known.delivery = deliveryText(body.delivery)
        return
      }
      case 'request.handed':
      case 'request.taken':
      case 'request.unknown':
      case 'request.undeliverable': {
        const known = this.#requests.get(body.request)
        if (known) known.delivery = deliveryText(body.delivery)
      }
    }
  }

  /** Returns the problem with a row, or null if it has none. */
  requestProblem(row: RequestRow): string | null {
    const expected = this.#requests.get(row.id)
    if (!expected) return 'is not in the log'
    this.#seen.add(row.id)
    if (hash('sha256', digestText(row.session, row.ask)) !== row.digest) return 'does not match its digest'
    if (openedDigest(row) !== expected.opened) return 'is not what the agent asked'
    const { resolution } = row
    if ((resolution && resolutionDigest(expected.secretAsk, resolution)) !== expected.resolution)
      return 'has another answer than the log'
    if ((row.status === 'resolved') !== (resolution !== null)) return 'has an answer but is pending, or the reverse'
    return deliveryText(row.delivery) === expected.delivery ? null : 'has another delivery than the log'
  }
  sessionProblem(row: SessionRow): string | null {
    const expected = this.#sessions.get(row.id)
    if (!expected) return 'is not in the log'
    this.#seen.add(row.id)
    if (expected.fence !== null && expected.fence !== row.fence) return 'has another fence than the log'
    if (expected.access !== undefined && expected.access !== accessText(row))
      return 'belongs to another agent or person than in the log'
    return null
  }
  ruleProblem({ ord: _ord, ...rule }: RuleRow): string | null {
    const expected = this.#rules.get(rule.id)
    if (!expected) return 'is not in the log, or was removed'
    this.#seen.add(rule.id)
    return expected === digestOf(rule) ? null : 'is not the rule that was added'
  }
  /** A token that is revoked or has expired permits nothing, so it is not compared. */
  tokenProblem(row: TokenRow, now: number): string | null {
    if (row.revokedAt !== null || (row.expiresAt !== null && row.expiresAt <= now)) return null
    const expected = this.#tokens.get(row.token)
    if (expected === undefined) return 'is not in the log, or was revoked'
    return expected === null || expected === tokenDigest(row) ? null : 'is not the token that was added'
  }

  /** Returns the requests, sessions and rules of the log for which no row was checked. A missing token permits nothing. */
  missing(): readonly string[] {
    const all = [...this.#sessions.keys(), ...this.#requests.keys(), ...this.#rules.keys()]
    return all.filter(id => !this.#seen.has(id))
  }
}

/** Returns a short hash: 128 bits are enough to find a change. */
function digestOf(value: unknown): string {
  return hash('sha256', canonicalJson(value)).slice(0, 32)
}
function openedDigest(request: Request | RequestRow): string {
  const { session, key, agentPath, ask, digest, openedAt, deadlineAt, onDeadline, needs } = request
  return digestOf([session, key, agentPath, ask, digest, openedAt, deadlineAt, onDeadline, needs])
}
/** Leaves out `effective`, which is not part of the row, because it follows from the ask and the answer. */
function resolutionDigest(secretAsk: Ask | null, { effective: _, ...resolution }: Resolution): string {
  return digestOf(secretAsk ? maskResolution(secretAsk, resolution) : resolution)
}
function deliveryText({ state, at }: Request['delivery']): string {
  return `${state} ${at}`
}
function accessText({
  agent,
  openedBy,
}: {
  agent?: string | null | undefined
  openedBy?: unknown
}): string | undefined {
  return agent === undefined && openedBy === undefined ? undefined : canonicalJson([agent ?? null, openedBy ?? null])
}
