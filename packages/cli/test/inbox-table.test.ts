/** The list of pending requests on screens of different widths. */
import type { ApprovalAsk, Request, Session } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { inboxTable, narrowInbox } from '../src/output/inbox.ts'
import { tableRows } from '../src/output/table.ts'
import { wrap } from '../src/output/width.ts'
import { pendingRequest } from './support/request.ts'

const now = 10_000_000
const ask: ApprovalAsk = {
  kind: 'approval',
  tool: 'Bash',
  input: { command: 'npm run migrate -- --env staging' },
  title: 'Migrate',
  cwd: '/srv/app',
  editable: true,
}
const request = (more: Partial<Request> = {}): Request => ({
  ...pendingRequest(ask, 'req_abcdef'),
  openedAt: now - 120_000,
  risk: { level: 'notable', touches: [] },
  ...more,
})
const session = { id: request().session, title: 'api-server', state: 'working' } as Session // the list reads no other fields

function drawn(requests: readonly Request[], columns: number): readonly string[] {
  const context = { sessions: new Map([[session.id, session]]), shorten: (id: string) => id, now, columns }
  const { head, lines } = inboxTable(requests, context)
  return tableRows(head, lines, columns, narrowInbox).flatMap(row =>
    wrap(row, columns).map(line => line.map(({ text }) => text).join('')),
  )
}

describe('the list of pending requests', () => {
  it('the list of pending requests shows the command at every screen width, and drops the session and the ages first', () => {
    expect(drawn([request()], 80)).toEqual([
      'ID          AGE    SESSION     RISK       WHAT',
      'req_abcdef  2 min  api-server  △ Notable  npm run migrate -- --env staging',
    ])
    expect(drawn([request()], 55)[0]).toBe('ID          AGE    RISK       WHAT')
    expect(drawn([request()], 45)[0]).toBe('ID          RISK       WHAT')
    expect(drawn([request()], 40)).toEqual([
      'ID          WHAT',
      expect.stringMatching(/^req_abcdef {2}npm run mig.*ing$/),
    ])
  })
  it('the list of pending requests shows the session on a wide screen although the name of an MCP tool is long', () => {
    const long = { ...ask, tool: 'mcp__tracker__create_issue_from_template', action: undefined }
    const lines = drawn(
      [request(), request({ ask: { ...long, action: { mcp: 'tracker', tool: 'create_issue' } } })],
      100,
    )
    expect(lines[0]).toMatch(/^ID +AGE +SESSION +RISK +ACTION +WHAT$/)
    expect(lines[1]).toBe(
      'req_abcdef  2 min  api-server  △ Notable  Run a command             npm run migrate -- --env staging',
    )
    expect(lines[2]).toMatch(/ {2}Use “create_.*…/)
    expect(drawn([request()], 100)[0]).toMatch(/SESSION +RISK +ACTION/)
  })
  it('the list of pending requests has a column for deadlines only if a request has one', () => {
    const requests = [
      request({ deadlineAt: now + 240_000 }),
      request({ deadlineAt: now + 5_000 }),
      request({ deadlineAt: now - 1, overdue: true }),
      request(),
    ]
    const lines = drawn(requests, 80)
    expect(lines[0]).toMatch(/^ID +AGE +DUE +SESSION/)
    expect(lines.slice(1).map(line => line.slice(19, 26).trim())).toEqual(['4 min', '<1 min', 'overdue', ''])
  })
})
