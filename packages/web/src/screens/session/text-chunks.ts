/** Long texts in bounded pieces, cut at line ends where there are any. */

const linesMax = 60
const charsMax = 6000

/** Together the chunks, joined by line feeds where they ended at one, are the text. */
export function chunksOf(text: string): readonly string[] {
  const chunks: string[] = []
  let held: string[] = []
  let size = 0
  const settle = () => {
    if (held.length > 0) chunks.push(held.join('\n'))
    held = []
    size = 0
  }
  for (const line of text.split('\n')) {
    if (held.length >= linesMax || size + line.length > charsMax) settle()
    if (line.length > charsMax) chunks.push(...cut(line))
    else {
      held.push(line)
      size += line.length + 1
    }
  }
  settle()
  return chunks
}

/** One endless line: cut where no character is parted from its second half. */
function cut(line: string): string[] {
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

/** The beginning of a text, as much as fits without scrolling far. */
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
