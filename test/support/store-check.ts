/** Checks a store: its hash chain is valid, and its rows equal the state of every request, command and session in the log. */
import type { Store, StoredEvent } from '@holdpoint/engine'
import { type Delivery, limits, type Request, type Resolution, withEffective } from '@holdpoint/protocol'
import { openSqlite, verifyChain } from '@holdpoint/store'
import { expect } from 'vitest'
import { checkUsage } from './usage-check.ts'

interface RequestHistory {
  opened: Request
  readonly resolutions: Resolution[]
  readonly deliveries: Delivery[]
}

/** The allowed transitions of a delivery. A separate check below ensures that an allow never goes from `unknown` to `handed`. */
const deliveryMoves: Readonly<Record<string, readonly string[]>> = {
  waiting: ['handed', 'undeliverable', 'unknown'],
  handed: ['taken', 'unknown', 'undeliverable'],
  unknown: ['handed', 'taken'],
  taken: [],
  undeliverable: [],
}

export async function checkStore(store: Store): Promise<void> {
  expect(await verifyChain(store)).toMatchObject({ ok: true })
  const events = await wholeLog(store)
  const requests = new Map<string, RequestHistory>()
  const commands = new Map<string, string>()
  const sessions = new Map<string, string>()
  for (const { body, session } of events) fold(body, session ?? '', { requests, commands, sessions })
  for (const [id, history] of requests) await checkRequest(store, id, history)
  for (const [id, state] of commands) expect((await store.get('command', id))?.state, id).toBe(state)
  for (const [id, state] of sessions) expect((await store.get('session', id))?.state, id).toBe(state)
  await checkUsage(store)
}

/** Checks the store of a gateway that has stopped. */
export async function checkSqlite(file: string): Promise<void> {
  const store = await openSqlite({ file })
  try {
    await checkStore(store)
  } finally {
    await store.close()
  }
}

async function wholeLog(store: Store): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (;;) {
    const page = await store.events({ after: events.at(-1)?.seq ?? 0, limit: limits.pageMax })
    events.push(...page)
    if (page.length < limits.pageMax) return events
  }
}

interface ReplayedState {
  readonly requests: Map<string, RequestHistory>
  readonly commands: Map<string, string>
  readonly sessions: Map<string, string>
}

function fold(body: StoredEvent['body'], session: string, { requests, commands, sessions }: ReplayedState): void {
  switch (body.type) {
    case 'session.opened':
    case 'session.changed':
    case 'session.ended':
      sessions.set(body.value.id, body.value.state)
      return
    case 'session.deleted':
      sessions.delete(session)
      return
    case 'request.opened':
      expect(requests.has(body.value.id), `${body.value.id} is opened once`).toBe(false)
      requests.set(body.value.id, { opened: body.value, resolutions: [], deliveries: [] })
      return
    case 'request.resolved':
      requests.get(body.request)?.resolutions.push(body.resolution)
      requests.get(body.request)?.deliveries.push(body.delivery)
      return
    case 'request.handed':
    case 'request.taken':
    case 'request.unknown':
    case 'request.undeliverable':
      requests.get(body.request)?.deliveries.push(body.delivery)
      return
    case 'command.added':
      commands.set(body.value.id, 'waiting')
      return
    case 'command.taken':
      commands.set(body.command, 'taken')
      return
    case 'command.done':
      commands.set(body.command, 'done')
  }
}

async function checkRequest(
  store: Store,
  id: string,
  { opened, resolutions, deliveries }: RequestHistory,
): Promise<void> {
  const row = await store.get('request', id)
  if (!row) throw new Error(`${id} is in the log, but has no row`)
  expect(resolutions.length, `${id} is resolved once`).toBe(row.status === 'resolved' ? 1 : 0)
  expect(row.resolution && withEffective(row.ask, row.resolution), id).toEqual(resolutions[0] ?? null)
  expect(row.delivery, id).toEqual(deliveries.at(-1) ?? opened.delivery)
  for (const [index, { state }] of deliveries.entries()) {
    const before = deliveries[index - 1]?.state
    if (before !== undefined) expect(deliveryMoves[before], `${id} goes from ${before} to ${state}`).toContain(state)
  }
  if (row.resolution?.answer?.kind === 'allow')
    expect(deliveries.filter(({ state }) => state === 'handed').length, `${id} is handed once`).toBeLessThanOrEqual(1)
}
