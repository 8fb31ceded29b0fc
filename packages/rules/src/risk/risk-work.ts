/** Limits how much work the risk of one call may take, so that no text can keep the gateway busy. */

export class TooMuchWork extends Error {}

/** One unit takes about two microseconds. */
const unitsMax = 5000
const secretUnits = 4

export class RiskWork {
  #left = unitsMax
  readonly #secrets = new Map<string, boolean>()

  /** Throws `TooMuchWork` if the limit for this call is reached. */
  spend(units: number): void {
    this.#left -= units
    if (this.#left < 0) throw new TooMuchWork()
  }

  /** Remembers the result for a path, because wrappers repeat the same words many times. */
  isSecret(path: string, look: (path: string) => boolean): boolean {
    const known = this.#secrets.get(path)
    if (known !== undefined) return known
    this.spend(secretUnits + countParts(path))
    const found = look(path)
    this.#secrets.set(path, found)
    return found
  }
}

function countParts(path: string): number {
  let count = 1
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) count++
  return count
}
