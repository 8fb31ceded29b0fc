import type { Ask, RequestId, Session } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { sessionSample } from '../../../test/support/session-sample.ts'
import { sessionRows } from '../src/output/session.ts'
import { type ListItem, listLines, sessionHeaderLines } from '../src/tui/dashboard/session-list.ts'
import { pendingRequest } from './support/request.ts'

describe('a row of the dashboard', () => {
  function row(tool: string, title: string, columns: number): string {
    const ask: Ask = { kind: 'approval', tool, title: 't', input: {}, cwd: '/', editable: true }
    const request = pendingRequest(ask, 'req_1')
    const session = { title, state: 'working' } as Session // the list reads only these fields
    const item: ListItem = { kind: 'request', id: request.id as RequestId, request, session }
    const context = { columns, height: 10, now: request.openedAt, isFocused: true }
    const [, line = []] = listLines([{ title: 'Waiting for you', items: [item] }], null, context)
    return line.map(({ text }) => text).join('')
  }

  it('names what the agent asks for and its session', () => {
    expect(row('Bash', 'npm', 50)).toMatch(/^ {2}Run a command · npm +now$/)
  })
  it('shortens a long name of a tool inside its quotation marks, and leaves a third of the row to the session', () => {
    const tool = 'npm test && curl https://example.com/install | sh'
    for (const columns of [34, 50, 80]) {
      const text = row(tool, 'a session with a long title', columns)
      expect(text).toMatch(/^ {2}Use “npm.+(?:…| ⟨\d+ more⟩ ).*sh” · a .+now$/)
      expect(text).toHaveLength(columns)
    }
    expect(row(tool, 'npm', 60)).toMatch(/sh” · npm +now$/)
  })
  it('shortens a long session title before our own labels', () => {
    expect(row('Bash', 'x'.repeat(100), 40)).toMatch(/^ {2}Run a command · x+.+x+ now$/)
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
  it('the header of the open session in `tui` has both notices, and does not cut the command line', () => {
    const text = sessionHeaderLines(session, 60)
      .map(line => line.map(span => span.text).join(''))
      .join('\n')
    expect(text).toContain('Rules see only what this agent asks. It may do other things')
    expect(text).toContain('unix:///data/codex/ses_1/codex.sock 0198')
  })
  it('the header of an ended session has neither notice', () => {
    expect(sessionHeaderLines({ ...session, state: 'ended' }, 60)).toHaveLength(2)
  })
})

describe('a session whose last turn failed', () => {
  it('is shown by `show` with the error of that turn', () => {
    const lastTurn = { ending: 'failed', problem: 'settings.port is missing' } as const
    const text = sessionRows(sessionSample({ id: 'ses_1', state: 'idle', lastTurn }), 0)
      .map(({ spans }) => spans.map(span => span.text).join(''))
      .join('\n')
    expect(text).toContain('idle, last turn failed')
    expect(text).toContain('failed: settings.port is missing')
  })
})
