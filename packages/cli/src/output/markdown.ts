/**
 * Formats an agent's Markdown for a terminal. Every piece of text goes through the escaping of span.ts, links show their target,
 * and a block whose formatting would change how its text is escaped is shown as source.
 */
import {
  childTokens,
  displayText,
  exactText,
  hidesCells,
  type MarkdownBlock,
  type MarkdownList,
  type MarkdownTable,
  readBlocks,
  withoutOuterBlankLines,
} from '@holdpoint/client'
import { quotedRow, quotedRows, type Row, Span, type Style, trusted } from './span.ts'
import { widthOf, widthOfSpans } from './width.ts'

/** Nested markup below this depth is shown as source. */
const depthMax = 12
/** Tables need at least this many columns for each cell; otherwise each cell gets its own row. */
const cellMin = 4
const cellGap = 2

/** Returns the rows of a text, each with a bar in front. `columns` is the width of the screen. */
export function markdownRows(text: string, columns: number): readonly Row[] {
  const trimmed = withoutOuterBlankLines(text.replaceAll('\r\n', '\n'))
  if (trimmed === '') return []
  const blocks = readBlocks(trimmed)
  return blocks ? blockRows(blocks, columns) : quotedRows(trimmed)
}

/** Splits a text that is still growing into the part whose blocks no longer change and the rest. */
export function splitGrowing(text: string): readonly [finished: string, growing: string] {
  const blocks = readBlocks(text)
  if (!blocks) return splitAfterLine(text)
  const finished = finishedBlocks(blocks)
    .map(({ raw }) => raw)
    .join('')
  // The lexer replaces some characters, so the blocks may differ from the text.
  return text.startsWith(finished) ? [finished, text.slice(finished.length)] : ['', text]
}
/** Returns the blocks before the last one. A list before a lone number is not finished either, because the number may belong to the next item. */
function finishedBlocks(blocks: readonly MarkdownBlock[]): readonly MarkdownBlock[] {
  const [last, before] = blocks.filter(({ type }) => type !== 'space').toReversed()
  const growing = before?.type === 'list' && /^\d+$/.test(last?.raw ?? '') ? before : last
  return growing ? blocks.slice(0, blocks.indexOf(growing)) : []
}
function splitAfterLine(text: string): readonly [string, string] {
  const end = text.lastIndexOf('\n') + 1
  return [text.slice(0, end), text.slice(end)]
}

/** A blank row separates two blocks if a blank line does in the source. */
function blockRows(blocks: readonly MarkdownBlock[], columns: number): readonly Row[] {
  const rows: Row[] = []
  let lineBreaks = 0
  for (const block of blocks) {
    const next = rowsOf(block, { indent: '', columns, depth: 0 })
    if (next.length > 0 && rows.length > 0 && lineBreaks > 1) rows.push(quotedRow(''))
    rows.push(...next)
    const { raw } = block
    const ending = raw.slice(raw.trimEnd().length).split('\n').length - 1
    lineBreaks = next.length > 0 ? ending : lineBreaks + ending
  }
  return rows
}

interface BlockContext {
  /** Our own text in front of each line, such as the indent of a list. */
  readonly indent: string
  readonly columns: number
  readonly depth: number
}

function rowsOf(block: MarkdownBlock, context: BlockContext): readonly Row[] {
  if (context.depth > depthMax) return sourceRows(block.raw, context)
  switch (block.type) {
    case 'space':
      return []
    case 'heading':
      return inlineRows(block, context, 'strong')
    case 'paragraph':
    case 'text':
      return inlineRows(block, context)
    case 'code':
      return codeBlockRows(block.text, block.lang ?? '', context)
    case 'blockquote':
      return nestedRows(childTokens(block), { ...context, indent: `${context.indent}> ` })
    case 'list':
      return listRows(block, context)
    case 'table':
      return hidesCells(block) ? sourceRows(block.raw, context) : tableRows(block, context)
    case 'hr':
      return [rowWith([trusted('───', 'quiet')], context)]
    default:
      return sourceRows(block.raw, context)
  }
}
function nestedRows(blocks: readonly MarkdownBlock[], context: BlockContext): readonly Row[] {
  return blocks.flatMap(block => rowsOf(block, { ...context, depth: context.depth + 1 }))
}

/** Shows the text as the agent wrote it. */
function sourceRows(raw: string, context: BlockContext): readonly Row[] {
  return displayText(raw.trimEnd(), { multiline: true })
    .split('\n')
    .map(line => rowWith([Span.displayed(line, null)], context))
}

function codeBlockRows(text: string, info: string, context: BlockContext): readonly Row[] {
  const inner = { ...context, indent: `${context.indent}    ` }
  const title = info === '' ? [] : [rowWith([trusted(displayText(info), 'quiet')], context)]
  const lines = exactText(text, { multiline: true }).split('\n')
  return [...title, ...lines.map(line => rowWith([Span.displayed(line, 'code')], inner))]
}

function listRows({ items, ordered, start }: MarkdownList, context: BlockContext): readonly Row[] {
  return items.flatMap((item, index) => {
    const mark = ordered ? `${Number(start) + index}. ` : '• '
    const rest = ' '.repeat(widthOf(mark))
    const blocks = childTokens(item).filter(({ type }) => type !== 'checkbox')
    const box = item.task ? (item.checked ? '[x] ' : '[ ] ') : ''
    const [first, ...more] = nestedRows(blocks, { ...context, indent: context.indent + rest })
    const { gutter, spans } = first ?? rowWith([], { ...context, indent: context.indent + rest })
    // The mark replaces the indent of the first row. A nested block may have added more indent after it.
    const at = barWidth + context.indent.length
    const marked = { ...gutter, first: gutter.first.slice(0, at) + mark + gutter.first.slice(at + rest.length) }
    return [{ gutter: marked, spans: box === '' ? spans : [trusted(box), ...spans] }, ...more]
  })
}
const barWidth = quotedRow('').gutter.first.length

function tableRows({ header, rows }: MarkdownTable, context: BlockContext): readonly Row[] {
  const spansOf = (cell: MarkdownTable['header'][number], style: Style | null = null) =>
    inlineSpans(cell.tokens as MarkdownBlock[], style) ?? [Span.displayed(displayText(cell.text), style)] // without extensions, marked returns no other token types
  const head = header.map(cell => spansOf(cell, 'strong'))
  const body = rows.map(cells => cells.map(cell => spansOf(cell)))
  const widths = head.map((_, index) =>
    Math.max(cellMin, ...[head, ...body].map(cells => widthOfSpans(cells[index] ?? []))),
  )
  const total = widths.reduce((sum, width) => sum + width + cellGap, 0)
  if (total > context.columns - barWidth - context.indent.length) return stackedRows(head, body, context)
  const line = (cells: readonly (readonly Span[])[]) =>
    rowWith(
      cells.flatMap((spans, index) => [
        ...spans,
        trusted(' '.repeat((widths[index] ?? 0) - widthOfSpans(spans) + cellGap)),
      ]),
      context,
    )
  return [
    line(head),
    rowWith([trusted(widths.map(width => '─'.repeat(width)).join('  '), 'quiet')], context),
    ...body.map(line),
  ]
}
/** A table that is too wide: each cell is in its own row after the name of its column. */
function stackedRows(
  head: readonly (readonly Span[])[],
  body: readonly (readonly (readonly Span[])[])[],
  context: BlockContext,
): readonly Row[] {
  return body.flatMap((cells, index) => [
    ...(index > 0 ? [rowWith([trusted('─', 'quiet')], context)] : []),
    ...cells.map((spans, column) => rowWith([...(head[column] ?? []), trusted(': ', 'quiet'), ...spans], context)),
  ])
}

function inlineRows(block: MarkdownBlock, context: BlockContext, style: Style | null = null): readonly Row[] {
  const tokens = childTokens(block)
  const spans = inlineSpans(tokens.length > 0 ? tokens : [block], style)
  return spans ? linesOf(spans).map(line => rowWith(line, context)) : sourceRows(block.raw, context)
}

/** A piece of text with its style. `isOurs` marks text that Holdpoint adds, such as brackets. */
interface Piece {
  readonly text: string
  readonly style: Style | null
  readonly isCode?: boolean
  readonly isOurs?: boolean
}

/** Returns null if the pieces are escaped differently when they stand together, because then they could imitate an escape or a marker. */
function inlineSpans(tokens: readonly MarkdownBlock[], style: Style | null): readonly Span[] | null {
  const pieces = piecesOf(tokens, style, 0)
  if (!pieces) return null
  const escaped = pieces.map(({ text, isCode }) => (isCode ? exactText : displayText)(text, { multiline: true }))
  const together = pieces.map(({ text }) => text).join('')
  const hasCode = pieces.some(({ isCode }) => isCode)
  const expected = (hasCode ? exactText : displayText)(together, { multiline: true })
  const apart = hasCode ? pieces.map(({ text }) => exactText(text, { multiline: true })).join('') : escaped.join('')
  if (apart !== expected) return null
  return pieces.map(({ style: own, isOurs }, index) =>
    isOurs ? trusted(escaped[index] ?? '', own) : Span.prepared(escaped[index] ?? '', own),
  )
}

function piecesOf(tokens: readonly MarkdownBlock[], style: Style | null, depth: number): readonly Piece[] | null {
  if (depth > depthMax) return null
  const pieces: Piece[] = []
  for (const token of tokens) {
    const next = piecesOfToken(token, style, depth)
    if (!next) return null
    pieces.push(...next)
  }
  return pieces
}

function piecesOfToken(token: MarkdownBlock, style: Style | null, depth: number): readonly Piece[] | null {
  const inner = (own: Style | null) => piecesOf(childTokens(token), own, depth + 1)
  const ours = (text: string): Piece => ({ text, style: 'quiet', isOurs: true })
  switch (token.type) {
    case 'strong':
      return inner('strong')
    case 'em':
      return inner(style ?? 'emphasis')
    case 'del': {
      // Text that was crossed out must not read as if it were valid.
      const text = inner('quiet')
      return text && [ours('~~'), ...text, ours('~~')]
    }
    case 'codespan':
      return [ours('`'), { text: token.text, style: 'code', isCode: true }, ours('`')]
    case 'br':
      return [{ text: '\n', style }]
    case 'link': {
      const text = inner(style)
      const title = token.title ? ` "${token.title}"` : ''
      if (!text || (token.text === token.href && title === '')) return text
      return [...text, ours(' ('), { text: `${token.href}${title}`, style: 'quiet', isCode: true }, ours(')')]
    }
    case 'text':
    case 'escape':
      return 'tokens' in token && token.tokens ? inner(style) : [{ text: token.text, style }]
    default:
      // Images, HTML and everything else are shown as source.
      return [{ text: token.raw, style }]
  }
}

/** Splits spans at their line breaks. */
function linesOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  const lines: Span[][] = [[]]
  for (const span of spans) {
    let rest = span
    for (let at = rest.text.indexOf('\n'); at >= 0; at = rest.text.indexOf('\n')) {
      const [before, after] = rest.split(at)
      lines.at(-1)?.push(before)
      lines.push([])
      rest = after.split(1)[1]
    }
    if (rest.text !== '') lines.at(-1)?.push(rest)
  }
  return lines
}

function rowWith(spans: readonly Span[], { indent }: BlockContext): Row {
  const { gutter } = quotedRow('')
  return { gutter: { first: gutter.first + indent, rest: gutter.rest + ' '.repeat(widthOf(indent)) }, spans }
}
