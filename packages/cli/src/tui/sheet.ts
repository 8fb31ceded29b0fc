/** A prompt as it stands on a screen of a given size: its head, as much of its body as fits, and what can be done. */
import { actionLabel } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { ours, type Row, row, type Span, theirs } from '../text/span.ts'
import { cut, cutSpans, type Piece, wrap } from '../text/width.ts'
import { approvalSheet } from './approval-sheet.ts'
import { layFoot } from './foot.ts'
import { formSheet } from './form-sheet.ts'
import { type Prompt, sawPrompt, type View } from './prompt.ts'
import { questionsSheet } from './questions-sheet.ts'
import { emptyFoot, type Foot, type Sheet } from './sheet-rows.ts'

export interface Place {
  readonly columns: number
  readonly height: number
}
/** Which of how many it is. */
export interface Count {
  readonly at: number
  readonly of: number
}
export interface Around extends Count {
  /** Who else is writing an answer to it. */
  readonly others?: readonly string[]
  readonly standing?: Standing
}
export interface Laid {
  readonly pieces: readonly Piece[]
  readonly view: View
}

/** In less than this nothing is shown, and nothing is answered. */
const least: Place = { columns: 20, height: 4 }
/** So high a screen has room for a second line of the head. */
const tallFrom = 10
/** So much of the head is left to the count, whatever a tool is called. */
const countRoom = 24

/** Just appeared, so that no key counts yet; live; on its way; without a gateway; or only looked at, by someone whose keys go elsewhere. */
export type Standing = 'quiet' | 'live' | 'sending' | 'away' | 'preview'

/** Never more lines than there is room for: what the view counts is what can be seen. */
export function layPrompt(prompt: Prompt, place: Place, { standing = 'live', ...around }: Around): Laid {
  const { columns } = place
  if (columns < least.columns || place.height < least.height) return tooSmall(place)
  const laid = (rows: readonly Row[]) => rows.flatMap(one => lay(one, columns))
  const sheet = sheetOf(prompt)
  const head = laid([headRow(prompt, around, columns)]).slice(0, place.height < tallFrom ? 1 : 2)
  const room = place.height - head.length - 1
  const footFor = (one: Sheet) => layFoot(footOf(one, standing), prompt.hint, { columns, lines: room })
  const body = sheet.body.map(one => lay(one, columns))
  const lines = countLines(body)
  const below = footFor(sheet)
  if (!below) return tooSmall(place)
  const height = Math.min(lines, room - below.length)
  const focus = sheet.focus === null ? null : spanOf(body, sheet.focus)
  const top = topOf(prompt, { columns, lines, height, focus })
  const chosen = focus && sheet.chosen !== undefined ? { chosen: { at: sheet.chosen, ...focus } } : {}
  const view = { columns, lines, height, top, ...chosen }
  const seen = sawPrompt(prompt, view)
  const window = body.flat().slice(view.top, view.top + height)
  const pager = height < lines ? [cutSpans(pagerRow(view, seen.shown).spans, columns)] : [[]]
  const keys = seen.shown === prompt.shown ? below : (footFor(sheetOf(seen)) ?? below)
  // The place of the keys is kept, so that nothing jumps when they come.
  const foot = standing === 'quiet' ? keys.map((): Piece => []) : keys
  return { pieces: [...head, ...window, ...pager, ...foot], view }
}

function tooSmall({ columns, height }: Place): Laid {
  const words = ours('Too small a screen for what is asked: enlarge it.', 'waiting')
  const pieces = height < 1 ? [] : [cutSpans([words], columns)]
  return { pieces, view: { columns, lines: Number.POSITIVE_INFINITY, height: 0, top: 0 } }
}

/** Rows that stay are laid out once for a width. */
const known = new WeakMap<Row, { readonly columns: number; readonly pieces: readonly Piece[] }>()

function lay(one: Row, columns: number): readonly Piece[] {
  const before = known.get(one)
  if (before?.columns === columns) return before.pieces
  const pieces = wrap(one, columns)
  known.set(one, { columns, pieces })
  return pieces
}
function countLines(body: readonly (readonly Piece[])[]): number {
  return body.reduce((sum, pieces) => sum + pieces.length, 0)
}
/** Where a row stands in the body, line by line. */
function spanOf(body: readonly (readonly Piece[])[], at: number): { readonly from: number; readonly to: number } {
  const from = countLines(body.slice(0, at))
  return { from, to: from + (body[at]?.length ?? 0) }
}

function footOf(sheet: Sheet, standing: Standing): Foot {
  const says = (words: string, look: 'quiet' | 'waiting'): Foot => ({ ...emptyFoot, foot: [row(ours(words, look))] })
  if (standing === 'sending') return says('Sending …', 'quiet')
  if (standing === 'away') return says(awayWords, 'waiting')
  return standing === 'preview' ? says('Enter opens it, to be answered.', 'quiet') : sheet
}

const awayWords = 'The gateway is away; trying again. Nothing can be answered until it is back. Ctrl+C twice leaves.'

function sheetOf(prompt: Prompt): Sheet {
  const { part, request } = prompt
  const { ask } = request
  if (part.kind === 'approval' && ask.kind === 'approval') return approvalSheet(prompt, ask, part)
  if (part.kind === 'questions' && ask.kind === 'questions') return questionsSheet(ask, part)
  if (part.kind === 'form' && ask.kind === 'form') return formSheet(ask, part)
  return { body: [], focus: null, ...emptyFoot }
}

function topOf(
  { top, follows, shown, seen }: Prompt,
  {
    columns,
    lines,
    height,
    focus,
  }: Omit<View, 'top'> & { readonly focus: { readonly from: number; readonly to: number } | null },
): number {
  const last = Math.max(0, lines - height)
  if (follows && focus)
    // All of the focus is in sight, or its beginning.
    return Math.min(last, focus.from, Math.max(Math.min(top, focus.from), focus.to - height))
  // In another width it is read from its beginning, if it was not read to its end.
  const anew = !shown && seen.columns > 0 && seen.columns !== columns
  return anew ? 0 : Math.min(top, last)
}

/** What is ours comes first; the names of agents may be cut. */
function headRow({ request }: Prompt, { at, of, others = [] }: Around, columns: number): Row {
  const path = request.agentPath.flatMap(name => [ours(' › ', 'quiet'), theirs(name, 'quiet')])
  return row(
    ours('● ', 'waiting'),
    ours(cut(actionLabel(request.ask), Math.max(countRoom, columns - countRoom)), 'strong'),
    ...(of > 1 ? [ours(`  request ${at} of ${of}`, 'waiting')] : []),
    ...othersSpans(others),
    ...deadlineSpans(request),
    ...cutSpans(path, Math.floor(columns / 2)),
  )
}

const nameMax = 20
function othersSpans([first, ...more]: readonly string[]): readonly Span[] {
  if (first === undefined) return []
  if (more.length > 0) return [ours(`  ${more.length + 1} others are answering`, 'strong')]
  return [ours('  '), ...cutSpans([theirs(first, 'strong')], nameMax), ours(' is answering', 'strong')]
}

function deadlineSpans({ deadlineAt, onDeadline, overdue }: Request): readonly Span[] {
  if (deadlineAt === null) return []
  if (overdue) return [ours('  overdue', 'waiting')]
  const time = new Date(deadlineAt).toTimeString().slice(0, 5)
  return [ours(onDeadline === 'deny' ? `  until ${time}, then nobody has answered` : `  wanted by ${time}`, 'quiet')]
}

function pagerRow({ top, height, lines }: View, shown: boolean): Row {
  const how = shown ? 'space and arrows page' : 'space shows more'
  return row(ours(`── lines ${top + 1}–${top + height} of ${lines} · ${how} ──`, 'quiet'))
}
