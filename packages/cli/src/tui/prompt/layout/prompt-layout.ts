/** A prompt as it stands on a screen of a given size: its head, as much of its body as fits, and what can be done. */
import { actionLabel } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import { type Row, row, type Span, trusted, untrusted } from '../../../output/span.ts'
import { cut, cutSpans, type StyledLine, wrap } from '../../../output/width.ts'
import { type Prompt, sawPrompt, type View } from '../prompt.ts'
import { approvalSections } from './approval-sections.ts'
import { formSections } from './form-sections.ts'
import { layoutFooter } from './prompt-footer.ts'
import { emptyFooter, type PromptFooter, type PromptSections } from './prompt-sections.ts'
import { questionsSections } from './questions-sections.ts'

export interface ScreenSize {
  readonly columns: number
  readonly height: number
}
/** Which of how many it is. */
export interface Count {
  readonly at: number
  readonly of: number
}
export interface PromptContext extends Count {
  /** Who else is writing an answer to it. */
  readonly others?: readonly string[]
  readonly standing?: PromptStatus
}
export interface PromptLayout {
  readonly pieces: readonly StyledLine[]
  readonly view: View
}

/** In less than this nothing is shown, and nothing is answered. */
const least: ScreenSize = { columns: 20, height: 4 }
/** So high a screen has room for a second line of the head. */
const tallFrom = 10
/** So much of the head is left to the count, whatever a tool is called. */
const countRoom = 24

/** Just appeared, so that no key counts yet; live; on its way; without a gateway; or only looked at, by someone whose keys go elsewhere. */
export type PromptStatus = 'quiet' | 'live' | 'sending' | 'away' | 'preview'

/** Never more lines than there is room for: what the view counts is what can be seen. */
export function layoutPrompt(
  prompt: Prompt,
  place: ScreenSize,
  { standing = 'live', ...around }: PromptContext,
): PromptLayout {
  const { columns } = place
  if (columns < least.columns || place.height < least.height) return tooSmall(place)
  const laid = (rows: readonly Row[]) => rows.flatMap(one => lay(one, columns))
  const sheet = sheetOf(prompt)
  const head = laid([headRow(prompt, around, columns)]).slice(0, place.height < tallFrom ? 1 : 2)
  const room = place.height - head.length - 1
  const footFor = (one: PromptSections) => layoutFooter(footOf(one, standing), prompt.hint, { columns, lines: room })
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
  const foot = standing === 'quiet' ? keys.map((): StyledLine => []) : keys
  return { pieces: [...head, ...window, ...pager, ...foot], view }
}

function tooSmall({ columns, height }: ScreenSize): PromptLayout {
  const words = trusted('Too small a screen for what is asked: enlarge it.', 'waiting')
  const pieces = height < 1 ? [] : [cutSpans([words], columns)]
  return { pieces, view: { columns, lines: Number.POSITIVE_INFINITY, height: 0, top: 0 } }
}

/** Rows that stay are laid out once for a width. */
const known = new WeakMap<Row, { readonly columns: number; readonly pieces: readonly StyledLine[] }>()

function lay(one: Row, columns: number): readonly StyledLine[] {
  const before = known.get(one)
  if (before?.columns === columns) return before.pieces
  const pieces = wrap(one, columns)
  known.set(one, { columns, pieces })
  return pieces
}
function countLines(body: readonly (readonly StyledLine[])[]): number {
  return body.reduce((sum, pieces) => sum + pieces.length, 0)
}
/** Where a row stands in the body, line by line. */
function spanOf(body: readonly (readonly StyledLine[])[], at: number): { readonly from: number; readonly to: number } {
  const from = countLines(body.slice(0, at))
  return { from, to: from + (body[at]?.length ?? 0) }
}

function footOf(sheet: PromptSections, standing: PromptStatus): PromptFooter {
  const says = (words: string, look: 'quiet' | 'waiting'): PromptFooter => ({
    ...emptyFooter,
    foot: [row(trusted(words, look))],
  })
  if (standing === 'sending') return says('Sending …', 'quiet')
  if (standing === 'away') return says(awayWords, 'waiting')
  return standing === 'preview' ? says('Enter opens it, to be answered.', 'quiet') : sheet
}

const awayWords = 'The gateway is away; trying again. Nothing can be answered until it is back. Ctrl+C twice leaves.'

function sheetOf(prompt: Prompt): PromptSections {
  const { part, request } = prompt
  const { ask } = request
  if (part.kind === 'approval' && ask.kind === 'approval') return approvalSections(prompt, ask, part)
  if (part.kind === 'questions' && ask.kind === 'questions') return questionsSections(ask, part)
  if (part.kind === 'form' && ask.kind === 'form') return formSections(ask, part)
  return { body: [], focus: null, ...emptyFooter }
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
function headRow({ request }: Prompt, { at, of, others = [] }: PromptContext, columns: number): Row {
  const path = request.agentPath.flatMap(name => [trusted(' › ', 'quiet'), untrusted(name, 'quiet')])
  return row(
    trusted('● ', 'waiting'),
    trusted(cut(actionLabel(request.ask), Math.max(countRoom, columns - countRoom)), 'strong'),
    ...(of > 1 ? [trusted(`  request ${at} of ${of}`, 'waiting')] : []),
    ...othersSpans(others),
    ...deadlineSpans(request),
    ...cutSpans(path, Math.floor(columns / 2)),
  )
}

const nameMax = 20
function othersSpans([first, ...more]: readonly string[]): readonly Span[] {
  if (first === undefined) return []
  if (more.length > 0) return [trusted(`  ${more.length + 1} others are answering`, 'strong')]
  return [trusted('  '), ...cutSpans([untrusted(first, 'strong')], nameMax), trusted(' is answering', 'strong')]
}

function deadlineSpans({ deadlineAt, onDeadline, overdue }: Request): readonly Span[] {
  if (deadlineAt === null) return []
  if (overdue) return [trusted('  overdue', 'waiting')]
  const time = new Date(deadlineAt).toTimeString().slice(0, 5)
  return [trusted(onDeadline === 'deny' ? `  until ${time}, then nobody has answered` : `  wanted by ${time}`, 'quiet')]
}

function pagerRow({ top, height, lines }: View, shown: boolean): Row {
  const how = shown ? 'space and arrows page' : 'space shows more'
  return row(trusted(`── lines ${top + 1}–${top + height} of ${lines} · ${how} ──`, 'quiet'))
}
