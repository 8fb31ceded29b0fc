/** Limits wrong tokens and sign-in codes per source address. Valid credentials always work, because everybody on one machine, or behind one proxy, has the same address. Secrets are so long that guessing them is hopeless at any speed. */
import { Fault, limits } from '@holdpoint/protocol'

const windowMs = 60_000

export class WrongAttempts {
  readonly #now: () => number
  /** The wrong attempts of each source in the current window. */
  #bySource = new Map<string, number>()
  #total = 0
  #windowStart: number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#windowStart = now()
  }

  /** Counts a wrong attempt, and returns the fault for it: the given one, or `too_many` if there were too many before. */
  refuse(source: string, fault: Fault): Fault {
    this.#startWindow()
    // The total also bounds the number of sources, so that the memory stays small.
    if (this.#total < limits.wrongAttemptsTotalMax) {
      this.#total++
      const attempts = (this.#bySource.get(source) ?? 0) + 1
      this.#bySource.set(source, attempts)
      if (attempts <= limits.wrongAttemptsMax) return fault
    }
    return new Fault(
      'too_many',
      'Too many wrong tokens or codes were sent. Check the token or the link, and try again in a minute.',
    )
  }

  #startWindow(): void {
    const now = this.#now()
    if (now - this.#windowStart < windowMs) return
    this.#windowStart = now
    this.#bySource = new Map()
    this.#total = 0
  }
}

/** Returns the part of an address that one machine or network cannot easily change: an IPv4 address, or the first half of an IPv6 address. A Unix socket has no address. */
export function sourceOf(address: string | undefined): string {
  if (address === undefined) return 'local'
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
  const groupsOf = (text: string) => text.split(':').filter(group => group !== '')
  const zeros = '0:'.repeat(Math.max(0, 8 - groupsOf(plain).length))
  return groupsOf(plain.replace('::', `:${zeros}`))
    .slice(0, 4)
    .join(':')
}
