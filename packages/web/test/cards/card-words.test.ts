import { viewOf } from '@holdpoint/client'
import type { ApprovalAsk, Request } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { informativeTitle, splitDescription } from '../../src/request/approval/approval-text.ts'
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

describe('the title of an approval', () => {
  it('is not said again where it only repeats what stands above it', () => {
    expect(informativeTitle(bash('npm test'))).toBeNull()
    expect(informativeTitle(bash('npm test\nnpm publish', { title: 'Bash: npm test…' }))).toBeNull()
    const input = { file_path: '/src/a.ts', old_string: 'a', new_string: 'b' }
    expect(informativeTitle(bash('', { tool: 'Edit', input, title: 'Edit: a.ts' }))).toBeNull()
  })
  it('is said where it says something of its own', () => {
    expect(informativeTitle(bash('npm test', { title: 'Check everything' }))).toBe('Check everything')
  })
})

describe('an offer to remember', () => {
  it('names its scope in a sentence where we know it, and not otherwise', () => {
    expect(scopeLabel('session')).toBe('For this session only.')
    expect(scopeLabel('toString')).toBeNull()
  })
})

describe('a deadline', () => {
  const at = (deadlineAt: number | null, more: Partial<Request> = {}) =>
    deadlineLabel({ deadlineAt, onDeadline: 'deny', overdue: false, ...more }, 1_000_000)
  it('counts down, and says what silence will mean', () => {
    expect(at(null)).toBeNull()
    expect(at(1_083_000)).toEqual({
      text: '1:23 left',
      afterwards: 'then the agent is told that no one answered',
      urgent: false,
    })
    expect(at(1_059_000)?.urgent).toBe(true)
    expect(at(1_000_000 + 3 * 3_600_000 + 720_000)?.text).toBe('3 h 12 min left')
    expect(at(1_000_000 + 5 * 86_400_000)?.text).toBe('5 d left')
  })
  it('is overdue where the request waits on, and up where it does not', () => {
    expect(at(760_000, { overdue: true, onDeadline: 'wait' })?.text).toBe('overdue by 4 min')
    expect(at(999_999, { onDeadline: 'wait' })?.text).toBe('overdue')
    expect(at(999_999)?.text).toBe('time is up')
  })
})

describe('a draft', () => {
  it('opens the step that it was begun in', () => {
    expect(panelForDraft({})).toBe('main')
    expect(panelForDraft({ note: 'x' })).toBe('note')
    expect(panelForDraft({ note: 'x', reason: 'y' })).toBe('deny')
    expect(panelForDraft({ note: 'x', edit: 'z' })).toBe('edit')
  })
})

describe('what may be answered together', () => {
  const request = (ask: Request['ask'], status: Request['status'] = 'pending') => ({ ask, status }) as Request // nothing else is looked at
  it('is an approval that is seen at a glance', () => {
    expect(batchable(request(bash('npm test')))).toBe(true)
    expect(batchable(request(bash('x'.repeat(700))))).toBe(false)
    expect(batchable(request(bash('x\n'.repeat(20))))).toBe(false)
  })
  it('is nothing dangerous, no plan, no question, nothing that is resolved', () => {
    expect(batchable(request(bash('rm -rf /', { caution: { defaultToNo: true } })))).toBe(false)
    expect(batchable(request(bash('x', { plan: 'short' })))).toBe(false)
    expect(batchable(request({ kind: 'questions', questions: [] }))).toBe(false)
    expect(batchable(request(bash('npm test'), 'resolved'))).toBe(false)
  })
})

describe('what an agent says of what it wants', () => {
  it('is its title, its description and that of its command, each once; nothing of the input is lost', () => {
    const input = { command: 'ls', description: 'Look around', timeout: 5 }
    const ask = bash('ls', { input, title: 'Look around', description: 'Look around' })
    const { statements, view } = splitDescription(ask, viewOf(ask))
    expect(statements).toEqual(['Look around'])
    expect(view).toEqual({ kind: 'command', command: 'ls', rest: { timeout: 5 } })
  })
  it('leaves what is no sentence among the fields', () => {
    const ask = bash('ls', { input: { command: 'ls', description: ' ' } })
    expect(splitDescription(ask, viewOf(ask))).toMatchObject({ statements: [], view: { rest: { description: ' ' } } })
  })
})
