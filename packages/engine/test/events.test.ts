/** Pages of a session's events: forwards from a cursor, or backwards from the end. */
import { type Event, type Input, limits } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, expectFault, type GatewayFixture, openFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
})
const added = (text: string) => ({ type: 'message.added', block: text.slice(0, 20), text }) as const
const page = (input: Partial<Input<'listEvents'>> = {}) =>
  fixture.person('listEvents', { id: agent.session.id, ...input })
const cursors = (events: readonly Event[]) => events.map(event => event.cursor)

describe('listEvents', () => {
  it('listEvents pages forwards from a cursor to the end', async () => {
    for (let i = 0; i < 7; i++) await agent.append(added(`${i}`))
    const all = (await page()).items
    const seen = []
    let after: string | undefined
    do {
      const { items, next } = await page({ limit: 3, ...(after ? { after } : {}) })
      seen.push(...items)
      after = next ?? undefined
    } while (after)
    expect(seen).toEqual(all)
  })
  it('listEvents pages backwards from the end to the start, each page in log order', async () => {
    const other = await fixture.startAttached()
    for (let i = 0; i < 7; i++) {
      await agent.append(added(`${i}`))
      await other.append(added('of another session'))
    }
    const all = (await page()).items
    let seen: Event[] = []
    const lengths: number[] = []
    for (let before: string | null = 'end'; before !== null; ) {
      const { items, next }: Awaited<ReturnType<typeof page>> = await page({ limit: 4, before })
      expect(next).toBe(lengths.length < 2 ? items[0]?.cursor : null)
      lengths.push(items.length)
      seen = [...items, ...seen]
      before = next
    }
    expect(seen).toEqual(all)
    expect(lengths).toEqual([4, 4, all.length - 8])
  })
  it('listEvents excludes the event at the `before` cursor', async () => {
    const all = (await page()).items
    expect(cursors((await page({ before: all[1]?.cursor })).items)).toEqual(cursors(all.slice(0, 1)))
    expect(await page({ before: all[0]?.cursor })).toEqual({ items: [], next: null })
    expect(await page({ before: 'e1-0' })).toEqual({ items: [], next: null })
  })
  it('listEvents returns the newest events that fit when reading backwards', async () => {
    const large = limits.blockMaxBytes
    for (let i = 0; i < 20; i++) await agent.append(added(`${i}`.padEnd(large, '.')))
    const newest = await page({ before: 'end', limit: 500 })
    const texts = newest.items.flatMap(event => (event.type === 'message.added' ? Number.parseInt(event.text, 10) : []))
    const fits = Math.floor(limits.pageMaxBytes / (large + 100))
    expect(texts).toEqual(Array.from({ length: fits }, (_, i) => 20 - fits + i))
    expect(newest.next).toBe(newest.items[0]?.cursor)
  })
  it('listEvents refuses the parameters `after` and `before` together', async () => {
    const { cursor } = (await page()).items[0] as Event // the log contains at least the event that opened the session
    await expect(page({ after: cursor, before: 'end' })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('before: cannot be combined with after'),
    })
    await expectFault(page({ before: 'start' }), 'bad_input')
    await expectFault(fixture.person('listAudit', { after: cursor, before: cursor }), 'bad_input')
  })
  it('listEvents refuses a cursor that belongs to another log', async () => {
    await expectFault(page({ after: 'zz-3' }), 'gone')
    await expectFault(page({ before: 'zz-3' }), 'gone')
    await expectFault(fixture.person('listAudit', { after: 'e1-9999' }), 'gone')
    await expectFault(fixture.person('listAudit', { before: 'e1-9999' }), 'gone')
  })
})
