/** How often something is done again: as many rounds as were asked for on the command line, or as fit into a while; always one. */

export interface Budget {
  /** Whether there is another round; counts it. */
  next(): boolean
  readonly done: number
}

export function budget(ms: number): Budget {
  const asked = process.env.HOLDPOINT_ROUNDS
  const endsAt = Date.now() + ms
  let done = 0
  return {
    next() {
      const more = done === 0 || (asked === undefined ? Date.now() < endsAt : done < Number(asked))
      if (more) done++
      return more
    },
    get done() {
      return done
    },
  }
}
