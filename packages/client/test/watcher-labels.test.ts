import type { Event, WatcherDraft } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { firingText, parseValue, variableChangeText, watcherAskLabel, watcherLabel } from '../src/watcher-labels.ts'

type Fired = Extract<Event, { readonly type: 'watch.fired' }>
const draft = (change: Partial<WatcherDraft>): WatcherDraft => ({
  name: 'w',
  on: 'before',
  do: { deny: 'no' },
  ...change,
})

describe('labels of watchers and variables', () => {
  it('the label of a watcher says when it is evaluated, for which calls, and what it does', () => {
    expect(watcherLabel(draft({ command: 'git commit' }))).toBe('before git commit: denies')
    expect(watcherLabel(draft({ on: 'after', tool: 'Edit|Write', do: { set: { green: 'false' } } }))).toBe(
      'after Edit|Write: sets variables',
    )
    expect(watcherLabel(draft({ on: 'stop', do: { say: 'x', set: {} } }))).toBe(
      'at the end of a turn: sets variables, tells the agent',
    )
    expect(watcherLabel(draft({ do: { limit: { cost: 5, per: 'day' } } }))).toBe(
      'before a call: asks after 5 US dollars in a day',
    )
    expect(watcherLabel(draft({ command: 'a\u202Eb' }))).toBe('before a\\u{202e}b: denies')
  })

  it('the transcript says what a watcher denied, asked or told the agent, and shows nothing if the watcher only set variables', () => {
    const base = { watcher: { name: 'tests', file: '/f', version: 1 }, moment: 'before' } as const
    const fired = (change: Partial<Fired>) =>
      firingText({ ...base, type: 'watch.fired', effects: [], ...change } as Fired) // the other fields of an event are not used
    expect(fired({ effects: ['deny', 'set'], text: 'Run the tests.' })).toBe(
      'The watcher tests denied this: Run the tests.',
    )
    expect(fired({ effects: ['limit'], text: '5 used.' })).toBe('The watcher tests asks: 5 used.')
    expect(fired({ effects: ['say'], text: 'On main.' })).toBe('The watcher tests told the agent: On main.')
    expect(fired({ effects: ['set'], set: { green: true } })).toBeNull()
    expect(fired({ effects: ['ask'], problem: 'no such key' })).toBe(
      'The condition of the watcher tests could not be evaluated: no such key',
    )
  })

  it('the transcript says who set a variable', () => {
    const event = { type: 'variable.changed', name: 'task', file: '/f', to: '#12' } as const
    const text = (by: 'person' | 'agent') =>
      variableChangeText({ ...event, by, person: 'Ana' } as Extract<Event, { type: 'variable.changed' }>) // the other fields of an event are not used
    expect(text('person')).toBe('Ana set task to "#12"')
    expect(text('agent')).toBe('The agent set task to "#12"')
  })

  it('the reason of a watcher is one line with visible control characters', () => {
    expect(watcherAskLabel({ name: 'budget', text: 'line 1\nline\u202E 2' })).toBe(
      'Watcher budget: line 1 ↵ line\\u{202e} 2',
    )
  })

  it('a value that a person types for a variable must have the type of the default', () => {
    expect([parseValue('true', false), parseValue(' 1.5 ', 0), parseValue('yes', false), parseValue('', 3)]).toEqual([
      true,
      1.5,
      null,
      null,
    ])
    expect(parseValue(' a ', '')).toBe(' a ')
  })
})
