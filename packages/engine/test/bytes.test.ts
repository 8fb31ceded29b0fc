/** Bytes have limits as numbers do: no page, snapshot or resumed stream grows with what agents put into one item. */
import { type Input, limits, type Request, type Runner } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { approval, type Driven, type GatewayFixture, rig } from './gateway-fixture.ts'

let at: GatewayFixture
let driven: Driven
beforeEach(async () => {
  at = await rig()
  driven = await at.drive()
})
const quarter = 256 * 1024
const said = (bytes: number): Input<'appendEvents'>['items'][number] => ({
  type: 'message.added',
  block: 'b',
  text: 'x'.repeat(bytes),
})
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const large = (bytes: number) => ({ ...approval(), input: { text: 'x'.repeat(bytes) } })
async function askMany(count: number, bytes: number): Promise<Request[]> {
  const asked: Request[] = []
  for (let i = 0; i < count; i++) asked.push(await driven.ask(`k${i}`, large(bytes)))
  return asked
}

describe('what was missed', () => {
  it('is resumed up to so many bytes, and is a gap beyond', async () => {
    const { hello } = (await at.watch()).watch
    const fits = Math.floor(limits.resumeMaxBytes / (quarter + 200))
    for (let i = 0; i < fits; i++) await driven.say(said(quarter))
    const resumed = (await at.watch({ after: hello.cursor })).watch
    expect([resumed.hello.resume, resumed.missed.length]).toEqual(['ok', fits])
    await driven.say(said(quarter))
    await driven.say(said(quarter))
    const gap = (await at.watch({ after: hello.cursor })).watch
    expect([gap.hello.resume, gap.missed.length]).toEqual(['gap', 0])
  })
  it('is resumed where it is one event, however large', async () => {
    const { hello } = (await at.watch()).watch
    const data = Buffer.alloc(limits.attachmentMaxBytes).toString('base64')
    const image = { type: 'image', mediaType: 'image/png', data } as const
    await at.person('sendMessage', { id: driven.session.id, text: 'look', attachments: [image, image] })
    expect((await at.watch({ after: hello.cursor })).watch).toMatchObject({ hello: { resume: 'ok' }, missed: [{}] })
  })
})

describe('hello', () => {
  it('holds so many bytes of requests, and says that there is more', async () => {
    const asked = await askMany(20, quarter)
    const { hello } = (await at.watch()).watch
    expect(bytesOf(hello.requests)).toBeLessThan(limits.snapshotMaxBytes)
    expect(hello.requests.length).toBeGreaterThan(10)
    expect(hello).toMatchObject({ more: true, pending: asked.length })
  })
  it('holds so many bytes of sessions, and says that there is more', async () => {
    for (let i = 0; i < 20; i++)
      await at.agent('startSession', { driver: 'external', options: { text: 'x'.repeat(quarter) } })
    const { hello } = (await at.watch()).watch
    expect(bytesOf(hello.sessions)).toBeLessThan(limits.snapshotMaxBytes)
    expect(hello.more).toBe(true)
  })
  it('holds so many bytes of blocks under way', async () => {
    for (let i = 0; i < 20; i++)
      await driven.say({ type: 'message.delta', block: `b${i}`, offset: 0, text: 'x'.repeat(quarter) })
    const { blocks } = (await at.watch()).watch.hello
    expect(bytesOf(blocks)).toBeLessThan(limits.snapshotMaxBytes)
    expect(blocks.length).toBeGreaterThan(10)
  })
})

describe('a page', () => {
  const half = limits.pageMaxBytes / 2

  it('of requests ends at so many bytes, and the next goes on', async () => {
    const asked = await askMany(40, quarter)
    const seen: Request[] = []
    for (let after: Request['id'] | undefined, more = true; more; ) {
      const page = await at.person('listRequests', { limit: limits.pageMax, ...(after && { after }) })
      expect(bytesOf(page.items)).toBeLessThan(limits.pageMaxBytes)
      seen.push(...page.items)
      after = page.items.at(-1)?.id
      more = page.next !== null
    }
    expect(seen.map(request => request.id)).toEqual(asked.map(request => request.id))
  })
  it('of the log ends at so many bytes, and the next goes on', async () => {
    for (let i = 0; i < 40; i++) await driven.say(said(quarter))
    let count = 0
    for (let after: string | undefined, more = true; more; ) {
      const page = await at.person('listEvents', { id: driven.session.id, limit: 500, ...(after && { after }) })
      expect(bytesOf(page.items)).toBeLessThan(limits.pageMaxBytes * 1.01)
      count += page.items.filter(event => event.type === 'message.added').length
      after = page.next ?? undefined
      more = page.next !== null
    }
    expect(count).toBe(40)
  })
  it('of sessions ends at so many bytes, and the next goes on', async () => {
    const opened = []
    for (let i = 0; i < 40; i++)
      opened.push(await at.agent('startSession', { driver: 'external', options: { text: 'x'.repeat(quarter) } }))
    const first = await at.person('listSessions', { limit: 500 })
    expect(bytesOf(first.items)).toBeLessThan(limits.pageMaxBytes)
    const before = first.items.at(-1)?.id
    const second = await at.person('listSessions', { limit: 500, ...(before && { before }) })
    const ids = [...first.items, ...second.items].map(session => session.id)
    expect(ids).toEqual([...opened.map(session => session.id).reverse(), driven.session.id])
  })
  it('of commands holds at least one, and reading on finds the rest', async () => {
    const { id } = driven.session
    const data = Buffer.alloc((half * 3) / 4).toString('base64')
    for (let i = 0; i < 5; i++)
      await at.person('sendMessage', {
        id,
        text: `${i}`,
        attachments: [{ type: 'image', mediaType: 'image/png', data }],
      })
    const texts: string[] = []
    for (let after = 0; ; ) {
      const { items } = await at.runner('listCommands', { id, after })
      const last = items.at(-1)
      if (!last) break
      expect(items).toHaveLength(1)
      for (const { body } of items) if (body.kind === 'message') texts.push(body.text)
      after = last.seq
    }
    expect(texts).toEqual(['0', '1', '2', '3', '4'])
  })
  it('of work ends at so many bytes', async () => {
    const options = { text: 'x'.repeat(quarter) }
    for (let i = 0; i < 40; i++) await at.person('startSession', { driver: 'steady', options })
    const { items: runners } = await at.runner('listRunners', {})
    const [runner] = runners as [Runner] // one was announced
    const { items } = await at.runner('listWork', { id: runner.id, incarnation: runner.incarnation })
    expect(bytesOf(items)).toBeLessThan(limits.pageMaxBytes)
    expect(items.length).toBeGreaterThan(20)
  })
})
