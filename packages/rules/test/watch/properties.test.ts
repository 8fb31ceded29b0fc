/** Tests what holds for all watchers: a project's file never makes the verdict less strict, the order does not change the verdict, an error never allows a call, and the same facts give the same result. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WatchFile, WatchPass, WatchResult } from '../../src/watch/watch-pass.ts'
import { WatcherSet } from '../../src/watch/watcher-set.ts'
import { bash, now, type PassOptions, watchFile, watchPass, write } from './watch-kit.ts'

const numRuns = 150 * Number(process.env.HOLDPOINT_ROUNDS ?? 1)

const vars = { green: false, edited: 0, task: '' }
const anyMoment = fc.constantFrom('start', 'prompt', 'before', 'after', 'stop')
/** Some of these fail when they are evaluated. */
const condition = fc.constantFrom(
  undefined,
  'true',
  'false',
  'vars.green',
  'vars.edited > 1',
  '1 / vars.edited == 1',
  'session.agentPath[0] == "x"',
  'recent("10m").size() > 1',
  'recent("1m")[0].ok || vars.task == "a"',
)
const say = fc.constantFrom('s1', 's2', 's ${vars.task}')
const set = fc.constantFrom(
  { green: 'true' },
  { edited: 'vars.edited + 1' },
  { task: 'vars.task + "x"' },
  { edited: '1 / vars.edited' },
)
const sentence = fc.constantFrom('d1', 'd2', 'd ${session.agentPath[0]}')

const watcherAt = (moment: string) => {
  const canDecide = moment !== 'start' && moment !== 'after'
  const decisions = [
    fc.record({ deny: sentence }),
    ...(moment === 'prompt' ? [] : [fc.record({ ask: sentence })]),
    ...(moment === 'before' ? [fc.record({ limit: fc.constantFrom({ turns: 2 }, { cost: 3 }) })] : []),
  ]
  const effects = fc.oneof(
    fc.record({ set }),
    fc.record({ say }),
    fc.record({ set, say }),
    ...(canDecide ? decisions : []),
  )
  const matcher = fc.constantFrom(
    {},
    { command: 'git push' },
    { tool: 'Edit|Write' },
    { action: 'question' },
    { path: '/srv/app/src/**' },
  )
  return fc.record({
    on: fc.constant(moment),
    when: condition,
    do: effects,
    matcher: moment === 'before' ? matcher : fc.constant({}),
  })
}
const drafts = fc.array(anyMoment.chain(watcherAt), { maxLength: 6 }).map(list =>
  list.map(({ when, matcher, ...rest }, index) => ({
    name: `w${index}`,
    ...rest,
    ...matcher,
    ...(when ? { when } : {}),
  })),
)

const momentLists: readonly WatchPass['moments'][] = [
  ['start', 'before'],
  ['before'],
  ['prompt'],
  ['after'],
  ['start', 'stop'],
  ['stop'],
]
const storedValues: readonly NonNullable<PassOptions['vars']>[] = [
  {},
  { green: true, edited: 1 },
  { edited: 2, task: 'a' },
]
const amounts: readonly NonNullable<PassOptions['spent']>[] = [{}, { turns: 2 }, { turns: 9, cost: 4 }]

const pass: fc.Arbitrary<WatchPass> = fc
  .record({
    moments: fc.constantFrom(...momentLists),
    call: fc.constantFrom(bash('git push'), bash('ls'), write('src/a'), null),
    vars: fc.constantFrom(...storedValues),
    agentPath: fc.constantFrom([], ['x'], ['y']),
    spent: fc.constantFrom(...amounts),
    hasRecent: fc.boolean(),
  })
  .map(({ moments, call, agentPath, hasRecent, ...rest }) => {
    const hasCall = moments.includes('before') || moments.includes('after')
    return watchPass({
      ...rest,
      moments,
      call: hasCall ? call : null,
      isQuestion: moments.includes('before') && call === null,
      session: { agentPath },
      recent: hasRecent ? [{ key: 'k', tool: 'Bash', digest: 'd', at: now, ok: true }] : [],
      result: moments.includes('after') ? { ok: true, text: '' } : null,
    })
  })

const fileOf = (watch: readonly object[], options?: Parameters<typeof watchFile>[1]) =>
  watchFile({ vars, watch }, options)
const strength = (verdict: WatchResult['verdict']) => ['deny', 'ask', null].toReversed().indexOf(verdict)
const evaluate = (files: readonly WatchFile[], each: WatchPass) => new WatcherSet(files).evaluate(each)

describe('watchers (properties)', () => {
  it('a file that nobody has trusted never makes the verdict less strict and never adds text that the agent reads', () => {
    fc.assert(
      fc.property(drafts, drafts, pass, fc.boolean(), (own, project, each, isFirst) => {
        const ownFile = fileOf(own)
        const untrusted = fileOf(project, { trusted: false, folder: '/srv/app' })
        const before = evaluate([ownFile], each)
        const result = evaluate(isFirst ? [untrusted, ownFile] : [ownFile, untrusted], each)
        expect(strength(result.verdict)).toBeGreaterThanOrEqual(strength(before.verdict))
        expect(result.say).toEqual(before.say)
        const ours = result.firings.filter(({ file }) => file === ownFile)
        expect(ours).toEqual(before.firings)
        const added = result.reason.split('\n').filter(line => !before.reason.split('\n').includes(line))
        for (const line of added)
          expect(line).toMatch(/^$|^A watcher of the untrusted file |^This session has used [\d.]+ of /)
      }),
      { numRuns },
    )
  })
  it('the order of watchers changes neither the verdict nor which of them fire', () => {
    fc.assert(
      fc.property(drafts, pass, fc.infiniteStream(fc.nat(1000)), (watch, each, ranks) => {
        const order = watch.map(one => ({ one, rank: ranks.next().value ?? 0 })).sort((a, b) => a.rank - b.rank)
        const result = evaluate([fileOf(watch)], each)
        const other = evaluate([fileOf(order.map(({ one }) => one))], each)
        expect(other.verdict).toBe(result.verdict)
        expect(other.reason.split('\n').sort()).toEqual(result.reason.split('\n').sort())
        expect([...other.say].sort()).toEqual([...result.say].sort())
        const described = ({ firings }: WatchResult) =>
          firings
            .map(({ watcher, effects, set: values, problem }) =>
              JSON.stringify([watcher.name, effects, values, problem]),
            )
            .sort()
        expect(described(other)).toEqual(described(result))
      }),
      { numRuns },
    )
  })
  it('a watcher that denies or asks never lets the call run if the watcher cannot be evaluated', () => {
    fc.assert(
      fc.property(drafts, pass, (watch, each) => {
        const file = fileOf(watch)
        const { verdict, firings } = evaluate([file], each)
        for (const { watcher, problem } of firings) {
          const draft = file.watchers.find(({ name }) => name === watcher.name)
          const decides = draft?.do.deny !== undefined || draft?.do.ask !== undefined || draft?.do.limit !== undefined
          if (problem !== undefined && decides) expect(verdict).not.toBeNull()
        }
      }),
      { numRuns },
    )
  })
  it('the same facts give the same result, with the same watcher set and with a new watcher set', () => {
    fc.assert(
      fc.property(drafts, drafts, pass, (own, project, each) => {
        const files = [fileOf(own), fileOf(project, { folder: '/srv/app' })]
        const set = new WatcherSet(files)
        const first = set.evaluate(each)
        expect(set.evaluate(each)).toEqual(first)
        expect(evaluate(files, each)).toEqual(first)
      }),
      { numRuns },
    )
  })
})
