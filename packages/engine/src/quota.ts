/** Limits how much of a shared resource each credential may use, so that one agent cannot use up the part that people need. */
import { type Clock, Fault, type QuotaLimits, type RoleLimits } from '@holdpoint/protocol'
import { isPerson } from './authorization.ts'
import type { Caller } from './gateway.ts'

/** The credential that a use counts for. */
export type QuotaCaller = Pick<Caller, 'role' | 'token'>

/** The variable parts of a Fault such as “This credential has reached its limit of 50 open sockets. Close some sockets and connect again.” */
export interface QuotaTexts {
  readonly unit: string
  readonly advice: string
}

function shareOf(limits: RoleLimits, { role }: QuotaCaller): number {
  return role === 'agent' || role === 'runner' ? limits[role] : limits.person
}

/** Counts how much of one resource is in use, per credential and in total. */
export class QuotaUse {
  readonly #limits: QuotaLimits
  readonly #byToken = new Map<string, number>()
  #byPeople = 0
  #byOthers = 0

  constructor(limits: QuotaLimits) {
    this.#limits = limits
  }

  /** Returns which limit `amount` would exceed: the credential's own, or that of all credentials together. */
  exceeded(caller: QuotaCaller, amount: number): 'own' | 'total' | null {
    const { total, reservedForPeople } = this.#limits
    if ((this.#byToken.get(caller.token) ?? 0) + amount > shareOf(this.#limits, caller)) return 'own'
    if (this.#byPeople + this.#byOthers + amount > total) return 'total'
    return !isPerson(caller) && this.#byOthers + amount > total - reservedForPeople ? 'total' : null
  }

  /** Counts the amount, even if it exceeds a limit. A negative amount reduces the count. */
  add(caller: QuotaCaller, amount: number): void {
    const own = (this.#byToken.get(caller.token) ?? 0) + amount
    if (own > 0) this.#byToken.set(caller.token, own)
    else this.#byToken.delete(caller.token)
    if (isPerson(caller)) this.#byPeople += amount
    else this.#byOthers += amount
  }
}

/** A quota of resources that are in use for some time, such as sockets. */
export class Quota {
  readonly #limits: QuotaLimits
  readonly #texts: QuotaTexts
  readonly #use: QuotaUse

  constructor(limits: QuotaLimits, texts: QuotaTexts) {
    this.#limits = limits
    this.#texts = texts
    this.#use = new QuotaUse(limits)
  }

  /** Counts the amount until the returned function is called. Throws a Fault if the amount does not fit. */
  take(caller: QuotaCaller, amount = 1): () => void {
    const exceeded = this.#use.exceeded(caller, amount)
    if (exceeded) throw this.#fault(caller, exceeded)
    this.#use.add(caller, amount)
    let taken = true
    return () => {
      if (taken) this.#use.add(caller, -amount)
      taken = false
    }
  }

  #fault(caller: QuotaCaller, exceeded: 'own' | 'total'): Fault {
    const { unit, advice } = this.#texts
    return exceeded === 'own'
      ? new Fault(
          'too_many',
          `This credential has reached its limit of ${shareOf(this.#limits, caller)} ${unit}. ${advice}`,
        )
      : new Fault('too_many', `All credentials together have reached the limit of ${unit}. Try again later.`)
  }
}

/** The number of credentials whose recent use is kept. Above it, the use of the credential that was idle longest is discarded. */
const trackedMax = 10_000

/** A quota of an amount per minute. Each credential can use the amount of a minute at once, and then continues at that rate. */
export class RateQuota {
  readonly #limits: RoleLimits
  readonly #texts: QuotaTexts
  readonly #clock: Clock
  readonly #recent = new Map<string, { used: number; at: number }>()

  constructor(limits: RoleLimits, texts: QuotaTexts, clock: Clock) {
    this.#limits = limits
    this.#texts = texts
    this.#clock = clock
  }

  /** Throws a Fault if the credential has used up its amount. The last use may exceed the amount, so that a single large call is never refused forever. */
  take(caller: QuotaCaller, amount: number): void {
    const perMinute = shareOf(this.#limits, caller)
    const now = this.#clock.now()
    const known = this.#recent.get(caller.token)
    const passedMs = known ? Math.max(0, now - known.at) : 0
    const used = Math.max(0, (known?.used ?? 0) - (passedMs / 60_000) * perMinute)
    if (used >= perMinute) {
      const { unit, advice } = this.#texts
      throw new Fault('too_many', `This credential has reached its limit of ${perMinute} ${unit}. ${advice}`)
    }
    // Deleting first keeps the map in the order of the last use.
    this.#recent.delete(caller.token)
    this.#recent.set(caller.token, { used: used + amount, at: now })
    const [oldest = ''] = this.#recent.keys()
    if (this.#recent.size > trackedMax) this.#recent.delete(oldest)
  }
}
