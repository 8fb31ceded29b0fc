/** Describes in one sentence an event of the audit log that is not a decision. */
import type { Event, Rule } from '@holdpoint/protocol'
import { labelText, singleLine } from './display-text.ts'

/** Returns a sentence about the event, escaped for display, or null if the audit log does not list events of its type. `removed` is the rule whose removal the event reports, if the caller knows it. */
export function noticeLabel(event: Event, removed?: Rule): string | null {
  const text = noticeText(event, removed)
  return text === null ? null : labelText(singleLine(text))
}

function noticeText(event: Event, removed: Rule | undefined): string | null {
  switch (event.type) {
    case 'session.deleted':
      return `A session was deleted${deletedBy(event)}${keptDecisions(event)}`
    case 'rule.added':
      return (
        unusableFile(event.value) ??
        `${event.value.source?.file ?? `“${event.value.madeBy}”`} added a rule: ${ruleText(event.value)}`
      )
    case 'rule.changed':
      return unusableFile(event.value) ?? `A rule was changed: ${ruleText(event.value)}`
    case 'rule.removed':
      return removed ? `A rule was removed: ${ruleText(removed)}` : `Rule ${event.rule} was removed`
    case 'token.added':
      return addedText(event)
    case 'token.removed':
      return `Credential ${event.token} was revoked`
    case 'token.exposed':
      return `${exposedToken(event)}${event.in === null ? '' : ` in session ${event.in}`}. Replace it by deleting its file in the data folder and restarting the gateway`
    case 'attempt.refused':
      return refusedText(event)
    case 'clock.jumped':
      return `The clock was set ${event.ms < 0 ? 'back' : 'forward'} by ${durationText(Math.abs(event.ms))}`
    case 'store.restored':
      return `A backup was restored. ${lostEventsText(event.lostEvents)} ${consequences(event)}`
    case 'store.lost':
      return `Events after position ${event.seq} were lost; the last known position was ${event.lastSeq}. ${consequences(event)}`
    default:
      return null
  }
}

function refusedText({ by, what, code, role, request, omitted }: Extract<Event, { type: 'attempt.refused' }>): string {
  const more =
    omitted === undefined ? '' : `; ${omitted} more ${omitted === 1 ? 'attempt' : 'attempts'} in the same minute`
  if (code === 'too_many') return `Too many wrong tokens or sign-in links were sent from ${by}${more}`
  const who = `“${by}”${role === undefined ? '' : ` (${role})`}`
  if (code === 'unauthenticated') return `A revoked credential of ${who} was used${more}`
  const tried = request === undefined ? `to call ${what}` : `to answer ${request}`
  return `${who} tried ${tried}, but its credential does not allow that${more}`
}

function exposedToken({ token, name, by }: Extract<Event, { type: 'token.exposed' }>): string {
  return `${by} sent ${token === undefined ? 'text that looks like a credential of Holdpoint' : `the credential of “${name}” (${token})`}`
}
function addedText({ kind, name, role }: Extract<Event, { type: 'token.added' }>): string {
  if (kind === 'link') return `A sign-in link was created for “${name}”`
  if (kind === 'cookie') return `“${name}” signed in with a browser`
  return `A credential was added for “${name}” (${role})`
}

type SessionDeleted = Extract<Event, { type: 'session.deleted' }>
function deletedBy({ by, person }: SessionDeleted): string {
  if (by === 'retention') return ' because its retention time was over'
  return person === undefined ? '' : ` by ${person}`
}
function keptDecisions({ decisions = [] }: SessionDeleted): string {
  if (decisions.length === 0) return ''
  return `; ${decisions.length} ${decisions.length === 1 ? 'decision is' : 'decisions are'} kept in the log`
}

/** Describes the rule that Holdpoint adds for a file with a mistake; returns null for all other rules. */
function unusableFile({ source }: Rule): string | null {
  if (source?.problem === undefined) return null
  return `${source.file} cannot be used, so a person decides about every call there. ${source.problem}`
}

/** Describes a rule in a few words: its effect, and what it matches. The text is not escaped. */
export function ruleText({ effect, tool, command, group, path, host, mcp, scope }: Rule): string {
  const where = scope?.cwd === undefined ? '' : ` in ${scope.cwd}`
  const what = command ?? group ?? path ?? host ?? (mcp && [mcp.server, mcp.tool].filter(Boolean).join(' '))
  return [effect, tool, what].filter(Boolean).join(' ') + where
}

function lostEventsText(lost: number | null): string {
  if (lost === null) return 'The previous store could not be read.'
  return `${lost} later ${lost === 1 ? 'event was' : 'events were'} undone.`
}
function consequences({ tokens, unknown }: { readonly tokens: number; readonly unknown: number }): string {
  return `${tokens} ${tokens === 1 ? 'credential was' : 'credentials were'} revoked, and the delivery of ${unknown} ${unknown === 1 ? 'answer' : 'answers'} became unknown.`
}

const units = [
  ['day', 24 * 3600_000],
  ['hour', 3600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const
/** Returns a duration in its largest fitting unit, such as “2 hours”. */
function durationText(ms: number): string {
  const [name, unitMs] = units.find(([, size]) => ms >= size) ?? units[3]
  const count = Math.round(ms / unitMs)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
