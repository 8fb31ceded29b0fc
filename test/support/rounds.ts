/** Counts the rounds of a test. There are as many rounds as HOLDPOINT_ROUNDS says, or as many as fit into the given time, and at least one. */

export interface Rounds {
  /** Starts another round. Returns false if there are no more rounds. */
  next(): boolean
  readonly done: number
}

export function startRounds(ms: number): Rounds {
  const requested = process.env.HOLDPOINT_ROUNDS
  const endsAt = Date.now() + ms
  let done = 0
  return {
    next() {
      const more = done === 0 || (requested === undefined ? Date.now() < endsAt : done < Number(requested))
      if (more) done++
      return more
    },
    get done() {
      return done
    },
  }
}
