/** Tests that conditions that are evaluated without the library for CEL have the same results as with it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type RecentFacts, variableFacts, type WatchFacts } from '../../src/watch/condition-names.ts'
import { Conditions } from '../../src/watch/conditions.ts'
import { PassFacts } from '../../src/watch/watch-facts.ts'
import { bash, now, watchPass, write } from './watch-kit.ts'

const numRuns = 300 * Number(process.env.HOLDPOINT_ROUNDS ?? 1)

const vars = { green: false, edited: 0, rate: 0.5, task: '' }
const text = fc.constantFrom('vars.task', 'session.branch', 'action.tool', 'action.command', '"a"', '"Bash"', '""')
const whole = fc.constantFrom('vars.edited', 'session.turn', 'now.hour', '0', '2', '-1', 'size(action.paths)')
const decimal = fc.constantFrom('vars.rate', 'session.minutes', '0.5', '-0.5')
const texts = fc.constantFrom('action.paths', 'session.agentPath', 'risk.touches', '["a", "Bash"]')
const calls = fc.constantFrom('recent("10m")', 'recent("1m")', 'recent("10m").filter(f, f.ok)')
const relation = fc.constantFrom('<', '<=', '>', '>=')
const equality = fc.constantFrom('==', '!=')
const joined = (...parts: readonly fc.Arbitrary<string>[]) => fc.tuple(...parts).map(list => list.join(' '))

/** A condition about the variable of a list function, if it is inside of one. */
const ofItem = (item: 'text' | 'call' | null, name: string): fc.Arbitrary<string>[] => {
  if (item === null) return []
  const itemText = item === 'text' ? fc.constant(name) : fc.constantFrom(`${name}.tool`, `${name}.digest`)
  const tests = [joined(itemText, equality, text), itemText.map(value => `${value}.contains("a")`)]
  return item === 'text' ? tests : [...tests, fc.constant(`${name}.ok`), fc.constant(`${name}.secondsAgo > 30.0`)]
}
const condition = (depth: number, item: 'text' | 'call' | null = null, name = 'i'): fc.Arbitrary<string> => {
  const simple = fc.oneof(
    ...ofItem(item, name),
    fc.constantFrom('true', 'false', 'vars.green', 'action.outside'),
    // An item of a list that may be too short is left to the library, and so is what contains it.
    fc.constantFrom('session.agentPath[0] == "x"', '1 / vars.edited == 1', 'session.branch.size() == 1'),
    joined(text, equality, text),
    joined(whole, fc.oneof(relation, equality), whole),
    joined(decimal, fc.oneof(relation, equality), decimal),
    joined(whole, relation, decimal),
    joined(text, fc.constant('in'), texts),
    fc.tuple(text, fc.constantFrom('contains', 'startsWith', 'endsWith')).map(([of, method]) => `${of}.${method}("a")`),
    text.map(of => `${of}.startsWith("a") && !${of}.endsWith("a")`),
    fc.tuple(calls, relation, whole).map(([list, op, than]) => `${list}.size() ${op} ${than}`),
  )
  if (depth === 0) return simple
  const inner = condition(depth - 1, item, name)
  const each = (list: fc.Arbitrary<string>, kind: 'text' | 'call') =>
    fc
      .tuple(list, fc.constantFrom('exists', 'all'), condition(depth - 1, kind, `${name}i`))
      .map(([of, method, test]) => `${of}.${method}(${name}i, ${test})`)
  return fc.oneof(
    simple,
    inner.map(test => `!(${test})`),
    fc.tuple(inner, fc.constantFrom('&&', '||'), inner).map(([left, op, right]) => `(${left}) ${op} (${right})`),
    each(texts, 'text'),
    each(calls, 'call'),
  )
}

const storedValues: readonly Parameters<typeof variableFacts>[1][] = [
  {},
  { green: true, edited: 2 },
  { rate: 1, task: 'a' },
]
const facts = fc
  .record({
    call: fc.constantFrom(bash('ab'), bash(''), write('a'), null),
    agentPath: fc.constantFrom([], ['x'], ['a', 'Bash']),
    branch: fc.constantFrom('', 'a', 'ab', 'ba'),
    turn: fc.nat(3),
    minutes: fc.constantFrom(0, 0.5, 7),
    touches: fc.constantFrom([], ['network', 'a']),
    stored: fc.constantFrom(...storedValues),
    recent: fc.array(fc.record({ ok: fc.boolean(), ago: fc.nat(900_000), tool: fc.constantFrom('Bash', 'a') }), {
      maxLength: 4,
    }),
  })
  .map(({ call, agentPath, branch, turn, minutes, touches, stored, recent }) => {
    const pass = new PassFacts(
      watchPass({
        call,
        session: { agentPath, branch, turn },
        spent: { minutes },
        risk: { level: 'low', touches } as never, // the texts stand for kinds of risk
        recent: recent.map(({ ok, ago, tool }, index) => ({ key: `k${index}`, tool, digest: 'd', at: now - ago, ok })),
      }),
    )
    return { pass, facts: { ...pass.shared, vars: variableFacts(vars, stored) } }
  })

/** Returns the value of a condition, or why it cannot be evaluated. */
function outcomeOf(conditions: Conditions, when: string, of: WatchFacts): unknown {
  try {
    return conditions.compile(when, 'before').evaluate(of)
  } catch (error) {
    return String((error as Error).message).split('\n')[0]
  }
}

describe('conditions that are evaluated without the library', () => {
  it('a condition has the same value as with ?:, which only the library evaluates', () => {
    const conditions = new Conditions(vars)
    fc.assert(
      fc.property(condition(2), facts, (when, { pass, facts: of }) => {
        conditions.lookBackWith(withinMs => pass.recent(withinMs) as readonly RecentFacts[])
        const outcome = outcomeOf(conditions, when, of)
        fc.pre(!String(outcome).includes('too much work'))
        expect(outcome).toEqual(outcomeOf(conditions, `(${when}) ? true : false`, of))
      }),
      { numRuns },
    )
  })
  it('a condition that reads a value that is missing fails with the message of the library', () => {
    const { facts: of } = fc.sample(facts, 1)[0] ?? { facts: {} as WatchFacts }
    const without = { ...of, session: Object.assign(Object.create(Object.getPrototypeOf(of.session)), of.session) }
    without.session.branch = undefined
    expect(outcomeOf(new Conditions(vars), 'session.branch == "main"', without)).toContain('No such key: branch')
  })
})
