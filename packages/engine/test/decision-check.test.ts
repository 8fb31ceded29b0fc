/** R11: a decision that was changed in the database is not handed to the agent. */

import { createHash } from 'node:crypto'
import { digestText } from '@holdpoint/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RequestRow } from '../src/index.ts'
import { resolvedEvent } from '../src/request-transitions.ts'
import {
  type AttachedAgent,
  approval,
  expectFault,
  type GatewayFixture,
  openFixture,
  robot,
  runnerCaller,
  secretForm,
} from './gateway-fixture.ts'

let fixture: GatewayFixture
let agent: AttachedAgent
beforeEach(async () => {
  fixture = await openFixture()
  agent = await fixture.startAttached()
})
/** Returns the row with another ask and the digest that belongs to it. */
function withOtherAsk(row: RequestRow): RequestRow {
  const ask = approval('rm -rf /')
  return { ...row, ask, digest: createHash('sha256').update(digestText(row.session, ask)).digest('hex') }
}
/** Changes the stored row without an event, as someone with access to the database can. */
async function changeRow(id: string, change: (row: RequestRow) => RequestRow): Promise<void> {
  await fixture.store.commit({
    label: 'tamper',
    reads: [{ table: 'request', id }],
    decide: view => ({
      puts: [{ table: 'request', row: change(view.get('request', id) as RequestRow) }],
      result: null,
    }), // every test opens this request first
  })
}

describe('R11: reporting an answer as handed', () => {
  const changes: [string, (row: RequestRow) => RequestRow][] = [
    [
      'a deny was changed to an allow',
      row => ({ ...row, resolution: { ...row.resolution, answer: { kind: 'allow' } } as RequestRow['resolution'] }),
    ],
    ['the ask was changed', row => ({ ...row, ask: approval('rm -rf /') })],
    ['the ask and the digest were changed', row => ({ ...row, ask: approval('rm -rf /'), digest: '0'.repeat(64) })],
    [
      'the person was changed',
      row => ({ ...row, resolution: { ...row.resolution, person: 'mallory' } as RequestRow['resolution'] }),
    ],
    ['the ask was changed together with its digest', row => withOtherAsk(row)],
    [
      'the ask was changed together with its digest, and the position of the event was removed',
      ({ resolvedSeq: _, ...row }) => withOtherAsk(row),
    ],
    [
      'the resolution and the position of the event were removed',
      ({ resolvedSeq: _, ...row }) => ({ ...row, resolution: null }),
    ],
    ['the position of the event was changed', row => ({ ...row, resolvedSeq: 1 })],
    [
      'the position of the event was removed and the answer changed',
      ({ resolvedSeq: _, ...row }) => ({
        ...row,
        resolution: { ...row.resolution, answer: { kind: 'allow' } } as RequestRow['resolution'],
      }),
    ],
  ]
  it.each(changes)('R11: an answer is not handed if %s', async (_name, change) => {
    const request = await agent.ask('k')
    await fixture.deny(request)
    await changeRow(request.id, change)
    await expectFault(agent.report(request, 'handed'), 'store_damaged')
    expect((await fixture.store.get('request', request.id))?.delivery.state).toBe('waiting')
  })
  it('R11: an answer is not handed if an allow was written into the row of a pending request without an event', async () => {
    const request = await agent.ask('k')
    await changeRow(request.id, row => ({
      ...row,
      status: 'resolved',
      resolution: { at: row.openedAt, by: 'person', person: 'ada', answer: { kind: 'allow' } },
    }))
    await expectFault(agent.report(request, 'handed'), 'store_damaged')
  })
})

describe('R11: an answer of schema 3 with a secret', () => {
  const answer = { kind: 'submit', values: { name: 'ada', pass: 'hunter2' } } as const
  /** Resolves the request, and stores the answer as schema 3 did: with the secret in the row. */
  async function resolveAsSchema3(values: Record<string, string>) {
    const request = await agent.ask('k', secretForm)
    await fixture.person('answerRequest', { id: request.id, digest: request.digest, answer })
    await changeRow(request.id, ({ resolvedSeq: _, sealed: __, ...row }) => ({
      ...row,
      resolution: { ...row.resolution, answer: { kind: 'submit', values } } as RequestRow['resolution'],
    }))
    return request
  }
  it('R11: an answer of schema 3 with a secret is handed if it is unchanged', async () => {
    const request = await resolveAsSchema3(answer.values)
    expect((await agent.report(request, 'handed')).resolution?.answer).toEqual(answer)
  })
  it('R11: an answer of schema 3 with a secret is refused if a part other than the secret was changed', async () => {
    const request = await resolveAsSchema3({ ...answer.values, name: 'mallory' })
    await expectFault(agent.report(request, 'handed'), 'store_damaged')
  })
  it('R11: an answer of schema 3 with a secret is refused if a field was added to the answer', async () => {
    const request = await resolveAsSchema3({ ...answer.values, pin: '1' })
    await expectFault(agent.report(request, 'handed'), 'store_damaged')
  })
})

it('R11: a caller without access gets the same reply for a changed decision as for an unknown request', async () => {
  const request = await agent.ask('k')
  await fixture.deny(request)
  await changeRow(request.id, row => ({ ...row, resolvedSeq: 1 }))
  for (const call of [fixture.otherAgent, fixture.runnerCall(1)]) {
    await expectFault(call('handOverRequest', { id: request.id, fence: agent.fence }), 'not_found')
    await expectFault(call('reportDelivery', { id: request.id, state: 'handed', fence: agent.fence }), 'not_found')
  }
  await expectFault(fixture.runner('handOverRequest', { id: request.id, fence: agent.fence }), 'store_damaged')
})

describe('handing an unchanged decision', () => {
  it.each(['person', 'rule', 'deadline', 'edited'])(
    'an unchanged decision is handed if it was made by: %s',
    async by => {
      if (by === 'rule') await fixture.person('addRule', { effect: 'deny', tool: 'Bash', command: 'ls' })
      const request = await agent.ask(
        'k',
        approval('ls'),
        by === 'deadline' ? { deadlineMs: 1000, onDeadline: 'deny' } : {},
      )
      if (by === 'person') await fixture.allow(request)
      if (by === 'deadline') await fixture.clock.advance(1600)
      if (by === 'edited')
        await fixture.person('answerRequest', {
          id: request.id,
          digest: request.digest,
          answer: { kind: 'allow', input: { command: 'ls -l' }, note: 'with details' },
        })
      expect((await agent.report(request, 'handed')).delivery.state).toBe('handed')
    },
  )
  it('an unchanged decision is handed from a row of schema 3, although the row does not contain the position of its event', async () => {
    const request = await agent.ask('k')
    await fixture.allow(request)
    await fixture.deny(await agent.ask('later', approval('pwd')))
    await changeRow(request.id, ({ resolvedSeq: _, sealed: __, ...row }) => row)
    expect((await agent.report(request, 'handed')).delivery.state).toBe('handed')
  })
})

describe('a decision that Holdpoint 0.1 logged without its effective input', () => {
  /** Allows a request, and writes its event once more as Holdpoint 0.1 did. */
  async function allowAsInFirstVersion() {
    const request = await agent.ask('k')
    await fixture.allow(request)
    await fixture.store.commit({
      label: 'old event',
      reads: [{ table: 'request', id: request.id }],
      decide: view => {
        const row = view.get('request', request.id) as RequestRow // it was just opened
        const event = resolvedEvent(row)
        const { effective: _, ...resolution } = event.resolution
        return {
          puts: [{ table: 'request', row: { ...row, resolvedSeq: view.nextSeq } }],
          events: [{ session: row.session, body: { ...event, resolution } }],
          result: null,
        }
      },
    })
    return request
  }
  it('a decision that Holdpoint 0.1 logged without its effective input is handed if it is unchanged', async () => {
    const request = await allowAsInFirstVersion()
    expect((await agent.report(request, 'handed')).delivery.state).toBe('handed')
  })
  it('a decision that Holdpoint 0.1 logged without its effective input is not handed if it was changed', async () => {
    const request = await allowAsInFirstVersion()
    await changeRow(request.id, row => ({
      ...row,
      resolution: { ...row.resolution, person: 'mallory' } as RequestRow['resolution'],
    }))
    await expectFault(agent.report(request, 'handed'), 'store_damaged')
  })
})

describe('F11a: a repeated report with its idempotency key', () => {
  const hand = (id: string, fence: number) =>
    fixture.gateway.dispatch(
      runnerCaller,
      'reportDelivery',
      { id, state: 'handed', fence } as never, // the ids come from the gateway
      { idempotencyKey: 'H1' },
    )
  it('F11a: a repeated report with its idempotency key hands an allow under the same fence again, because the reply may have been lost', async () => {
    const request = await agent.ask('k')
    await fixture.allow(request)
    expect((await hand(request.id, agent.fence)).status).toBe(200)
    expect((await hand(request.id, agent.fence)).status).toBe(200)
  })
  it('F11a: a repeated report with its idempotency key does not hand an allow that became unknown', async () => {
    const session = await fixture.externalAgent('startSession', { driver: 'external' })
    const request = await fixture.externalAgent('openRequest', { id: session.id, key: 'k', ask: approval() })
    await fixture.allow(request)
    const handAsAgent = () =>
      fixture.gateway.dispatch(robot, 'reportDelivery', { id: request.id, state: 'handed' }, { idempotencyKey: 'H1' })
    await handAsAgent()
    await fixture.externalAgent('attachSession', { id: session.id })
    expect((await fixture.store.get('request', request.id))?.delivery.state).toBe('unknown')
    await expectFault(handAsAgent(), 'already_resolved')
  })
})
