/** Pages of a session's log: read on from a place, or back from the end. */
import { type Event, type Input, limits } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Driven, type GatewayFixture, refused, rig } from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
beforeEach(async () => {
  at = await rig()
  driven = await at.drive()
})
const added = (text: string) => ({ type: 'message.added', block: text.slice(0, 20), text }) as const
const page = (input: Partial<Input<'listEvents'>> = {}) => at.person('listEvents', { id: driven.session.id, ...input })
const cursors = (events: readonly Event[]) => events.map(event => event.cursor)

describe('pages of the log', () => {
  it('go on from a cursor, and end', async () => {
    for (let i = 0; i < 7; i++) await driven.say(added(`${i}`))
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
  it('go back from the end, each in the order of the log, and end at its start', async () => {
    const other = await at.drive()
    for (let i = 0; i < 7; i++) {
      await driven.say(added(`${i}`))
      await other.say(added('of another session'))
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
  it('leave out the event at the place that they are read back from', async () => {
    const all = (await page()).items
    expect(cursors((await page({ before: all[1]?.cursor })).items)).toEqual(cursors(all.slice(0, 1)))
    expect(await page({ before: all[0]?.cursor })).toEqual({ items: [], next: null })
    expect(await page({ before: 'e1-0' })).toEqual({ items: [], next: null })
  })
  it('hold what is nearest to the end where bytes bound them, and at least one event', async () => {
    const large = limits.blockMaxBytes
    for (let i = 0; i < 20; i++) await driven.say(added(`${i}`.padEnd(large, '.')))
    const newest = await page({ before: 'end', limit: 500 })
    const texts = newest.items.flatMap(event => (event.type === 'message.added' ? Number.parseInt(event.text, 10) : []))
    const fits = Math.floor(limits.pageMaxBytes / (large + 100))
    expect(texts).toEqual(Array.from({ length: fits }, (_, i) => 20 - fits + i))
    expect(newest.next).toBe(newest.items[0]?.cursor)
  })
  it('are read in one direction: after and before exclude each other', async () => {
    const { cursor } = (await page()).items[0] as Event // a session has begun
    await expect(page({ after: cursor, before: 'end' })).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringContaining('before: cannot be combined with after'),
    })
    await refused(page({ before: 'start' }), 'bad_input')
    await refused(at.person('listAudit', { after: cursor, before: cursor }), 'bad_input')
  })
  it('refuse a cursor of another log', async () => {
    await refused(page({ after: 'zz-3' }), 'gone')
    await refused(page({ before: 'zz-3' }), 'gone')
    await refused(at.person('listAudit', { after: 'e1-9999' }), 'gone')
    await refused(at.person('listAudit', { before: 'e1-9999' }), 'gone')
  })
})
