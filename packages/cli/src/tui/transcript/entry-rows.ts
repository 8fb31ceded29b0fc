/** Formats transcript entries as rows. The agent's text has a bar at its left; most other entries take one line each. */
import {
  type AskSummary,
  actionLabel,
  type Entry,
  effectiveAsk,
  isShownByRequest,
  type MessageEntry,
  type NoteEntry,
  outputText,
  type RequestEntry,
  resolutionText,
  resolutionTone,
  shownSummary,
  singleLineCut,
  summaryText,
  type ToolEntry,
  toolSummary,
  withoutOuterBlankLines,
} from '@holdpoint/client'
import { defaultDenyReason, type Request, type Resolution } from '@holdpoint/protocol'
import { markdownRows } from '../../output/markdown.ts'
import {
  gutterOf,
  quotedRows,
  type Row,
  row,
  type Span,
  type Style,
  trusted,
  untrusted,
  untrustedCode,
  untrustedLine,
} from '../../output/span.ts'
import { cutSpans, widthOf } from '../../output/width.ts'

export interface EntryContext {
  readonly me: string
  readonly columns: number
  /** Returns whether the request was answered in this terminal. */
  readonly isAnsweredHere: (request: Request) => boolean
}

/** Leaves out that a turn was interrupted if a note says already who interrupted it. */
export function shownEntries(entries: readonly Entry[]): readonly Entry[] {
  let isNoted = false
  return entries.filter(entry => {
    // Only a note about an interrupt names a person.
    if (entry.kind === 'note' && entry.by !== undefined) isNoted = true
    if (entry.kind !== 'turn') return true
    const isRepeated = isNoted && entry.ending === 'interrupted'
    isNoted = false
    return !isRepeated
  })
}

export function entryRows(entry: Entry, context: EntryContext): readonly Row[] {
  switch (entry.kind) {
    case 'message':
      return messageRows(entry, context)
    case 'tool':
      return isShownByRequest(entry) ? [] : [toolRow(entry, context)]
    case 'request':
      return [requestRow(entry, context)]
    case 'turn':
      return entry.ending === 'done' ? [] : [row(trusted(`Turn ${entry.ending}.`, 'quiet'))]
    case 'error':
      return [row(trusted('! ', 'no'), untrustedLine(entry.message))]
    case 'note':
      return [noteRow(entry, context)]
  }
}

function messageRows(
  { role, text, agentPath, by, byId, state, problem }: MessageEntry,
  { me, columns }: EntryContext,
): readonly Row[] {
  if (role === 'agent') return [...pathRows(agentPath), ...agentTextRows(text, columns)]
  const who = by === undefined || byId === me ? [] : [untrusted(by, 'quiet'), trusted(' ')]
  const lines = text.split('\n').map((line, index) => {
    const gutter = gutterOf(index === 0 ? '› ' : '  ', 2)
    return { gutter, spans: [...(index === 0 ? who : []), untrustedLine(line)] }
  })
  return [...lines, ...(state === 'failed' ? [notDeliveredRow({ problem })] : [])]
}

export function notDeliveredRow({ problem }: { readonly problem?: string | undefined }): Row {
  return row(trusted('  not delivered: ', 'no'), untrustedLine(problem ?? 'the agent refused it'))
}
/** Formats a note. If the note starts with the name of the person at this terminal, the name is replaced by "You". */
function noteRow({ text, by, byId }: NoteEntry, { me }: EntryContext): Row {
  const sentence = by !== undefined && byId === me ? `You${text.slice(by.length)}` : text
  return row(trusted('· ', 'quiet'), untrustedLine(`${sentence}.`, 'quiet'))
}

/** Returns the rows of the text without blank lines at its start and end. In a pipe, the Markdown stays as the agent wrote it. */
export function agentTextRows(text: string, columns: number): readonly Row[] {
  if (Number.isFinite(columns)) return markdownRows(text, columns)
  const trimmed = withoutOuterBlankLines(text)
  return trimmed === '' ? [] : quotedRows(trimmed)
}

function pathRows(path: readonly string[]): readonly Row[] {
  return path.length === 0
    ? []
    : [row(...path.flatMap(name => [trusted('› ', 'quiet'), untrusted(`${name} `, 'quiet')]))]
}
function pathSpans(path: readonly string[]): readonly Span[] {
  return path.flatMap(name => [untrusted(name, 'quiet'), trusted(' › ', 'quiet')])
}

/** Formats a tool call in one line. The call is already decided, so a long line may be cut in the middle. */
function toolRow(entry: ToolEntry, { columns }: EntryContext): Row {
  const { tool, state, output, agentPath } = entry
  const about = shownSummary(toolSummary(entry))
  return singleLineRow(
    [
      trusted('▸ ', 'quiet'),
      ...pathSpans(agentPath),
      untrustedCode(tool, 'strong'),
      ...(about === '' ? [] : [trusted(`  ${about}`, 'quiet')]),
      ...(state === 'failed' ? [trusted(output === defaultDenyReason ? '  denied' : '  failed', 'no')] : []),
    ],
    columns,
  )
}
export function toolFailedRow({ tool, agentPath, output }: ToolEntry, { columns }: EntryContext): Row {
  // The agent gets this sentence if a person denies the call without a reason.
  const outcome =
    output === defaultDenyReason
      ? [trusted(': denied')]
      : [trusted(' failed  '), trusted(shownSummary(failureSummary(output)), 'quiet')]
  return singleLineRow(
    [trusted('✗ ', 'no'), ...pathSpans(agentPath), untrustedCode(tool, 'strong'), ...outcome],
    columns,
  )
}

/** The start and the end of what a failed call returned, in one line. A long text is cut before it is escaped, because escaping all of it would take long. */
function failureSummary(output: unknown): AskSummary {
  return { ...singleLineCut(outputText(output) ?? '', failureMax), isCode: true }
}
const failureMax = 300

const marks: Readonly<Record<ReturnType<typeof resolutionTone>, readonly [string, Style]>> = {
  yes: ['✓ ', 'yes'],
  no: ['✗ ', 'no'],
  asked: ['? ', 'strong'],
  none: ['– ', 'quiet'],
}

function requestRow({ request, agentPath }: RequestEntry, context: EntryContext): Row {
  const { resolution } = request
  // If a person edited the input, show the edited input.
  const ask = effectiveAsk(request.ask, resolution?.effective?.input)
  const about = [
    ...pathSpans(agentPath),
    trusted(actionLabel(ask), 'strong'),
    trusted('  '),
    trusted(summaryText(ask), 'quiet'),
  ]
  if (!resolution) return singleLineRow([trusted('● ', 'waiting'), ...about], context.columns)
  const [sign, style] = marks[resolutionTone(resolution)]
  const outcome = outcomeLabel(request, resolution, context)
  // The summary keeps at least half of the line; a long outcome wraps.
  const columnsLeft =
    context.columns - Math.min(widthOf(outcome), Math.floor(context.columns / 2)) - widthOf(`${sign} · `)
  return row(trusted(sign, style), ...cutSpans(about, columnsLeft), trusted(' · ', 'quiet'), trusted(outcome, style))
}

/** Returns the label of the outcome. If the answer came from this terminal, the label says "you" and names no device. */
function outcomeLabel(request: Request, resolution: Resolution, { me, isAnsweredHere }: EntryContext): string {
  if (!isAnsweredHere(request)) return resolutionText(resolution)
  const { via: _via, ...own } = resolution
  return resolutionText(own, me)
}

function singleLineRow(spans: readonly Span[], columns: number): Row {
  return row(...cutSpans(spans, columns))
}
