/** A plan set for reading: as it was written, every character of it, with its headings, lists, quotes and code told apart by look and indent. */
import { displayText } from '@holdpoint/client'
import { gutterOf, quotedRow, quotedRows, type Row, Span, trusted } from './span.ts'
import { widthOf } from './width.ts'

const fence = /^\s{0,3}(`{3,}|~{3,})(.*)$/
const heading = /^(#{1,6}\s+)(.*)$/
const quote = /^\s*>/
const listItem = /^(\s*(?:[-*+]|\d{1,9}[.)])\s+)(.*)$/
const blankLine = /^[ \t]*$/
/** So far a line that goes on is set under its beginning. */
const hangingIndentMax = 12

/** Markup is dimmed, never dropped: what is approved is the text, and there may be no colours. */
export function planRows(plan: string): readonly Row[] {
  const rows: Row[] = []
  const lines = plan.replace(/\n$/, '').split('\n')
  let open: string | null = null
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const mark: string | undefined = fence.exec(line)?.[1]
    if (blankLine.test(line)) {
      const from = at
      while (at + 1 < lines.length && blankLine.test(lines[at + 1] ?? '')) at++
      rows.push(...quotedRows(lines.slice(from, at + 1).join('\n')))
    } else if (open !== null && !(mark?.startsWith(open) && line.trim() === mark)) rows.push(codeRow(line))
    else if (mark !== undefined) {
      open = open === null ? mark : null
      rows.push({ ...quotedRow(''), spans: [displayedSpan(line, 'quiet')] })
    } else rows.push(proseRow(line))
  }
  return rows
}

function codeRow(line: string): Row {
  const { gutter } = quotedRow('')
  return { gutter: gutterOf(`${gutter.first}  `), spans: [displayedSpan(line)] }
}

function proseRow(line: string): Row {
  const { gutter } = quotedRow('')
  if (quote.test(line)) return { gutter, spans: [displayedSpan(line, 'quiet')] }
  const [, marks = '', title = ''] = heading.exec(line) ?? []
  if (marks !== '') return { gutter, spans: [displayedSpan(marks, 'quiet'), displayedSpan(title, 'strong')] }
  const [, sign = '', said = line] = listItem.exec(line) ?? []
  const hang = Math.min(hangingIndentMax, widthOf(sign))
  return {
    gutter: { ...gutter, rest: `${gutter.rest}${' '.repeat(hang)}` },
    spans: [displayedSpan(sign), ...emphasized(said)],
  }
}

/** What stands between two double asterisks is strong. */
function emphasized(text: string): readonly Span[] {
  const parts = text.split('**')
  const closed = parts.length % 2 === 1 ? parts.length : parts.length - 1
  return parts.flatMap((part, index) => [
    ...(index > 0 ? [trusted('**', index < closed ? 'quiet' : null)] : []),
    displayedSpan(part, index % 2 === 1 && index < closed ? 'strong' : null),
  ])
}

function displayedSpan(text: string, look: Span['style'] = null): Span {
  return Span.displayed(displayText(text, { multiline: true }), look)
}
