import type { Request, RequestId, Session, SessionId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { groupSessions } from '../../src/gateway/session-groups.ts'
import { href, readRoute } from '../../src/routes.ts'
import { partitionSelectable, range } from '../../src/screens/inbox/selection.ts'
import {
  inputOf,
  offeredDrivers,
  problemsOf,
  recentFolders,
} from '../../src/screens/shell/new-session/new-session-form.ts'

const id = (n: number) => `req_${String(n).padStart(20, '0')}` as RequestId // the string has the format of a request id
const session = (n: number, more: Partial<Session>): Session =>
  ({
    id: `ses_${String(n).padStart(20, '0')}` as SessionId,
    title: `s${n}`,
    startedAt: n,
    pending: 0,
    state: 'working',
    ...more,
  }) as Session // the tests use no other fields

describe('groupSessions', () => {
  const none = () => false
  it('groupSessions shows an agent that failed, was lost or is disconnected in a group of its own, neither as idle nor as working', () => {
    const lost = { state: 'lost', changedAt: 1 } as const
    const groups = groupSessions(
      [
        session(1, { state: 'idle', lastTurn: { ending: 'failed' } }),
        session(2, { state: 'parked', process: lost }),
        session(3, { state: 'disconnected' }),
        session(4, { state: 'working', lastTurn: { ending: 'failed' } }),
      ],
      none,
    )
    expect(groups.map(group => [group.name, group.sessions.map(each => each.title)])).toEqual([
      ['failed', ['s2', 's1']],
      ['working', ['s4']],
      ['disconnected', ['s3']],
    ])
  })
  it('groupSessions lists an ended session that failed or was lost until the person has read it', () => {
    const ended = (['done', 'failed', 'lost'] as const).map((reason, n) =>
      session(n, { state: 'ended', ending: { reason } }),
    )
    const titles = (isUnread: (one: Session) => boolean) =>
      groupSessions(ended, isUnread).map(group => [group.name, group.sessions.map(each => each.title)])
    expect(titles(() => true)).toEqual([['failed', ['s2', 's1']]])
    expect(titles(each => each.title === 's1')).toEqual([['failed', ['s1']]])
    expect(titles(none)).toEqual([])
  })
  it('groupSessions puts waiting sessions first and leaves out ended sessions', () => {
    const groups = groupSessions(
      [
        session(1, { state: 'idle' }),
        session(2, { state: 'working', pending: 1 }),
        session(3, { state: 'starting' }),
        session(4, { state: 'working' }),
        session(5, { state: 'ended' }),
      ],
      none,
    )
    expect(groups.map(group => [group.name, group.sessions.map(each => each.title)])).toEqual([
      ['waiting', ['s2']],
      ['working', ['s4', 's3']],
      ['idle', ['s1']],
    ])
  })
  it('groupSessions truncates long groups and counts the remaining sessions', () => {
    const many = Array.from({ length: 30 }, (_, n) => session(n, { state: 'parked' }))
    expect(groupSessions(many, none)).toMatchObject([{ name: 'parked', more: 22 }])
  })
})

describe('the New session form', () => {
  const driver = (name: string, ready: boolean, runner: string | null = 'run_1') =>
    ({ name, title: name, capabilities: [], modes: [], ready, runner }) as unknown as Parameters<
      typeof offeredDrivers
    >[0][number] // `offeredDrivers` does not rely on the branded type of the runner id
  it('the New session form offers each driver once, preferring a runner that is ready, and offers no external agents', () => {
    const offered = offeredDrivers([driver('claude', false), driver('claude', true), driver('external', true, null)])
    expect(offered.map(({ name, ready }) => [name, ready])).toEqual([['claude', true]])
  })
  it('the New session form leaves out empty fields, so that the gateway applies its defaults', () => {
    expect(inputOf({ driver: 'claude', cwd: ' ', mode: '', model: ' opus ', prompt: '' })).toEqual({
      driver: 'claude',
      model: 'opus',
    })
  })
  it('the New session form starts a rehearsal with every kind of request if the message is empty', () => {
    const fields = { cwd: '', mode: '', model: '', prompt: ' ' }
    expect(inputOf({ ...fields, driver: 'rehearsal' })).toEqual({ driver: 'rehearsal', prompt: 'Show me everything' })
    expect(inputOf({ ...fields, driver: 'rehearsal', prompt: 'A short one' })).toMatchObject({ prompt: 'A short one' })
    expect(inputOf({ ...fields, driver: 'claude' })).toEqual({ driver: 'claude' })
  })
  it('the New session form assigns an error to its field', async () => {
    const { Fault } = await import('@holdpoint/protocol')
    const refusal = new Fault('bad_input', 'no', { issues: [{ path: 'cwd', message: 'is too long' }] })
    expect(problemsOf(refusal)).toEqual({ cwd: 'is too long' })
    expect(problemsOf(new Fault('no_runner', 'Sign in first'))).toEqual({ driver: 'Sign in first' })
    expect(problemsOf(new Fault('too_many', 'Too many'))).toEqual({ all: 'Too many' })
  })
})

it('`range` returns all requests between two requests, in either direction', () => {
  expect(range([id(1), id(2), id(3)], id(3), id(2))).toEqual([id(2), id(3)])
  expect(range([id(1), id(2)], null, id(2))).toEqual([id(2)])
  expect(range([id(1), id(2)], id(9), id(2))).toEqual([id(2)])
})

describe('partitionSelectable', () => {
  const approval = { kind: 'approval', tool: 'Bash', input: {}, title: '', cwd: '/', editable: true } as const
  const form = { kind: 'form', title: '', message: '', schema: { type: 'object', properties: {} } } as const
  const asked = (n: number, ask: Request['ask'], status: Request['status'] = 'pending') =>
    ({ id: id(n), ask, status }) as Request // the tests use no other fields
  const seen = new Set([1, 2, 3, 4].map(id))
  it('partitionSelectable returns the selectable requests, and ignores resolved requests', () => {
    const all = [asked(1, approval), asked(2, approval, 'resolved'), asked(3, approval)]
    expect(partitionSelectable(all, seen)).toEqual({ selectable: [id(1), id(3)], problem: '' })
  })
  it('partitionSelectable says why requests are left out', () => {
    expect(partitionSelectable([asked(1, form), asked(2, approval)], seen)).toEqual({
      selectable: [id(2)],
      problem: '1 request needs individual review.',
    })
    expect(partitionSelectable([asked(1, approval), asked(8, approval)], seen)).toEqual({
      selectable: [id(1)],
      problem: '1 request hasn’t been on screen yet. Scroll to it first.',
    })
    expect(partitionSelectable([asked(1, form), asked(8, approval), asked(7, form), asked(9, approval)], seen)).toEqual(
      {
        selectable: [],
        problem: '2 requests need individual review. 2 requests haven’t been on screen yet. Scroll to them first.',
      },
    )
  })
})

it.each([
  { screen: 'inbox' },
  { screen: 'inbox', request: id(7) },
  { screen: 'sessions' },
  { screen: 'session', id: session(1, {}).id },
  { screen: 'audit' },
  { screen: 'rules' },
  { screen: 'settings' },
] as const)('`readRoute` returns the route from which `href` built the URL (screen: $screen)', route => {
  expect(readRoute(href(route))).toEqual(route)
})
it.each(['#/nonsense', '#/sessions/ses_short', '#/inbox/req_short', '#/rules/more'])(
  '`readRoute` finds no screen for the unknown address %s',
  hash => {
    expect(readRoute(hash)).toEqual({ screen: 'unknown' })
  },
)
it.each(['', '#', '#/', '#/inbox'])('`readRoute` shows the inbox for the address “%s”', hash => {
  expect(readRoute(hash)).toEqual({ screen: 'inbox' })
})

describe('recentFolders', () => {
  it('recentFolders lists each folder once, the newest first, and leaves out folders that the list of suggestions could not show exactly', () => {
    const folders = ['/src/old', '/src/new', '', '/src/a\u200Bb', '/src/אב', '/src/new']
    const sessions = folders.map((cwd, n) => session(n, { cwd }))
    expect(recentFolders(sessions)).toEqual(['/src/new', '/src/old'])
  })
})
