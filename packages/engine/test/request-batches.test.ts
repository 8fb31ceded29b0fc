/** Checks that many open requests of one session are resolved in several changes, because one large change would block all other work. */
import type { Request } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkUsage } from '../../../test/support/usage-check.ts'
import type { Change } from '../src/index.ts'
import { type AttachedAgent, type GatewayFixture, openFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeEach(async () => {
  fixture = await openFixture()
})
const current = ({ id }: Request) => fixture.person('getRequest', { id })

describe('ending a session with more open requests than one change can resolve', () => {
  const most = 500
  /** Opens a gateway that records the labels of committed changes, and waits for `before` ahead of each change. */
  async function open(before: (label: string) => Promise<void> = async () => {}): Promise<string[]> {
    const labels: string[] = []
    const { store } = fixture
    const commit = async <T>(change: Change<T>) => {
      await before(change.label)
      const result = await store.commit(change)
      labels.push(change.label)
      return result
    }
    await fixture.gateway.close()
    await fixture.open({ store: { ...store, commit } })
    return labels
  }
  const extraChanges = (labels: readonly string[]) => labels.filter(label => label === 'resolveSome').length
  const askMany = (agent: AttachedAgent, count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => agent.ask(`k${i}`)))
  const pendingRows = () => fixture.store.find('request', { where: { status: 'pending' } })

  it.each([
    [most, 0],
    [most + 1, 1],
  ])(
    'a session with more than 500 open requests resolves some in earlier changes when it ends: %i pending requests need %i more',
    async (count, changes) => {
      let drafts: number | undefined
      const labels = await open(async label => {
        if (label === 'endSession' && labels.includes('resolveSome'))
          drafts = (await fixture.store.find('draft', {})).length
      })
      const untouched = await (await fixture.startAttached()).ask('k')
      const agent = await fixture.startAttached()
      const requests = await askMany(agent, count)
      const last = requests.at(-1) as Request // there are many requests
      await fixture.person('putDraft', { id: last.id, draft: 'begun' })
      await fixture.person('endSession', { id: agent.session.id })
      expect(extraChanges(labels)).toBe(changes)
      expect((await pendingRows()).map(row => row.id)).toEqual([untouched.id])
      // The last request was still pending after the first change, so its draft was kept until then.
      expect(drafts).toBe(changes === 0 ? undefined : 1)
      expect(await fixture.store.find('draft', {})).toEqual([])
      await checkUsage(fixture.store)
    },
  )
  it('requests whose state does not change do not count towards the limit of one change', async () => {
    const labels = await open()
    const agent = await fixture.startAttached()
    const requests = await askMany(agent, most + 1)
    const handed = requests[0] as Request // there are many requests
    await fixture.allow(handed)
    await agent.report(handed, 'handed')
    await fixture.person('interruptSession', { id: agent.session.id })
    expect(extraChanges(labels)).toBe(0)
    expect(await current(handed)).toMatchObject({ delivery: { state: 'handed' } })
  })
  it('requests of a lost runner that need several changes are not resolved if another runner has attached the session since the first change', async () => {
    let id: Request['session'] | undefined
    let pending = 0
    const labels = await open(async label => {
      if (label !== 'resolveSome' || id === undefined) return
      const session = id
      id = undefined
      // Another attach raises the fence before the change of the lost runner is decided.
      await fixture.store.commit({
        label: 'attach',
        reads: [{ table: 'session', id: session }],
        decide: view => {
          const row = view.get('session', session)
          return { puts: row ? [{ table: 'session', row: { ...row, fence: row.fence + 1 } }] : [], result: null }
        },
      })
      pending = (await pendingRows()).length
    })
    const agent = await fixture.startAttached()
    await askMany(agent, most + 1)
    id = agent.session.id
    await fixture.person('endSession', { id: agent.session.id })
    expect(pending).toBe(most + 1)
    // The first change resolved nothing, so the end needed a second one with the new fence.
    expect(extraChanges(labels)).toBe(2)
    expect(await pendingRows()).toEqual([])
  })
})
