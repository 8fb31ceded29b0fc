/** Tests that the variables of a session stay bounded, whoever sets them and in whatever order. */
import { Fault, limits, type VariableValue } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonBytes } from '../src/paging.ts'
import type { AttachedAgent } from './gateway-fixture.ts'
import { openMemoryFixture, ownFile, projectFile, type WatchFixture } from './watch-fixture.ts'

const numRuns = 6 * Number(process.env.HOLDPOINT_ROUNDS ?? 1)

const texts = Array.from({ length: 12 }, (_, index) => `t${index}`)
const declared = {
  ...Object.fromEntries(texts.map(name => [name, { default: '', setBy: 'agent' }])),
  count: { default: 1, setBy: 'agent' },
  isDone: { default: false, setBy: 'agent' },
}
const ownVariables = { ...declared, other: '' }
/** After each call, all texts of the file get longer and the number gets larger. */
const grows = {
  name: 'grows',
  on: 'after',
  do: {
    set: {
      ...Object.fromEntries(texts.map(name => [name, `vars.${name} + result.text`])),
      count: 'vars.count * 1000003',
    },
  },
}
const replaces = { name: 'replaces', on: 'after', when: 'result.ok', do: { set: { t0: 'result.text', t1: '""' } } }

type Step =
  | { readonly kind: 'call'; readonly ok: boolean; readonly text: string }
  | { readonly kind: 'agent'; readonly name: string; readonly value: VariableValue }
  | { readonly kind: 'person'; readonly file: string; readonly name: string; readonly value: VariableValue }

const names = fc.constantFrom(...texts, 'count', 'isDone', 'other')
const text = fc
  .tuple(fc.constantFrom('x', 'é', '"', '😀', '\ud800'), fc.constantFrom(0, 1, 100, 2047, 2048, 4095, 4096, 4097))
  .map(([part, length]) => part.repeat(Math.ceil(length / part.length)).slice(0, length))
const value = fc.oneof({ weight: 4, arbitrary: text }, fc.boolean(), fc.integer(), fc.double({ noNaN: true }))
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('call' as const), ok: fc.boolean(), text }),
  fc.record({ kind: fc.constant('agent' as const), name: names, value }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('person' as const),
      file: fc.constantFrom(ownFile, projectFile),
      name: names,
      value,
    }),
  },
)

/** A value that is refused must change nothing, and the session goes on. */
async function take(fixture: WatchFixture, agent: AttachedAgent, key: string, each: Step): Promise<void> {
  const { id } = agent.session
  try {
    if (each.kind === 'call') {
      const call = { tool: 'Bash', input: { command: key } }
      await fixture.moment(agent, { moment: 'after', key, call, result: { ok: each.ok, text: each.text } })
      return
    }
    const { kind, ...given } = each
    if (kind === 'agent') await fixture.runner('setAgentVariable', { id, fence: agent.fence, ...given })
    else await fixture.person('setVariable', { id, ...given })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
  }
}

describe('the variables of a session (properties)', () => {
  it('variables never exceed their bounds and never change their types, whoever sets them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async steps => {
        const fixture = await openMemoryFixture()
        fixture.files.write(projectFile, { vars: declared, watch: [grows, replaces] })
        await fixture.withFile({ vars: ownVariables, watch: [grows, replaces] })
        const agent = await fixture.agent()
        for (const [index, each] of steps.entries()) {
          await take(fixture, agent, `k${index}`, each)
          const row = await fixture.store.get('watchstate', agent.session.id)
          const files = row?.values ?? {}
          expect(jsonBytes(files)).toBeLessThanOrEqual(limits.variablesMaxBytes)
          for (const stored of Object.values(files))
            for (const [name, { value: kept }] of Object.entries(stored)) {
              const type = name === 'count' ? 'number' : name === 'isDone' ? 'boolean' : 'string'
              expect([name, typeof kept]).toEqual([name, type])
              if (typeof kept === 'string') expect(kept.length).toBeLessThanOrEqual(limits.variableTextMax)
              if (typeof kept === 'number') expect(Number.isSafeInteger(kept)).toBe(true)
            }
        }
      }),
      { numRuns },
    )
  })
})
