import type { InboxSnapshot } from '@holdpoint/client'
import type { ApprovalAsk, Ask, RequestId, Risk, Session } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { sessionSample } from '../../../test/support/session-sample.ts'
import { sessionRows } from '../src/output/session.ts'
import { widthOf } from '../src/output/width.ts'
import { groupsOf, type ListItem, listLines, sessionHeaderLines } from '../src/tui/dashboard/session-list.ts'
import { pendingRequest } from './support/request.ts'

describe('a row of the list in holdpoint tui', () => {
  function rows(ask: Partial<ApprovalAsk>, title: string, columns: number, risk?: Risk): readonly string[] {
    const whole: Ask = { kind: 'approval', tool: 'Bash', title: 't', input: {}, cwd: '/', editable: true, ...ask }
    const request = { ...pendingRequest(whole, 'req_1'), ...(risk && { risk }) }
    const session = { title, state: 'working' } as Session // the list reads only these fields
    const item: ListItem = { kind: 'request', id: request.id as RequestId, request, session }
    const context = { columns, height: 10, now: request.openedAt, isFocused: true }
    const [, ...lines] = listLines([{ title: 'Waiting for you', items: [item] }], null, context)
    return lines.map(line => line.map(({ text }) => text).join(''))
  }
  const dangerous: Risk = { level: 'dangerous', touches: [] }

  it('a row of the list in holdpoint tui has the risk, the command and the session of a request', () => {
    const ask = { input: { command: 'rm -rf build' } }
    expect(rows(ask, 'kitchen', 60, dangerous)).toEqual([
      expect.stringMatching(/^ {2}▲ Dangerous · rm -rf build · kitchen +now$/),
    ])
    expect(rows(ask, 'kitchen', 25, dangerous)).toEqual([
      expect.stringMatching(/^ {2}rm -rf build +now$/),
      '  ▲ Dangerous · kitchen',
    ])
  })
  it('a row of the list in holdpoint tui has Holdpoint’s own label before the agent’s text', () => {
    expect(rows({ tool: 'deploy', title: 'Run a command' }, 'kitchen', 80)[0]).toMatch(
      /^ {2}Use “deploy” · Run a command · kitchen +now$/,
    )
  })
  it.each([20, 25, 38, 56, 60, 80, 120])(
    'a row of the list in holdpoint tui fits %i columns, and its risk is never cut',
    columns => {
      const texts = ['x'.repeat(300), '界'.repeat(90), '🎉'.repeat(60), '\u05d0\u05d1 '.repeat(50)]
      for (const command of texts)
        for (const title of ['', 'a session with a long title '.repeat(5)]) {
          const drawn = rows({ input: { command } }, title, columns, dangerous)
          expect(drawn.join('\n')).toContain('▲ Dangerous · ')
          for (const line of drawn) expect(widthOf(line)).toBeLessThanOrEqual(columns)
        }
    },
  )
})

describe('the sessions in the list of holdpoint tui', () => {
  const failedTurn = { ending: 'failed', problem: 'settings.port is missing' } as const
  const ended = { state: 'ended', endedAt: 0, lastTurn: failedTurn } as const
  const sessions = [
    sessionSample({ id: 'ses_1', title: 'works', state: 'working' }),
    sessionSample({ id: 'ses_2', title: 'rests', state: 'idle' }),
    sessionSample({ id: 'ses_3', title: 'broke', state: 'idle', lastTurn: failedTurn }),
    sessionSample({ id: 'ses_4', title: 'parked', state: 'parked' }),
    sessionSample({ id: 'ses_5', title: 'gone', state: 'parked', process: { state: 'lost', changedAt: 0 } }),
    sessionSample({ id: 'ses_6', title: 'away', state: 'disconnected' }),
    sessionSample({ id: 'ses_7', title: 'crashed', ...ended, ending: { reason: 'failed' } }),
    sessionSample({ id: 'ses_8', title: 'begins', state: 'starting' }),
    sessionSample({ id: 'ses_9', title: 'again', state: 'working', lastTurn: failedTurn }),
  ]
  const inbox = {
    order: [],
    requests: new Map(),
    sessions: new Map(sessions.map(session => [session.id, session])),
  } as unknown as InboxSnapshot // the list reads only these fields
  function drawn(columns: number): readonly string[] {
    const lines = listLines(groupsOf(inbox), null, { columns, height: 40, now: 0, isFocused: true })
    return lines.map(line =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
  }

  it('the list of holdpoint tui shows failed and lost agents in a group above the working agents, and not as idle or parked', () => {
    expect(groupsOf(inbox).map(({ title, items }) => [title, ...items.map(({ session }) => session?.title)])).toEqual([
      ['Failed', 'broke', 'gone'],
      ['Working', 'works', 'begins', 'again'],
      ['Idle', 'rests'],
      ['Parked', 'parked'],
      ['Disconnected', 'away'],
      ['Ended', 'crashed'],
    ])
  })
  it('the row of a session in holdpoint tui shows its state unless its group does', () => {
    const wide = drawn(60)
    expect(wide[1]).toMatch(/^ {2}broke · last turn failed +now$/)
    expect(wide[2]).toMatch(/^ {2}gone · agent lost +now$/)
    expect(wide.at(-1)).toMatch(/^ {2}crashed · ended: failed +now$/)
    expect(wide.join('\n')).toMatch(/^ {2}works +now$/m)
    expect(wide.join('\n')).toMatch(/^ {2}begins · starting +now$/m)
    const narrow = drawn(25)
    expect(narrow.slice(1, 3)).toEqual([expect.stringMatching(/^ {2}broke +now$/), '  last turn failed'])
  })
})

describe('a session whose agent asks only for some calls and can share a terminal', () => {
  const attach = 'codex resume --remote unix:///data/codex/ses_1/codex.sock 0198'
  const session = sessionSample({
    id: 'ses_1',
    capabilities: ['approvals', 'sharedTerminal'],
    process: { state: 'live', attach, changedAt: 0 },
  })

  it('`show` says what rules see and how to open the session in the agent’s own terminal', () => {
    const text = sessionRows(session, 0)
      .map(({ spans }) => spans.map(span => span.text).join(''))
      .join('\n')
    expect(text).toContain('Rules see only what this agent asks')
    expect(text).toContain(attach)
  })
  it('the header of an open session in `tui` says what rules see and how to share the terminal, and does not cut the command line', () => {
    const text = sessionHeaderLines(session, 60)
      .map(line => line.map(span => span.text).join(''))
      .join('\n')
    expect(text).toContain('Rules see only what this agent asks. It may do other things')
    expect(text).toContain('unix:///data/codex/ses_1/codex.sock 0198')
  })
  it('the header of an ended session says nothing about rules or about sharing a terminal', () => {
    expect(sessionHeaderLines({ ...session, state: 'ended' }, 60)).toHaveLength(2)
  })
})

describe('a session whose last turn failed', () => {
  it('a session whose last turn failed is shown by `show` with the error of that turn', () => {
    const lastTurn = { ending: 'failed', problem: 'settings.port is missing' } as const
    const text = sessionRows(sessionSample({ id: 'ses_1', state: 'idle', lastTurn }), 0)
      .map(({ spans }) => spans.map(span => span.text).join(''))
      .join('\n')
    expect(text).toContain('last turn failed')
    expect(text).toContain('failed: settings.port is missing')
  })
})
