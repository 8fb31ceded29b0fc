import type { Ask, RequestId, Session } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type ListItem, listLines } from '../src/tui/dashboard/session-list.ts'
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
  it('cuts a long title of a session before our own words', () => {
    expect(row('Bash', 'x'.repeat(100), 40)).toMatch(/^ {2}Run a command · x+.+x+ now$/)
  })
})
