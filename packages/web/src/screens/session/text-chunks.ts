/** Splits long texts into chunks of limited size, at line ends if possible. */

const linesMax = 60
const charsMax = 6000

/** Returns the chunks of a text. A chunk that ends at a line break does not include the line break. */
export function chunksOf(text: string): readonly string[] {
  const chunks: string[] = []
  let lines: string[] = []
  let size = 0
  const flush = () => {
    if (lines.length > 0) chunks.push(lines.join('\n'))
    lines = []
    size = 0
  }
  for (const line of text.split('\n')) {
    if (lines.length >= linesMax || size + line.length > charsMax) flush()
    if (line.length > charsMax) chunks.push(...splitLine(line))
    else {
      lines.push(line)
      size += line.length + 1
    }
  }
  flush()
  return chunks
}

/** Splits one very long line, never inside a surrogate pair. */
function splitLine(line: string): string[] {
  const parts: string[] = []
  for (let from = 0; from < line.length; ) {
    const to = from + charsMax
    const end = /[\udc00-\udfff]/.test(line[to] ?? '') ? to + 1 : to
    parts.push(line.slice(from, end))
    from = end
  }
  return parts
}

export function lineCount(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Returns the beginning of a text: at most `lines` lines and `chars` characters. */
export function headOf(text: string, lines: number, chars: number): string {
  let end = -1
  for (let i = 0; i < lines; i++) {
    const next = text.indexOf('\n', end + 1)
    if (next === -1) {
      end = text.length
      break
    }
    end = next
  }
  const head = text.slice(0, Math.min(end, chars))
  return head.toWellFormed() === head ? head : head.slice(0, -1)
}
