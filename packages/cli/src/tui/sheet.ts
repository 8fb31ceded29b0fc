/** A prompt as it stands on a screen of a given size: its head, as much of its body as fits, and what can be done. */
import { deed } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { ours, type Row, row, type Span, theirs } from '../text/span.ts'
import { type Piece, wrap } from '../text/width.ts'
import { approvalSheet } from './approval-sheet.ts'
import { formSheet } from './form-sheet.ts'
import type { Prompt, View } from './prompt.ts'
import { questionsSheet } from './questions-sheet.ts'
import { keyRows, type Sheet } from './sheet-rows.ts'

export interface Place {
  readonly columns: number
  readonly height: number
}
/** Which of how many it is. */
export interface Count {
  readonly at: number
  readonly of: number
}
export interface Laid {
  readonly pieces: readonly Piece[]
  readonly view: View
}

const bodyMin = 3
const headMax = 2

/** Just appeared, so that no key counts yet; live; on its way; or only looked at, by someone whose keys go elsewhere. */
export type Standing = 'quiet' | 'live' | 'sending' | 'preview'

export function layPrompt(prompt: Prompt, place: Place, count: Count, standing: Standing = 'live'): Laid {
  const laid = (rows: readonly Row[]) => rows.flatMap(one => lay(one, place.columns))
  const sheet = sheetOf(prompt)
  const head = laid([headRow(prompt, count)]).slice(0, headMax)
  const hint = prompt.hint === null ? [] : laid([row(ours(prompt.hint, 'strong'))])
  // On a screen that is too small for everything, what is asked comes before what the keys do.
  const footMax = Math.max(1, place.height - head.length - 1 - bodyMin)
  const footFor = (one: Sheet) => [...hint, ...laid(footOf(one, standing, place.columns))].slice(0, footMax)
  const body = sheet.body.map(one => lay(one, place.columns))
  const lines = countLines(body)
  const room = place.height - head.length - footFor(sheet).length - 1
  const fits = lines <= room
  const height = Math.max(bodyMin, Math.min(lines, room))
  const focus = sheet.focus === null ? null : countLines(body.slice(0, sheet.focus + 1))
  const top = topOf(prompt, { lines, height, focus })
  const shown = prompt.shown || top + height >= lines
  const window = body.flat().slice(top, top + height)
  const pager = fits ? [[]] : laid([pagerRow(top, height, lines, shown)]).slice(0, 1)
  const keys = footFor(shown === prompt.shown ? sheet : sheetOf({ ...prompt, shown }))
  // The place of the keys is kept, so that nothing jumps when they come.
  const foot = standing === 'quiet' ? keys.map((): Piece => []) : keys
  return { pieces: [...head, ...window, ...pager, ...foot], view: { lines, height, top } }
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

function footOf({ foot, keys }: Sheet, standing: Standing, columns: number): readonly Row[] {
  if (standing === 'sending') return [row(ours('Sending …', 'quiet'))]
  if (standing === 'preview') return [row(ours('Enter opens it, to be answered.', 'quiet'))]
  return [...foot, ...keyRows(keys, columns)]
}

function sheetOf(prompt: Prompt): Sheet {
  const { part, request } = prompt
  const { ask } = request
  if (part.kind === 'approval' && ask.kind === 'approval') return approvalSheet(prompt, ask, part)
  if (part.kind === 'questions' && ask.kind === 'questions') return questionsSheet(ask, part)
  if (part.kind === 'form' && ask.kind === 'form') return formSheet(ask, part)
  return { body: [], focus: null, foot: [], keys: [] }
}

function topOf(
  { top, follows }: Prompt,
  { lines, height, focus }: { lines: number; height: number; focus: number | null },
) {
  const last = Math.max(0, lines - height)
  if (!follows || focus === null) return Math.min(top, last)
  // The focus is counted to its end, so that all of it is in sight.
  return Math.min(last, Math.max(Math.min(top, focus - 1), focus - height))
}

function headRow({ request }: Prompt, { at, of }: Count): Row {
  return row(
    ours('● ', 'waiting'),
    ours(deed(request.ask), 'strong'),
    ...request.agentPath.flatMap(name => [ours(' › ', 'quiet'), theirs(name, 'quiet')]),
    ...(of > 1 ? [ours(`  ${at} of ${of}`, 'waiting')] : []),
    ...deadlineSpans(request),
  )
}

function deadlineSpans({ deadlineAt, onDeadline, overdue }: Request): readonly Span[] {
  if (deadlineAt === null) return []
  if (overdue) return [ours('  overdue', 'waiting')]
  const time = new Date(deadlineAt).toTimeString().slice(0, 5)
  return [ours(onDeadline === 'deny' ? `  until ${time}, then nobody has answered` : `  wanted by ${time}`, 'quiet')]
}

function pagerRow(top: number, height: number, lines: number, shown: boolean): Row {
  const where = `lines ${top + 1}–${Math.min(lines, top + height)} of ${lines}`
  const how = shown ? 'space and arrows page' : 'space shows more'
  return row(ours(`── ${where} · ${how} ──`, 'quiet'))
}
