/** Tests the byte limits of pages, snapshots and resumed streams, also with very large items. */
import { type Input, limits, type Request, type Runner } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AttachedAgent, approval, type GatewayFixture, openFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
})
const quarterMiB = 256 * 1024
const message = (bytes: number): Input<'appendEvents'>['items'][number] => ({
  type: 'message.added',
  block: 'b',
  text: 'x'.repeat(bytes),
})
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const large = (bytes: number) => ({ ...approval(), input: { text: 'x'.repeat(bytes) } })
async function askMany(count: number, bytes: number): Promise<Request[]> {
  const asked: Request[] = []
  for (let i = 0; i < count; i++) asked.push(await agent.ask(`k${i}`, large(bytes)))
  return asked
}

describe('resuming a stream', () => {
  it('resuming a stream works up to the byte limit and falls back to a snapshot beyond it', async () => {
    const { hello } = (await fixture.subscribe()).subscription
    const fits = Math.floor(limits.resumeMaxBytes / (quarterMiB + 200))
    for (let i = 0; i < fits; i++) await agent.append(message(quarterMiB))
    const resumed = (await fixture.subscribe({ after: hello.cursor })).subscription
    expect([resumed.hello.resume, resumed.missed.length]).toEqual(['ok', fits])
    await agent.append(message(quarterMiB))
    await agent.append(message(quarterMiB))
    const gap = (await fixture.subscribe({ after: hello.cursor })).subscription
    expect([gap.hello.resume, gap.missed.length]).toEqual(['gap', 0])
  })
  it('resuming a stream works for a single event of any size', async () => {
    const { hello } = (await fixture.subscribe()).subscription
    const output = 'x'.repeat(limits.resumeMaxBytes + 1)
    await agent.append({ type: 'tool.finished', block: 't', ok: true, output })
    expect((await fixture.subscribe({ after: hello.cursor })).subscription).toMatchObject({
      hello: { resume: 'ok' },
      missed: [{}],
    })
  })
})

describe('the hello snapshot', () => {
  it('the hello snapshot limits the bytes of requests and says that there are more', async () => {
    const asked = await askMany(20, quarterMiB)
    const { hello } = (await fixture.subscribe()).subscription
    expect(bytesOf(hello.requests)).toBeLessThan(limits.snapshotMaxBytes)
    expect(hello.requests.length).toBeGreaterThan(limits.snapshotMaxBytes / quarterMiB / 2)
    expect(hello).toMatchObject({ more: true, pending: asked.length })
  })
  it('the hello snapshot limits the bytes of sessions and says that there are more', async () => {
    for (let i = 0; i < 20; i++)
      await fixture.externalAgent('startSession', { driver: 'external', options: { text: 'x'.repeat(quarterMiB) } })
    const { hello } = (await fixture.subscribe()).subscription
    expect(bytesOf(hello.sessions)).toBeLessThan(limits.snapshotMaxBytes)
    expect(hello.more).toBe(true)
  })
  it('the hello snapshot limits the bytes of streaming blocks', async () => {
    for (let i = 0; i < 20; i++)
      await agent.append({ type: 'message.delta', block: `b${i}`, offset: 0, text: 'x'.repeat(quarterMiB) })
    const { blocks } = (await fixture.subscribe()).subscription.hello
    expect(bytesOf(blocks)).toBeLessThan(limits.snapshotMaxBytes)
    expect(blocks.length).toBeGreaterThan(limits.snapshotMaxBytes / quarterMiB / 2)
  })
})

describe('paging', () => {
  it('listRequests ends a page at the byte limit, and the next page continues', async () => {
    const asked = await askMany(40, quarterMiB)
    const seen: Request[] = []
    for (let after: Request['id'] | undefined, more = true; more; ) {
      const page = await fixture.person('listRequests', { limit: limits.pageMax, ...(after && { after }) })
      expect(bytesOf(page.items)).toBeLessThan(limits.pageMaxBytes)
      seen.push(...page.items)
      after = page.items.at(-1)?.id
      more = page.next !== null
    }
    expect(seen.map(request => request.id)).toEqual(asked.map(request => request.id))
  })
  it('listEvents ends a page at the byte limit, and the next page continues', async () => {
    for (let i = 0; i < 40; i++) await agent.append(message(quarterMiB))
    let count = 0
    for (let after: string | undefined, more = true; more; ) {
      const page = await fixture.person('listEvents', { id: agent.session.id, limit: 500, ...(after && { after }) })
      expect(bytesOf(page.items)).toBeLessThan(limits.pageMaxBytes * 1.01)
      count += page.items.filter(event => event.type === 'message.added').length
      after = page.next ?? undefined
      more = page.next !== null
    }
    expect(count).toBe(40)
  })
  it('listSessions ends a page at the byte limit, and the next page continues', async () => {
    const opened = []
    const count = Math.floor((limits.pageMaxBytes / quarterMiB) * 1.5)
    for (let i = 0; i < count; i++)
      opened.push(
        await fixture.externalAgent('startSession', { driver: 'external', options: { text: 'x'.repeat(quarterMiB) } }),
      )
    const first = await fixture.person('listSessions', { limit: 500 })
    expect(bytesOf(first.items)).toBeLessThan(limits.pageMaxBytes)
    const before = first.items.at(-1)?.id
    const second = await fixture.person('listSessions', { limit: 500, ...(before && { before }) })
    const ids = [...first.items, ...second.items].map(session => session.id)
    expect(ids).toEqual([...opened.map(session => session.id).reverse(), agent.session.id])
  })
  it('listWork ends a page at the byte limit', async () => {
    const options = { text: 'x'.repeat(quarterMiB) }
    for (let i = 0; i < 40; i++) await fixture.person('startSession', { driver: 'resumable', options })
    const { items: runners } = await fixture.runner('listRunners', {})
    const [runner] = runners as [Runner] // exactly one runner was announced
    const { items } = await fixture.runner('listWork', { id: runner.id, incarnation: runner.incarnation })
    expect(bytesOf(items)).toBeLessThan(limits.pageMaxBytes)
    expect(items.length).toBeGreaterThan(limits.pageMaxBytes / quarterMiB / 2)
  })
})
