/** Minimal sample rows and changes for the store tests. */
import type {
  Change,
  CommandRow,
  RequestRow,
  RuleRow,
  SessionRow,
  Store,
  WatchFileRow,
  WatchStateRow,
} from '@holdpoint/engine'
import type { CommandId, EventBody, RequestId, RuleId, RunnerId, SessionId } from '@holdpoint/protocol'

const formatId = (prefix: string, n: number) => `${prefix}_${String(n).padStart(20, '0')}`
export const sessionId = (n: number) => formatId('ses', n) as SessionId // formatId returns a valid id with this prefix
export const requestId = (n: number) => formatId('req', n) as RequestId // formatId returns a valid id with this prefix
export const commandId = (n: number) => formatId('cmd', n) as CommandId // formatId returns a valid id with this prefix
export const ruleId = (n: number) => formatId('rul', n) as RuleId // formatId returns a valid id with this prefix
export const runnerId = (n: number) => formatId('run', n) as RunnerId // formatId returns a valid id with this prefix

export function session(n: number, over: Partial<SessionRow> = {}): SessionRow {
  return {
    id: sessionId(n),
    driver: 'rehearsal',
    title: `Session ${n}`,
    cwd: '/srv',
    mode: null,
    model: null,
    state: 'working',
    stateChangedAt: 1,
    startedAt: 1,
    endedAt: null,
    ending: null,
    cost: null,
    lastMessage: '',
    process: null,
    runner: null,
    capabilities: [],
    conversationId: null,
    deadlineMs: null,
    onDeadline: 'wait',
    parkAfterMs: null,
    options: {},
    ord: n,
    lease: null,
    fence: 0,
    turnOpen: false,
    needsRunner: false,
    agent: null,
    openedBy: null,
    idleAttaches: 0,
    commandSeq: 0,
    ...over,
  }
}

export function request(n: number, over: Partial<RequestRow> = {}): RequestRow {
  return {
    id: requestId(n),
    session: sessionId(1),
    key: `key-${n}`,
    agentPath: [],
    ask: {
      kind: 'approval',
      tool: 'Bash',
      input: { command: 'npm test' },
      title: 'Run the tests',
      cwd: '/srv',
      editable: true,
    },
    digest: `digest-${n}`,
    openedAt: n,
    deadlineAt: null,
    onDeadline: 'wait',
    overdue: false,
    status: 'pending',
    needs: 1,
    endorsements: [],
    resolution: null,
    delivery: { state: 'waiting', at: n },
    ord: n,
    handedFence: null,
    ...over,
  }
}

export function resolvedRequest(row: RequestRow, person: string): RequestRow {
  return {
    ...row,
    status: 'resolved',
    resolution: { at: row.openedAt, by: 'person', person, answer: { kind: 'deny' } },
    delivery: { state: 'taken', at: row.openedAt },
  }
}

export function command(n: number, over: Partial<CommandRow> = {}): CommandRow {
  return {
    id: commandId(n),
    session: sessionId(1),
    seq: n,
    body: { kind: 'message', text: 'go on' },
    madeBy: 'ada',
    madeAt: n,
    state: 'waiting',
    outcome: null,
    ord: n,
    ...over,
  }
}

export function rule(n: number): RuleRow {
  return { id: ruleId(n), effect: 'allow', tool: 'Read', madeBy: 'ada', madeAt: n, version: 1, ord: n }
}

export function watchFile(n: number): WatchFileRow {
  const file = '/srv/holdpoint.rules.json'
  const source = { file, trusted: true, project: true }
  const watchers = [{ name: 'a', on: 'stop' as const, do: { say: 'Hello.' } }]
  return { id: `f${n}`, ord: n, runner: runnerId(1), source, version: 1, folder: '/srv', vars: { a: 1 }, watchers }
}

export function watchState(n: number): WatchStateRow {
  return {
    id: sessionId(n),
    ord: n,
    started: true,
    values: { f1: { a: { value: 2, at: 1, by: 'ada' } } },
    fired: { 'f1 a': { count: 1, lastAt: 1 } },
    sentBack: 1,
    stopReported: false,
    stopRequest: requestId(1),
    texts: ['Hello.'],
    calls: [{ key: 'k', tool: 'Bash', digest: 'd', at: 1, ok: true }],
    replies: [{ key: 'stop 1', say: [] }],
    work: { tokens: 1, turns: 1, workedMs: 1, totalledMs: 0, at: 1, waitedMs: 0 },
  }
}

export function messageEvent(text: string): EventBody {
  return { type: 'message.added', block: 'b', role: 'agent', text }
}

/** Inserts a request with its event, as the gateway does. */
export function openRequest(row: RequestRow): Change<number> {
  return {
    label: 'open',
    reads: [{ table: 'request', id: row.id }],
    decide: view => ({
      puts: [{ table: 'request', row }],
      events: [{ session: row.session, body: { type: 'request.opened', value: row } }],
      result: view.nextSeq,
    }),
  }
}

/** Resolves a request if it is pending. The result says whether this change resolved the request. */
export function resolveRequest(id: RequestId, person: string): Change<boolean> {
  return {
    label: 'resolve',
    reads: [{ table: 'request', id }],
    decide: view => {
      const row = view.get('request', id)
      if (row?.status !== 'pending') return { result: false }
      const next = resolvedRequest(row, person)
      const { digest, delivery } = next
      const resolution = next.resolution as NonNullable<typeof next.resolution> // `resolved` sets the resolution
      return {
        puts: [{ table: 'request', row: next }],
        events: [
          { session: row.session, body: { type: 'request.resolved', request: id, digest, resolution, delivery } },
        ],
        result: true,
      }
    },
  }
}

export function addMessage(text: string, n = 1): Change<number> {
  return {
    label: 'appendEvents',
    reads: [],
    decide: view => ({ events: [{ session: sessionId(n), body: messageEvent(text) }], result: view.nextSeq }),
  }
}

export function putRows(...puts: NonNullable<ReturnType<Change<null>['decide']>['puts']>): Change<null> {
  return {
    label: 'put',
    reads: puts.map(put => ({ table: put.table, id: put.row.id })),
    decide: () => ({ puts, result: null }),
  }
}

export async function allEvents(store: Store) {
  return store.events({ after: 0, limit: 100_000 })
}
