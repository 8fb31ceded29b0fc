/** Formats an event of the log as one line for `holdpoint watch`. */
import {
  actionLabel,
  firingText,
  noticeLabel,
  resolutionText,
  stateLabel,
  summaryText,
  variableChangeText,
} from '@holdpoint/client'
import type { Event, SessionId } from '@holdpoint/protocol'
import { resolutionStyle, riskWordSpan } from './request.ts'
import { gutterOf, type Row, row, type Span, trusted, untrusted, untrustedCode, untrustedLine } from './span.ts'
import { cut, widthOf } from './width.ts'

const timeWidth = 10
const titleWidth = 16

/** Returns null for events that matter only to programs. On a terminal the title has its own column, so that a title cannot imitate our text. */
export function eventRow(event: Event, titleOf: (session: SessionId) => string, columns: number | null): Row | null {
  const text = eventSpans(event)
  if (!text) return null
  const time = trusted(new Date(event.at).toTimeString().slice(0, 8).padEnd(timeWidth), 'quiet')
  const title = event.session === null ? trusted('') : untrusted(titleOf(event.session), 'strong')
  if (columns === null) return row(time, ...(event.session === null ? [] : [title, trusted('  ')]), ...text)
  const shortTitle = title.shortened(full => cut(full, titleWidth))
  const gap = trusted(' '.repeat(titleWidth + 2 - widthOf(shortTitle.text)))
  return { gutter: gutterOf('', timeWidth + titleWidth + 2), spans: [time, shortTitle, gap, ...text] }
}

function eventSpans(event: Event): readonly Span[] | null {
  switch (event.type) {
    case 'session.opened':
      return [trusted(`opened ${event.value.id}`)]
    case 'session.changed':
    case 'session.ended':
      return [trusted(stateLabel(event.value))]
    case 'session.deleted':
      return [trusted('deleted')]
    case 'message.added':
      return [trusted(`${event.role === 'agent' ? 'says' : 'received'}: `, 'quiet'), untrustedLine(event.text)]
    case 'tool.started':
      return [
        trusted('uses ', 'quiet'),
        event.title === undefined ? untrustedCode(event.tool) : untrustedLine(event.title),
      ]
    case 'tool.finished':
      return event.ok ? null : [trusted('tool failed', 'no')]
    case 'turn.finished':
      return [trusted(`turn ${event.ending}`)]
    case 'error.raised':
      return [trusted('error: ', 'no'), untrustedLine(event.message)]
    case 'command.added':
      return event.value.body.kind === 'message'
        ? [trusted('received: ', 'quiet'), untrustedLine(event.value.body.text)]
        : [trusted(`${event.value.body.kind === 'mode' ? 'mode change' : event.value.body.kind} requested`)]
    case 'watch.fired': {
      const text = firingText(event)
      return text === null ? null : [untrustedLine(text)]
    }
    case 'variable.changed':
      return [untrustedLine(variableChangeText(event))]
    default:
      return requestSpans(event)
  }
}

function requestSpans(event: Event): readonly Span[] | null {
  switch (event.type) {
    case 'request.opened':
      return [
        trusted(`asks ${event.value.id}: `, 'waiting'),
        ...(event.value.risk ? [riskWordSpan(event.value.risk), trusted('  ')] : []),
        trusted(`${actionLabel(event.value.ask)}  `, 'strong'),
        trusted(summaryText(event.value.ask)),
      ]
    case 'request.overdue':
      return [trusted(`${event.request} is overdue`, 'waiting')]
    case 'request.resolved':
      return [
        trusted(`${event.request} `),
        trusted(resolutionText(event.resolution), resolutionStyle(event.resolution)),
      ]
    case 'request.taken':
      return [trusted(`${event.request} delivered`)]
    case 'request.unknown':
      return [trusted(`${event.request} may not have reached the agent`, 'no')]
    case 'request.undeliverable':
      return [trusted(`${event.request} could not be delivered`, 'no')]
    default: {
      const label = noticeLabel(event)
      return label === null ? null : [untrustedLine(label)]
    }
  }
}
