/** Decides whether a number in JSON text keeps its value when it is parsed. Digests, the page and agents must all see the number that was sent, so a number that would change is refused. */

/** A decimal number as 0.DIGITS × 10^exponent. `first` and `last` are the indexes of its first and last nonzero digit in the text; `first` is -1 if the number is zero. */
interface Decimal {
  readonly first: number
  readonly last: number
  /** The number of digits from the first to the last nonzero digit. */
  readonly digits: number
  readonly exponent: number
}

/** A double keeps every decimal number of up to 15 digits between 1e-307 and 1e308, and no number of more than 17 digits is the shortest form of a double. */
const digitsAlwaysKept = 15
const digitsMax = 17
const exponentAlwaysKept = { min: -306, max: 308 }
/** Larger numbers become infinite, smaller ones become zero. */
const exponentRange = { min: -330, max: 310 }
/** Exponents are counted up to this value. No text is long enough to make up for a larger exponent with zeros. */
const exponentCountMax = 1e9

/** Returns whether the number at `start` (up to `end`) has exactly the value of the shortest decimal number that parses to the same double, for example 1.0, 1e3 and -0, but not 9007199254740993 or 1e-400. The text must be a valid JSON number. */
export function keepsValue(text: string, start: number, end: number): boolean {
  const written = readDecimal(text, start, end)
  if (written.first < 0) return true
  const { digits, exponent } = written
  if (digits <= digitsAlwaysKept && exponent >= exponentAlwaysKept.min && exponent <= exponentAlwaysKept.max)
    return true
  if (digits > digitsMax || exponent < exponentRange.min || exponent > exponentRange.max) return false
  const parsed = Number(text.slice(start, end))
  if (parsed === 0 || !Number.isFinite(parsed)) return false
  const shortest = String(parsed)
  const kept = readDecimal(shortest, 0, shortest.length)
  return kept.digits === digits && kept.exponent === exponent && hasSameDigits(text, written, shortest, kept)
}

function readDecimal(text: string, start: number, end: number): Decimal {
  let first = -1
  let last = -1
  let place = 0
  let firstPlace = 0
  let lastPlace = 0
  let pointPlace = -1
  let at = start
  for (; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) {
      place++
      if (code === 0x30) continue
      if (first < 0) {
        first = at
        firstPlace = place
      }
      last = at
      lastPlace = place
    } else if (code === 0x2e) pointPlace = place
    else if (code === 0x65 || code === 0x45) break
  }
  const beforePoint = pointPlace < 0 ? place : pointPlace
  const digits = first < 0 ? 0 : lastPlace - firstPlace + 1
  return { first, last, digits, exponent: beforePoint - firstPlace + 1 + readExponent(text, at + 1, end) }
}

function readExponent(text: string, start: number, end: number): number {
  let value = 0
  let sign = 1
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x2d) sign = -1
    else if (code !== 0x2b) value = Math.min(value * 10 + code - 0x30, exponentCountMax)
  }
  return sign * value
}

/** Compares the digits of two numbers that have equally many, skipping their points. */
function hasSameDigits(a: string, inA: Decimal, b: string, inB: Decimal): boolean {
  for (let i = inA.first, j = inB.first; i <= inA.last; i++, j++) {
    if (a.charCodeAt(i) === 0x2e) i++
    if (b.charCodeAt(j) === 0x2e) j++
    if (a.charCodeAt(i) !== b.charCodeAt(j)) return false
  }
  return true
}
