/** Tests which gaps of watchers are reported for which agents. */
import { describe, expect, it } from 'vitest'
import { type WatchedAgent, watchGaps } from '../../src/watch/watch-gaps.ts'
import { watcher } from './watch-kit.ts'

const able: WatchedAgent = {
  checksEveryTool: true,
  asksAboutTools: true,
  asksQuestions: true,
  reportsResults: true,
  givesTextAfterTool: true,
  reportsPrompts: true,
  canBeSentBack: true,
  getsMessages: true,
  failures: 'failed',
  reportsCost: true,
  reportsTokens: true,
}
const unable = Object.fromEntries(Object.keys(able).map(name => [name, false])) as unknown as WatchedAgent // the same names

const cases = [
  [
    watcher({}),
    { checksEveryTool: false },
    'This agent asks about only some of its calls, so “before” sees only those.',
  ],
  [
    watcher({}),
    { checksEveryTool: false, asksAboutTools: false },
    'This agent asks about none of its calls, so “before” sees none of them.',
  ],
  [
    watcher({ action: 'question' }),
    { asksQuestions: false },
    'This agent asks no questions through Holdpoint, so a watcher for questions has no effect.',
  ],
  [
    watcher({ on: 'prompt' }),
    { reportsPrompts: false },
    'Holdpoint does not see the messages to this agent, so “prompt” never happens.',
  ],
  [
    watcher({ on: 'after', do: { say: 'x' } }),
    { reportsResults: false },
    'This agent does not report its calls, so “after” never happens.',
  ],
  [
    watcher({ on: 'after', do: { say: 'x' } }),
    { givesTextAfterTool: false },
    'What “after” says reaches this agent only with its next message.',
  ],
  [
    watcher({ on: 'after', do: { set: { a: 'result.ok' } } }),
    { failures: 'ok' },
    'This agent reports a command that fails as a success, so `result.ok` is always true.',
  ],
  [
    watcher({ on: 'after', do: { set: { a: 'result.ok' } } }),
    { failures: 'unknown' },
    'This agent does not report whether a command failed, so `result.ok` is always false.',
  ],
  [
    watcher({ on: 'stop', do: { ask: 'x' } }),
    { getsMessages: false },
    'This agent stops while “stop” asks, and reads the answer only with its next message.',
  ],
  [
    watcher({ on: 'stop' }),
    { canBeSentBack: false },
    'This agent cannot be sent back to work, so “stop” only sets variables.',
  ],
  [
    watcher({ do: { limit: { cost: 1 } } }),
    { reportsCost: false },
    'This agent does not report its cost, so a cost limit is never reached.',
  ],
  [
    watcher({ do: { limit: { tokens: 1 } } }),
    { reportsTokens: false },
    'This agent does not report its tokens, so a token limit is never reached.',
  ],
] as const

describe('watchGaps', () => {
  it.each(cases)('watchGaps reports one gap of the watcher %j for an agent with %j', (draft, missing, gap) => {
    expect(watchGaps(draft, able)).toEqual([])
    expect(watchGaps(draft, { ...able, ...missing })).toEqual([gap])
  })
  it('watchGaps reports that an agent hides failures only for a watcher that reads the result', () => {
    const agent: WatchedAgent = { ...able, failures: 'ok' }
    expect(watchGaps(watcher({ on: 'after', do: { set: { a: 'false' } } }), agent)).toEqual([])
    const effects = { set: { a: 'true' } }
    expect(watchGaps(watcher({ on: 'after', when: 'result.ok', do: effects }), agent)).toHaveLength(1)
    expect(watchGaps(watcher({ on: 'after', do: { say: 'Code ${result.exitCode}' } }), agent)).toHaveLength(1)
  })

  it('watchGaps reports no gap for moments and effects that a watcher does not use', () => {
    expect(watchGaps(watcher({ on: 'start', do: { say: 'x' } }), unable)).toEqual([])
    expect(watchGaps(watcher({ action: 'question' }), { ...able, checksEveryTool: false })).toEqual([])
    expect(watchGaps(watcher({ on: 'after', do: { set: {} } }), { ...able, givesTextAfterTool: false })).toEqual([])
  })
})
