/** Checks the turns of operations: work beyond the share of a credential waits, in order, without keeping others from running. */
import { type QuotaCaller, QuotaUse } from '@holdpoint/engine'
import { quotas, slotUnits } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Slots } from '../src/slots.ts'

const agent = (n = 0): QuotaCaller => ({ role: 'agent', token: `agent ${n}` })
const ada: QuotaCaller = { role: 'person', token: 'ada' }
const never = () => {}
const nextTurn = () => new Promise<void>(resolve => setImmediate(resolve))

describe('a slot for an operation', () => {
  it('F3: a slot for an operation is granted at once within the share of a credential, and otherwise later in the order of arrival', async () => {
    const slots = new Slots()
    const held = Array.from({ length: quotas.slots.agent }, () => slots.slotFor(agent(), 1, never))
    for (const slot of held) await slot.acquire()
    const order: number[] = []
    const waiting = [1, 2, 3].map(n => {
      const slot = slots.slotFor(agent(), 1, never)
      void slot.acquire().then(() => order.push(n))
      return slot
    })
    await nextTurn()
    expect(order).toEqual([])
    await slots.slotFor(agent(1), quotas.slots.agent, never).acquire()
    await slots.slotFor(ada, quotas.slots.person, never).acquire()
    held[0]?.release()
    held[0]?.release()
    await nextTurn()
    expect(order).toEqual([1])
    waiting[0]?.release()
    held[1]?.release()
    await nextTurn()
    expect(order).toEqual([1, 2, 3])
  })

  it('no slot is granted to work that is canceled while it waits', async () => {
    const slots = new Slots()
    const snapshots = quotas.slots.agent / slotUnits.snapshot
    const held = Array.from({ length: snapshots }, () => slots.slotFor(agent(), slotUnits.snapshot, never))
    for (const slot of held) await slot.acquire()
    let cancel = never
    const cancelled = slots.slotFor(agent(), slotUnits.snapshot, callback => {
      cancel = callback
    })
    const acquired = cancelled.acquire()
    const next = slots.slotFor(agent(), 1, never)
    const nextAcquired = next.acquire()
    cancel()
    await expect(acquired).rejects.toMatchObject({ code: 'draining' })
    await expect(cancelled.acquire()).rejects.toMatchObject({ code: 'draining' })
    cancelled.release()
    held[0]?.release()
    await nextAcquired
  })

  it('a slot is granted at once again after earlier work of the same credential has waited and ended', async () => {
    const slots = new Slots()
    const held = slots.slotFor(agent(), quotas.slots.agent, never)
    await held.acquire()
    const waiting = slots.slotFor(agent(), quotas.slots.agent, never)
    const acquired = waiting.acquire()
    held.release()
    await acquired
    waiting.release()
    await nextTurn()
    await slots.slotFor(agent(), quotas.slots.agent, never).acquire()
  })

  it('a slot becomes free when work that had waited for it is canceled after its start', async () => {
    const slots = new Slots()
    const held = slots.slotFor(agent(), quotas.slots.agent, never)
    await held.acquire()
    let cancel = never
    const waiting = slots.slotFor(agent(), quotas.slots.agent, callback => {
      cancel = callback
    })
    const acquired = waiting.acquire()
    held.release()
    await acquired
    cancel()
    waiting.release()
    await slots.slotFor(agent(), quotas.slots.agent, never).acquire()
  })

  it('a slot is granted to each credential in turn, if all together have used up their share', async () => {
    const slots = new Slots()
    const shares = (quotas.slots.total - quotas.slots.reservedForPeople) / quotas.slots.agent
    for (let n = 1; n < shares; n++) await slots.slotFor(agent(n), quotas.slots.agent, never).acquire()
    const held = Array.from({ length: quotas.slots.agent }, () => slots.slotFor(agent(0), 1, never))
    for (const slot of held) await slot.acquire()
    const order: string[] = []
    for (const token of ['a', 'a', 'a', 'b', 'b', 'c'])
      void slots
        .slotFor({ role: 'agent', token }, 1, never)
        .acquire()
        .then(() => order.push(token))
    for (let i = 0; i < 6; i++) {
      held[i]?.release()
      await nextTurn()
      expect(order).toHaveLength(i + 1)
    }
    expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
  })

  it('slots never exceed the shares, and all work gets its turn', async () => {
    const work = fc.array(
      fc.record({ n: fc.integer({ min: 0, max: 3 }), person: fc.boolean(), units: fc.constantFrom(1, 16, 64) }),
      { maxLength: 60 },
    )
    await fc.assert(
      fc.asyncProperty(work, async items => {
        const slots = new Slots()
        const use = new QuotaUse(quotas.slots)
        await Promise.all(
          items.map(async ({ n, person, units }) => {
            const caller: QuotaCaller = person ? { role: 'person', token: `person ${n}` } : agent(n)
            const slot = slots.slotFor(caller, units, never)
            await slot.acquire()
            expect(use.exceeded(caller, units)).toBeNull()
            use.add(caller, units)
            await nextTurn()
            use.add(caller, -units)
            slot.release()
          }),
        )
      }),
    )
  })
})
