import type { Ask, Request, Risk } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareUrgency, isDangerous } from '../src/urgency.ts'

interface Sample {
  readonly level?: Risk['level']
  readonly deadlineAt?: number | null
  readonly openedAt?: number
}
const request = (id: string, { level, deadlineAt = null, openedAt = 0 }: Sample = {}): Request =>
  ({ id, deadlineAt, openedAt, ...(level && { risk: { level, touches: [] } }) }) as unknown as Request // the order uses no other fields

const sorted = (...requests: readonly Request[]) => [...requests].sort(compareUrgency).map(({ id }) => id)

describe('compareUrgency', () => {
  it('compareUrgency puts the nearest deadline first, and requests without a deadline last', () => {
    const [late, soon] = [request('late', { deadlineAt: 9 }), request('soon', { deadlineAt: 5 })]
    expect(sorted(request('never', { level: 'dangerous' }), late, soon)).toEqual(['soon', 'late', 'never'])
  })
  it('compareUrgency puts the highest risk first if the deadlines are equal; a question ranks as notable', () => {
    const levels = (['low', 'dangerous', 'notable'] as const).map(level => request(level, { level, openedAt: 1 }))
    expect(sorted(...levels, request('question', { openedAt: 2 }))).toEqual(['dangerous', 'notable', 'question', 'low'])
  })
  it('compareUrgency puts the oldest first if deadline and risk are equal', () => {
    expect(sorted(request('young', { openedAt: 2 }), request('old', { openedAt: 1 }))).toEqual(['old', 'young'])
  })
  it('compareUrgency orders any requests consistently (property)', () => {
    const sample = fc.record({
      level: fc.constantFrom('low', 'notable', 'dangerous', undefined),
      deadlineAt: fc.constantFrom(null, 1, 2),
      openedAt: fc.integer({ min: 0, max: 3 }),
    })
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 8 }), samples => {
        const all = samples.map((each, index) => request(`req_${index}`, each as Sample)) // fast-check types a missing level as `undefined`
        expect(sorted(...all.toReversed())).toEqual(sorted(...all))
      }),
    )
  })
})

describe('isDangerous', () => {
  const approval = { kind: 'approval' } as Ask // the function reads no other field
  it('isDangerous is true for a dangerous action, and for a request that the agent’s program flags', () => {
    expect(isDangerous({ ask: approval, risk: { level: 'dangerous', touches: [] } })).toBe(true)
    expect(isDangerous({ ask: { ...approval, caution: { defaultToNo: true } } as Ask })).toBe(true) // see above
  })
  it('isDangerous is false for a notable action and for questions', () => {
    expect(isDangerous({ ask: approval, risk: { level: 'notable', touches: ['network'] } })).toBe(false)
    expect(isDangerous({ ask: { kind: 'questions', questions: [] } as unknown as Ask })).toBe(false) // see above
  })
})
