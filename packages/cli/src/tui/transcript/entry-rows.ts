/** An entry of a transcript as lines: what an agent says behind a bar, what was done in one line each. */
import {
  actionLabel,
  type Entry,
  effectiveAsk,
  type MessageEntry,
  type RequestEntry,
  resolutionLabel,
  resolutionTone,
  summary,
  type ToolEntry,
} from '@holdpoint/client'
import type { Json, Request, Resolution } from '@holdpoint/protocol'
import {
  gutterOf,
  quotedRows,
  type Row,
  row,
  type Span,
  type Style,
  trusted,
  untrusted,
  untrustedLine,
} from '../../output/span.ts'
import { cutSpans, widthOf } from '../../output/width.ts'

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
      return entry.ending === 'done' ? [] : [row(trusted(`Turn ${entry.ending}.`, 'quiet'))]
    case 'error':
      return [row(trusted('! ', 'no'), untrustedLine(entry.message))]
    case 'note':
      return [noteRow(entry.text, reader)]
  }
}

function messageRows({ role, text, agentPath, by, state, problem }: MessageEntry, { me }: Reader): readonly Row[] {
  if (role === 'agent') return [...pathRows(agentPath), ...proseRows(text)]
  const who = by === undefined || by === me ? [] : [untrusted(by, 'quiet'), trusted(' ')]
  const lines = text.split('\n').map((line, index) => {
    const gutter = gutterOf(index === 0 ? '› ' : '  ', 2)
    return { gutter, spans: [...(index === 0 ? who : []), untrusted(line)] }
  })
  return [...lines, ...(state === 'failed' ? [refusedRow({ problem })] : [])]
}

export function refusedRow({ problem }: { readonly problem?: string | undefined }): Row {
  return row(trusted('  was not taken: ', 'no'), untrustedLine(problem ?? 'the agent refused it'))
}
/** A note that begins with a name tells what that person did. */
function noteRow(text: string, { me }: Reader): Row {
  const told = me !== '' && text.startsWith(`${me} `) ? `You${text.slice(me.length)}` : text
  return row(trusted('· ', 'quiet'), untrustedLine(`${told}.`, 'quiet'))
}

/** Blank lines around it are of no use to a reader. */
export function proseRows(text: string): readonly Row[] {
  const trimmed = text.replace(/^\n+|\s+$/g, '')
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

/** In one line: a tool decides nothing any more, so the middle of what does not fit is cut. */
function toolRow({ tool, title, input, inputText, state, agentPath }: ToolEntry, { columns }: Reader): Row {
  const about = title ?? aboutOf(input) ?? inputText
  return shortRow(
    [
      trusted('▸ ', 'quiet'),
      ...pathSpans(agentPath),
      untrusted(tool, 'strong'),
      trusted('  '),
      untrustedLine(about, 'quiet'),
      ...(state === 'failed' ? [trusted('  failed', 'no')] : []),
    ],
    columns,
  )
}
export function failedRow({ tool, agentPath, output }: ToolEntry, { columns }: Reader): Row {
  const said = untrustedLine(typeof output === 'string' ? output : '', 'quiet')
  return shortRow(
    [trusted('✗ ', 'no'), ...pathSpans(agentPath), untrusted(tool, 'strong'), trusted(' failed  '), said],
    columns,
  )
}

function aboutOf(input: ToolEntry['input']): string | null {
  if (!input) return null
  const known: Json | undefined = input.command ?? input.file_path ?? input.path ?? input.url ?? input.pattern
  if (typeof known === 'string') return known
  return Object.keys(input).length === 0 ? null : JSON.stringify(input)
}

const marks: Readonly<Record<ReturnType<typeof resolutionTone>, readonly [string, Style]>> = {
  yes: ['✓ ', 'yes'],
  no: ['✗ ', 'no'],
  none: ['– ', 'quiet'],
}

function requestRow({ request, agentPath }: RequestEntry, reader: Reader): Row {
  const { resolution } = request
  // Where a person edited it, that is what ran.
  const ask = effectiveAsk(request.ask, resolution)
  const about = [
    ...pathSpans(agentPath),
    trusted(actionLabel(ask), 'strong'),
    trusted('  '),
    untrustedLine(summary(ask), 'quiet'),
  ]
  if (!resolution) return shortRow([trusted('● ', 'waiting'), ...about], reader.columns)
  const [sign, look] = marks[resolutionTone(resolution)]
  const words = outcomeOf(request, resolution, reader)
  // What it was about keeps half of the line at least; long words go on below it.
  const room = reader.columns - Math.min(widthOf(words), Math.floor(reader.columns / 2)) - widthOf(`${sign} · `)
  return row(trusted(sign, look), ...cutSpans(about, room), trusted(' · ', 'quiet'), trusted(words, look))
}

/** Ours needs no name; who was faster does. */
function outcomeOf(request: Request, resolution: Resolution, { me, isOurs }: Reader): string {
  if (!isOurs(request)) return resolutionLabel(resolution)
  const { via: _here, ...own } = resolution
  return resolutionLabel(own, me)
}

function shortRow(spans: readonly Span[], columns: number): Row {
  return row(...cutSpans(spans, columns))
}
