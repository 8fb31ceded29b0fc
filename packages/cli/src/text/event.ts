/** A line of the log as one line of a terminal. */
import { actionLabel, resolutionLabel, stateLabel, summary } from '@holdpoint/client'
import type { Event, SessionId } from '@holdpoint/protocol'
import { lookOf } from './request.ts'
import { brief, gutterOf, ours, type Row, row, type Span, theirs } from './span.ts'
import { cut, widthOf } from './width.ts'

const timeWidth = 10
const titleWidth = 16

/** Null for what only programs care about. On a screen a title has a column of its own: nothing that it says stands where our words do. */
export function eventRow(event: Event, titleOf: (session: SessionId) => string, columns: number | null): Row | null {
  const told = spansOf(event)
  if (!told) return null
  const time = ours(new Date(event.at).toTimeString().slice(0, 8).padEnd(timeWidth), 'quiet')
  const title = event.session === null ? ours('') : theirs(titleOf(event.session), 'strong')
  if (columns === null) return row(time, ...(event.session === null ? [] : [title, ours('  ')]), ...told)
  const who = title.shortened(text => cut(text, titleWidth))
  const gap = ours(' '.repeat(titleWidth + 2 - widthOf(who.text)))
  return { gutter: gutterOf('', timeWidth + titleWidth + 2), spans: [time, who, gap, ...told] }
}

function spansOf(event: Event): readonly Span[] | null {
  switch (event.type) {
    case 'session.opened':
      return [ours(`opened ${event.value.id}`)]
    case 'session.changed':
    case 'session.ended':
      return [ours(stateLabel(event.value))]
    case 'session.deleted':
      return [ours('deleted')]
    case 'message.added':
      return [ours(`${event.role === 'agent' ? 'says' : 'is told'}: `, 'quiet'), brief(event.text)]
    case 'tool.started':
      return [ours('uses ', 'quiet'), brief(event.title ?? event.tool)]
    case 'tool.finished':
      return event.ok ? null : [ours('the tool failed', 'no')]
    case 'turn.finished':
      return [ours(`turn ${event.ending}`)]
    case 'error.raised':
      return [ours('error: ', 'no'), brief(event.message)]
    case 'command.added':
      return event.value.body.kind === 'message'
        ? [ours('is told: ', 'quiet'), brief(event.value.body.text)]
        : [ours(`is told to ${event.value.body.kind === 'mode' ? 'change its mode' : event.value.body.kind}`)]
    default:
      return requestSpans(event)
  }
}

function requestSpans(event: Event): readonly Span[] | null {
  switch (event.type) {
    case 'request.opened':
      return [
        ours(`asks ${event.value.id}: `, 'waiting'),
        ours(`${actionLabel(event.value.ask)}  `, 'strong'),
        brief(summary(event.value.ask)),
      ]
    case 'request.overdue':
      return [ours(`${event.request} is overdue`, 'waiting')]
    case 'request.resolved':
      return [ours(`${event.request} `), ours(resolutionLabel(event.resolution), lookOf(event.resolution))]
    case 'request.taken':
      return [ours(`${event.request} delivered`)]
    case 'request.unknown':
      return [ours(`${event.request} may not have reached the agent`, 'no')]
    case 'request.undeliverable':
      return [ours(`${event.request} could not be delivered`, 'no')]
    default:
      return null
  }
}
