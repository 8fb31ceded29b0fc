/** An entry of a transcript as lines: what an agent says behind a bar, what was done in one line each. */
import {
  asItRan,
  deed,
  type Entry,
  type MessageEntry,
  outcome,
  type RequestEntry,
  summary,
  type ToolEntry,
  tone,
} from '@holdpoint/client'
import type { Json, Request, Resolution } from '@holdpoint/protocol'
import { type Look, ours, quoted, type Row, row, type Span, theirs } from '../text/span.ts'
import { cut, widthOf } from '../text/width.ts'

export interface Reader {
  readonly me: string
  readonly columns: number
  /** Whether this person's answer came from here. */
  readonly isOurs: (request: Request) => boolean
}

export function entryRows(entry: Entry, reader: Reader): readonly Row[] {
  switch (entry.kind) {
    case 'message':
      return messageRows(entry, reader)
    case 'tool':
      return [toolRow(entry, reader)]
    case 'request':
      return [requestRow(entry, reader)]
    case 'turn':
      return entry.ending === 'done' ? [] : [row(ours(`Turn ${entry.ending}.`, 'quiet'))]
    case 'error':
      return [row(ours('! ', 'no'), theirs(entry.message))]
    case 'note':
      return [row(theirs(`${entry.text}.`, 'quiet'))]
  }
}

function messageRows({ role, text, agentPath, by, fate, problem }: MessageEntry, { me }: Reader): readonly Row[] {
  if (role === 'agent') return [...pathRows(agentPath), ...proseRows(text)]
  const who = by === undefined || by === me ? [] : [theirs(by, 'quiet'), ours(' ')]
  const lines = text.split('\n').map((line, index) => {
    const gutter = { first: index === 0 ? '› ' : '  ', rest: '  ' }
    return { gutter, spans: [...(index === 0 ? who : []), theirs(line)] }
  })
  return [...lines, ...(fate === 'failed' ? [refusedRow({ problem })] : [])]
}

export function refusedRow({ problem }: { readonly problem?: string | undefined }): Row {
  return row(ours('  was not taken: ', 'no'), theirs(problem ?? 'the agent refused it'))
}

/** Blank lines around it are of no use to a reader. */
export function proseRows(text: string): readonly Row[] {
  const trimmed = text.replace(/^\n+|\s+$/g, '')
  return trimmed === '' ? [] : quoted(trimmed)
}

function pathRows(path: readonly string[]): readonly Row[] {
  return path.length === 0 ? [] : [row(...path.flatMap(name => [ours('› ', 'quiet'), theirs(`${name} `, 'quiet')]))]
}
function pathSpans(path: readonly string[]): readonly Span[] {
  return path.flatMap(name => [theirs(name, 'quiet'), ours(' › ', 'quiet')])
}

/** In one line: a tool decides nothing any more, so what does not fit is cut. */
function toolRow({ tool, title, input, inputText, state, agentPath }: ToolEntry, { columns }: Reader): Row {
  const about = title ?? aboutOf(input) ?? inputText
  const [line = ''] = about.trim().split('\n')
  return shortRow(
    [
      ours('▸ ', 'quiet'),
      ...pathSpans(agentPath),
      theirs(tool, 'strong'),
      ours('  '),
      theirs(line, 'quiet'),
      ...(state === 'failed' ? [ours('  failed', 'no')] : []),
    ],
    columns,
  )
}
export function failedRow({ tool, agentPath, output }: ToolEntry, { columns }: Reader): Row {
  const [line = ''] = (typeof output === 'string' ? output : '').trim().split('\n')
  return shortRow(
    [ours('✗ ', 'no'), ...pathSpans(agentPath), theirs(tool, 'strong'), ours(' failed  '), theirs(line, 'quiet')],
    columns,
  )
}

function aboutOf(input: ToolEntry['input']): string | null {
  if (!input) return null
  const known: Json | undefined = input.command ?? input.file_path ?? input.path ?? input.url ?? input.pattern
  if (typeof known === 'string') return known
  return Object.keys(input).length === 0 ? null : JSON.stringify(input)
}

const marks: Readonly<Record<ReturnType<typeof tone>, readonly [string, Look]>> = {
  yes: ['✓ ', 'yes'],
  no: ['✗ ', 'no'],
  none: ['– ', 'quiet'],
}

function requestRow({ request, agentPath }: RequestEntry, reader: Reader): Row {
  const { resolution } = request
  // Where a person edited it, that is what ran.
  const ask = asItRan(request.ask, resolution)
  if (!resolution)
    return shortRow(
      [
        ours('● ', 'waiting'),
        ...pathSpans(agentPath),
        ours(deed(ask), 'strong'),
        ours('  '),
        theirs(firstLine(summary(ask)), 'quiet'),
      ],
      reader.columns,
    )
  const [sign, look] = marks[tone(resolution)]
  const words = outcomeOf(request, resolution, reader)
  const room = reader.columns - words.length - 6
  const about = cutSpans(
    [...pathSpans(agentPath), ours(deed(ask)), ours('  '), theirs(firstLine(summary(ask)), 'quiet')],
    Math.max(16, room),
  )
  return row(ours(sign, look), ...about, ours(' · ', 'quiet'), ours(words, look))
}

/** Ours needs no name; who was faster does. */
function outcomeOf(request: Request, resolution: Resolution, { me, isOurs }: Reader): string {
  if (!isOurs(request)) return outcome(resolution)
  const { via: _here, ...own } = resolution
  return outcome(own, me)
}

function firstLine(text: string): string {
  const [line = '', ...more] = text.trim().split('\n')
  return more.length > 0 ? `${line} …` : line
}
function shortRow(spans: readonly Span[], columns: number): Row {
  return row(...cutSpans(spans, columns))
}
/** As much of them as fits into so many columns. */
export function cutSpans(spans: readonly Span[], columns: number): readonly Span[] {
  let room = columns
  return spans.flatMap(span => {
    if (room <= 0) return []
    const kept = span.shortened(text => cut(text, room))
    room -= widthOf(kept.text)
    return [kept]
  })
}
