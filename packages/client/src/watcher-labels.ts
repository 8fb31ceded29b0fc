/** Labels of watchers and variables that page and terminal share. */
import type { Event, VariableValue, Watcher, WatcherDraft } from '@holdpoint/protocol'
import { exactText, labelText, singleLine } from './display-text.ts'

type WatchFired = Extract<Event, { readonly type: 'watch.fired' }>
type VariableChanged = Extract<Event, { readonly type: 'variable.changed' }>

const moments: Record<WatcherDraft['on'], string> = {
  start: 'at the start',
  prompt: 'at a message',
  before: 'before',
  after: 'after',
  stop: 'at the end of a turn',
}
const effects: Record<keyof WatcherDraft['do'], string> = {
  set: 'sets variables',
  say: 'tells the agent',
  ask: 'asks',
  deny: 'denies',
  limit: 'asks at a limit',
}
const limitUnits = { cost: 'US dollars', tokens: 'tokens', turns: 'turns', minutes: 'minutes' } as const
const limitScopes = { session: 'in a session', day: 'in a day', folder: 'in this folder' } as const

/** Returns what a watcher does, such as “before git commit: denies”. The label is escaped for display. */
export function watcherLabel(watcher: WatcherDraft | Watcher): string {
  const { on, tool, action, command, path, host, mcp } = watcher
  const target = command ?? path ?? host ?? (mcp && [mcp.server, mcp.tool].filter(Boolean).join(' ')) ?? tool ?? action
  const call = target === undefined ? 'a call' : exactText(target)
  const when = on === 'before' || on === 'after' ? `${moments[on]} ${call}` : moments[on]
  return `${when}: ${effectsLabel(watcher)}`
}

function effectsLabel({ do: done }: WatcherDraft): string {
  return (Object.keys(effects) as (keyof typeof effects)[])
    .filter(name => done[name] !== undefined)
    .map(name => (name === 'limit' ? limitLabel(done.limit) : effects[name]))
    .join(', ')
}

function limitLabel(limit: WatcherDraft['do']['limit']): string {
  const unit = (Object.keys(limitUnits) as (keyof typeof limitUnits)[]).find(name => limit?.[name] !== undefined)
  if (!limit || !unit) return effects.limit
  return `asks after ${limit[unit]?.toLocaleString('en')} ${limitUnits[unit]} ${limitScopes[limit.per ?? 'session']}`
}

/** Returns what a watcher did, for the transcript; null if it only set variables, which happens often and is shown with the variables. The text is not escaped. */
export function firingText({ watcher: { name }, effects: had, text, problem }: WatchFired): string | null {
  const sentence = text === undefined ? '' : `: ${text}`
  if (problem !== undefined) return `The condition of the watcher ${name} could not be evaluated: ${problem}`
  if (had.includes('deny')) return `The watcher ${name} denied this${sentence}`
  if (had.includes('ask') || had.includes('limit')) return `The watcher ${name} asks${sentence}`
  return had.includes('say') ? `The watcher ${name} told the agent${sentence}` : null
}

/** Returns who set a variable to what, for the transcript. The text is not escaped. */
export function variableChangeText({ name, to, by, person }: VariableChanged): string {
  return `${by === 'agent' ? 'The agent' : (person ?? 'Someone')} set ${name} to ${valueText(to)}`
}

/** Returns a value of a variable as it is written in JSON. The text is not escaped. */
export function valueText(value: VariableValue): string {
  return JSON.stringify(value)
}

/** Returns why a watcher asks, such as “Watcher budget: …”, in one line. The label is escaped for display. */
export function watcherAskLabel({ name, text }: { readonly name: string; readonly text: string }): string {
  return `Watcher ${exactText(name)}: ${labelText(singleLine(text))}`
}

/** Returns the value that a person typed for a variable, or null if it does not fit the type of the default. */
export function parseValue(typed: string, like: VariableValue): VariableValue | null {
  if (typeof like === 'string') return typed
  const text = typed.trim()
  if (typeof like === 'boolean') return text === 'true' ? true : text === 'false' ? false : null
  const number = Number(text)
  return text === '' || !Number.isFinite(number) ? null : number
}
