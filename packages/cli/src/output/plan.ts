/** Formats a plan for reading: headings, lists, quotes and code get a style and an indent, and every character stays visible. */
import { displayText, exactText } from '@holdpoint/client'
import { gutterOf, quotedRow, quotedRows, type Row, Span, trusted } from './span.ts'
import { widthOf } from './width.ts'

/** Markup at the start of a line. The patterns do not match the rest of the line, so that a long line takes linear time. */
const fence = /^\s{0,3}(`{3,}|~{3,})/
const heading = /^#{1,6}\s/
const quote = /^\s*>/
const listItem = /^\s*(?:[-*+]|\d{1,9}[.)])\s/
const blankLine = /^[ \t]*$/
/** Limits the hanging indent, so that a long list marker leaves room for text. */
const hangingIndentMax = 12

/** Dims markup instead of removing it, because people approve the text as written and the terminal may have no colors. */
export function planRows(plan: string): readonly Row[] {
  const rows: Row[] = []
  const lines = plan.replace(/\n$/, '').split('\n')
  let openFence: string | null = null
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const marker: string | undefined = fence.exec(line)?.[1]
    if (blankLine.test(line)) {
      const from = index
      while (index + 1 < lines.length && blankLine.test(lines[index + 1] ?? '')) index++
      rows.push(...quotedRows(lines.slice(from, index + 1).join('\n')))
    } else if (openFence !== null && !(marker?.startsWith(openFence) && line.trim() === marker))
      rows.push(codeRow(line))
    else if (marker !== undefined) {
      openFence = openFence === null ? marker : null
      rows.push({ ...quotedRow(''), spans: [displayedSpan(line, 'quiet')] })
    } else rows.push(proseRow(line))
  }
  return rows
}

function codeRow(line: string): Row {
  const { gutter } = quotedRow('')
  const shown = exactText(line, { multiline: true })
  return { gutter: gutterOf(`${gutter.first}  `), spans: [Span.displayed(shown, null)] }
}

function proseRow(line: string): Row {
  const { gutter } = quotedRow('')
  if (quote.test(line)) return { gutter, spans: [displayedSpan(line, 'quiet')] }
  const [hashes, title] = splitAfter(line, heading)
  if (hashes !== '') return { gutter, spans: [displayedSpan(hashes, 'quiet'), displayedSpan(title, 'strong')] }
  const [bullet, text] = splitAfter(line, listItem)
  const indent = Math.min(hangingIndentMax, widthOf(bullet))
  return {
    gutter: { ...gutter, rest: `${gutter.rest}${' '.repeat(indent)}` },
    spans: [displayedSpan(bullet), ...emphasized(text)],
  }
}

/** Splits a line after its markup and the blanks that follow it. The markup is empty if the line has none. */
function splitAfter(line: string, markup: RegExp): readonly [markup: string, text: string] {
  const found = markup.exec(line)
  if (!found) return ['', line]
  const text = line.slice(found[0].length).trimStart()
  return [line.slice(0, line.length - text.length), text]
}

/** Makes the text between two double asterisks bold. */
function emphasized(text: string): readonly Span[] {
  const parts = text.split('**')
  const closed = parts.length % 2 === 1 ? parts.length : parts.length - 1
  return parts.flatMap((part, index) => [
    ...(index > 0 ? [trusted('**', index < closed ? 'quiet' : null)] : []),
    displayedSpan(part, index % 2 === 1 && index < closed ? 'strong' : null),
  ])
}

function displayedSpan(text: string, style: Span['style'] = null): Span {
  return Span.displayed(displayText(text, { multiline: true }), style)
}
