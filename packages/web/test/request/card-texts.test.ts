import { informativeTitle, splitDescription, viewOf } from '@holdpoint/client'
import type { ApprovalAsk, Request } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { scopeLabel } from '../../src/request/approval/texts.ts'
import { panelForDraft } from '../../src/request/card-panel.tsx'
import { deadlineLabel } from '../../src/request/deadline-labels.ts'
import { batchable } from '../../src/screens/inbox/selection.ts'

const bash = (command: string, more: Partial<ApprovalAsk> = {}): ApprovalAsk => ({
  kind: 'approval',
  tool: 'Bash',
  input: { command },
  title: `Bash: ${command}`,
  cwd: '/src',
  editable: true,
  ...more,
})

describe('informativeTitle', () => {
  it('informativeTitle returns null for a title that only repeats what the card shows', () => {
    expect(informativeTitle(bash('npm test'))).toBeNull()
    expect(informativeTitle(bash('npm test\nnpm publish', { title: 'Bash: npm test…' }))).toBeNull()
    const action = { shell: 'npm test', cwd: '/src' }
    expect(informativeTitle(bash(`/bin/bash -lc 'npm test'`, { title: 'Run: npm test', action }))).toBeNull()
    const input = { file_path: '/src/a.ts', old_string: 'a', new_string: 'b' }
    expect(informativeTitle(bash('', { tool: 'Edit', input, title: 'Edit: a.ts' }))).toBeNull()
  })
  it('informativeTitle returns a title that adds information', () => {
    expect(informativeTitle(bash('npm test', { title: 'Check everything' }))).toBe('Check everything')
  })
})

describe('scopeLabel', () => {
  it('scopeLabel explains a known scope and returns null for an unknown scope', () => {
    expect(scopeLabel('session')).toBe('For this session only.')
    expect(scopeLabel('toString')).toBeNull()
  })
})

describe('deadlineLabel', () => {
  const at = (deadlineAt: number | null, more: Partial<Request> = {}) =>
    deadlineLabel({ deadlineAt, onDeadline: 'deny', overdue: false, ...more }, 1_000_000)
  it('deadlineLabel counts down and says what happens if no one answers', () => {
    expect(at(null)).toBeNull()
    expect(at(1_083_000)).toEqual({
      text: '1:23 left',
      afterwards: 'If no one answers in time, the agent is told so.',
      urgent: false,
    })
    expect(at(1_059_000)?.urgent).toBe(true)
    // The time of the page is up to a second behind.
    expect([1_010_000, 1_010_999].map(deadlineAt => at(deadlineAt)?.text)).toEqual(['0:10 left', '0:10 left'])
    expect(at(1_000_000 + 3 * 3_600_000 + 720_000)?.text).toBe('3 h 12 min left')
    expect(at(1_000_000 + 5 * 86_400_000)?.text).toBe('5 d left')
  })
  it('deadlineLabel says “overdue” if the request stays open after its deadline, and otherwise “time is up”', () => {
    expect(at(760_000, { overdue: true, onDeadline: 'wait' })?.text).toBe('overdue by 4 min')
    expect(at(999_999, { onDeadline: 'wait' })?.text).toBe('overdue')
    expect(at(999_999)?.text).toBe('time is up')
  })
})

describe('panelForDraft', () => {
  it('panelForDraft returns the panel in which the person started the draft', () => {
    expect(panelForDraft({})).toBe('main')
    expect(panelForDraft({ note: 'x' })).toBe('note')
    expect(panelForDraft({ note: 'x', reason: 'y' })).toBe('deny')
    expect(panelForDraft({ note: 'x', edit: 'z' })).toBe('edit')
  })
})

describe('batchable', () => {
  const request = (ask: Request['ask'], status: Request['status'] = 'pending') => ({ ask, status }) as Request // `batchable` reads no other fields.
  it('batchable accepts an approval only if its content is short', () => {
    expect(batchable(request(bash('npm test')))).toBe(true)
    expect(batchable(request(bash('x'.repeat(700))))).toBe(false)
    expect(batchable(request(bash('x\n'.repeat(20))))).toBe(false)
  })
  it('batchable refuses dangerous requests, plans, questions and resolved requests', () => {
    expect(batchable(request(bash('rm -rf /', { caution: { defaultToNo: true } })))).toBe(false)
    expect(batchable(request(bash('x', { plan: 'short' })))).toBe(false)
    expect(batchable(request({ kind: 'questions', questions: [] }))).toBe(false)
    expect(batchable(request(bash('npm test'), 'resolved'))).toBe(false)
  })
})

describe('splitDescription', () => {
  it('splitDescription collects the title, the description and the command’s description without duplicates, and keeps the other parameters', () => {
    const input = { command: 'ls', description: 'Look around', timeout: 5 }
    const ask = bash('ls', { input, title: 'Look around', description: 'Look around' })
    const { statements, view } = splitDescription(ask, viewOf(ask))
    expect(statements).toEqual(['Look around'])
    expect(view).toEqual({ kind: 'command', command: 'ls', rest: { timeout: 5 } })
  })
  it('splitDescription keeps a blank description as a parameter', () => {
    const ask = bash('ls', { input: { command: 'ls', description: ' ' } })
    expect(splitDescription(ask, viewOf(ask))).toMatchObject({ statements: [], view: { rest: { description: ' ' } } })
  })
})
