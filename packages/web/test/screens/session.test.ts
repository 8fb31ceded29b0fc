import type { Entry, MessageEntry, ToolEntry } from '@holdpoint/client'
import { type AttachmentFile, limits, type Session } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import {
  attachmentKind,
  attachmentProblem,
  isDisplayableImage,
  readAttachment,
} from '../../src/screens/session/attachment-rules.ts'
import { entryLayout } from '../../src/screens/session/entry-layout.ts'
import { excerptOf } from '../../src/screens/session/text-excerpt.ts'
import { composerLabels } from '../../src/screens/session/texts.ts'
import { nextVisible, turnStart, unseenSince } from '../../src/screens/session/visible-entries.ts'

const message = (id: string, agentPath: readonly string[] = []): MessageEntry => ({
  kind: 'message',
  id,
  at: 0,
  role: 'agent',
  text: id,
  streaming: false,
  partial: false,
  agentPath,
})
const tool = (id: string, agentPath: readonly string[] = []): ToolEntry => ({
  kind: 'tool',
  id,
  at: 0,
  tool: 'Bash',
  input: {},
  inputText: '',
  state: 'ok',
  agentPath,
})

describe('entryLayout', () => {
  it('entryLayout indents an entry by its subagents, and names the subagents where they change', () => {
    expect(entryLayout(message('a', ['reviewer']), tool('t'))).toEqual({ depth: 1, path: ['reviewer'], spaced: true })
    expect(entryLayout(message('b', ['reviewer']), message('a', ['reviewer']))).toMatchObject({ depth: 1, path: null })
    expect(entryLayout(message('c', ['reviewer', 'linter']), message('b', ['reviewer'])).path).toEqual([
      'reviewer',
      'linter',
    ])
    expect(entryLayout(message('d'), message('c', ['reviewer']))).toMatchObject({ depth: 0, path: null })
  })
  it('entryLayout leaves no gap between entries of the same kind', () => {
    expect(entryLayout(tool('b'), tool('a')).spaced).toBe(false)
    expect(entryLayout(tool('b'), message('a')).spaced).toBe(true)
    expect(entryLayout(message('b'), message('a')).spaced).toBe(true)
    expect(entryLayout(message('b'), undefined).spaced).toBe(true)
  })
})

describe('the visible entries of a transcript', () => {
  const list = (...ids: string[]): Entry[] => ids.map(id => message(id))

  it('`nextVisible` shows new entries at once if they are all at one end', () => {
    expect(nextVisible([], list('a', 'b'))).toMatchObject({ shift: false, more: false })
    expect(nextVisible(list('a'), list('a', 'b'))).toMatchObject({ shift: false, more: false })
    expect(nextVisible(list('b'), list('a', 'b'))).toMatchObject({ shift: true, more: false })
  })
  it('`nextVisible` shows new entries in two renders if they are at both ends', () => {
    const now = list('a', 'b', 'c')
    const first = nextVisible(list('b'), now)
    expect(first).toMatchObject({ shift: true, more: true })
    expect(first.entries.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(nextVisible(first.entries, now)).toEqual({ entries: now, shift: false, more: false })
  })
  it('`nextVisible` shows the entries of another list at once', () => {
    expect(nextVisible(list('x'), list('a', 'b'))).toMatchObject({ shift: false, more: false })
  })
  it('`unseenSince` counts the entries after the last seen entry', () => {
    expect(unseenSince(list('a', 'b', 'c'), 'a')).toBe(2)
    expect(unseenSince(list('a', 'b', 'c'), 'c')).toBe(0)
    expect(unseenSince(list('a'), null)).toBe(0)
    expect(unseenSince(list('a'), 'gone')).toBe(0)
  })
})

describe('D5: the excerpt of a long text', () => {
  it('the excerpt has the first and the last lines, and the number of missing lines', () => {
    const text = Array.from({ length: 100 }, (_, i) => `line ${i + 1}`).join('\n')
    const excerpt = excerptOf(text)
    expect(excerpt).toMatchObject({ omittedLines: 84, lines: 100 })
    expect(excerpt?.head.split('\n').at(-1)).toBe('line 12')
    expect(excerpt?.tail.split('\n')).toEqual(['line 97', 'line 98', 'line 99', 'line 100'])
  })
  it('the excerpt has the start and the end of a long line, and the number of missing characters', () => {
    const excerpt = excerptOf(`begin ${'😀'.repeat(10_000)} end`)
    expect(excerpt).toMatchObject({ omittedLines: 0, omittedChars: 16_010 })
    expect(excerpt?.head.startsWith('begin') && excerpt.head.isWellFormed()).toBe(true)
    expect(excerpt?.tail.endsWith(' end') && excerpt.tail.isWellFormed()).toBe(true)
  })
  it('excerptOf returns null for text that is shown in full', () => {
    expect(excerptOf('a\nb')).toBeNull()
    expect(excerptOf('\n'.repeat(15))).toBeNull()
  })
})

describe('an attachment', () => {
  const file = (name: string, type: string, size = 10) => ({ name, type, size })
  const there = (count: number, chars = 4): AttachmentFile[] =>
    Array.from({ length: count }, () => ({ type: 'image', mediaType: 'image/png', data: 'A'.repeat(chars) }))

  it('an attachment can be an image, a PDF or a text file', () => {
    expect(attachmentKind(file('a.png', 'image/png'))).toEqual({ type: 'image', mediaType: 'image/png' })
    expect(attachmentKind(file('a.pdf', 'application/pdf'))).toEqual({ type: 'document', mediaType: 'application/pdf' })
    expect(attachmentKind(file('a.rs', ''))).toEqual({ type: 'document', mediaType: 'text/plain' })
    expect(attachmentKind(file('Makefile', ''))).toEqual({ type: 'document', mediaType: 'text/plain' })
    expect(attachmentKind(file('a.svg', 'image/svg+xml'))).toEqual({ type: 'document', mediaType: 'text/plain' })
    expect(attachmentKind(file('a.mp4', 'video/mp4'))).toBeNull()
    expect(attachmentKind(file('a.exe', ''))).toBeNull()
  })
  it('an attachment is displayed only if it is an image of a type that cannot contain scripts', () => {
    expect(isDisplayableImage('image/png')).toBe(true)
    expect(isDisplayableImage('image/svg+xml')).toBe(false)
  })
  it('an attachment is accepted if it is exactly at a limit, and refused with a reason if it is above the limit', () => {
    expect(attachmentProblem(file('a.png', 'image/png', limits.attachmentMaxBytes), [])).toBeNull()
    expect(attachmentProblem(file('a.png', 'image/png', limits.attachmentMaxBytes + 1), [])).toMatch(
      /too large \(5\.0 MB\)/,
    )
    expect(attachmentProblem(file('a.png', 'image/png'), there(limits.attachmentsMax - 1))).toBeNull()
    expect(attachmentProblem(file('a.png', 'image/png'), there(limits.attachmentsMax))).toMatch(/8 files/)
    expect(attachmentProblem(file('a.mp4', 'video/mp4'), [])).toMatch(/Agents can read images/)
    expect(attachmentProblem(file('a.txt', 'text/plain', 0), [])).toMatch(/empty/)
    expect(attachmentProblem(file('a.png', 'image/png', 4e6), there(4, 6e6))).toMatch(/doesn’t fit/)
  })
  it('an attachment is encoded without changing its bytes', async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i % 256)
    const read = await readAttachment(new File([bytes], 'a.png', { type: 'image/png' }))
    expect(read).toMatchObject({ type: 'image', mediaType: 'image/png', name: 'a.png' })
    expect(Buffer.from(read.data, 'base64').equals(bytes)).toBe(true)
  })
})

describe('turnStart', () => {
  it('turnStart returns the time of the message that began the turn, and null if that message is not loaded', () => {
    const end: Entry = { kind: 'turn', id: 'e', at: 9, ending: 'done' }
    const asked: Entry = { ...message('p'), role: 'person', at: 4 }
    expect(turnStart([asked, tool('t'), end], 2)).toBe(4)
    expect(turnStart([tool('t'), end], 1)).toBeNull()
    expect(turnStart([asked, end, tool('t'), end], 3)).toBeNull()
    expect(turnStart([asked, tool('t')], 1)).toBeNull()
  })
})

describe('the composer', () => {
  const labels = (
    state: Session['state'],
    pending = 0,
    capabilities: Session['capabilities'] = ['messages', 'resumable'],
  ) => composerLabels({ state, pending, capabilities })

  it('the composer says when the agent will read the message', () => {
    expect(labels('idle')).toMatchObject({ closed: null, hint: null, button: 'Send' })
    expect(labels('working').hint).toMatch(/when it finishes its turn/)
    expect(labels('parked', 1).hint).toMatch(/after you answer the pending request/)
    expect(labels('working', 3).hint).toMatch(/3 pending requests/)
    expect(labels('parked').hint).toMatch(/resumes the agent/)
  })
  it('the composer offers to reopen an ended session if its agent can be resumed', () => {
    expect(labels('ended')).toMatchObject({ closed: null, button: 'Continue' })
    expect(labels('ended', 0, ['messages']).closed).toMatch(/can’t be resumed/)
  })
  it('the composer is closed if the agent accepts no messages, but open while no runner has said what the agent can do', () => {
    expect(labels('idle', 0, ['approvals']).closed).toMatch(/doesn’t accept messages/)
    expect(labels('starting', 0, []).closed).toBeNull()
  })
})
