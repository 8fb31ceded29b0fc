/** Limits at their edges: what is as long as it may be is taken, one more is refused by name. */
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  Answer,
  Ask,
  Attachment,
  Cursor,
  contract,
  formatCursor,
  formatId,
  limits,
  parseCursor,
  RunnerId,
  SessionId,
} from '../src/index.ts'

const of = (count: number) => 'x'.repeat(count)
const many = <T>(count: number, item: (i: number) => T) => Array.from({ length: count }, (_, i) => item(i))
const approval = { kind: 'approval', tool: 'T', input: {}, title: 't', cwd: '', editable: false }
const question = (change: object) => ({
  kind: 'questions',
  questions: [
    {
      id: 'q',
      header: '',
      question: 'q',
      options: [{ label: 'a' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
      ...change,
    },
  ],
})
const form = { kind: 'form', title: 't', message: '', schema: { type: 'object', properties: {} } }
const session = formatId('ses', new Uint8Array(20))
const open = { id: session, key: 'k', ask: approval }

const rows: readonly [string, z.ZodType, number, (size: number) => unknown][] = [
  ['tool', Ask, limits.nameMax, n => ({ ...approval, tool: of(n) })],
  ['title', Ask, limits.titleMax, n => ({ ...approval, title: of(n) })],
  ['description', Ask, limits.reasonMax, n => ({ ...approval, description: of(n) })],
  ['cwd', Ask, limits.pathMax, n => ({ ...approval, cwd: of(n) })],
  ['plan', Ask, limits.textMax, n => ({ ...approval, plan: of(n) })],
  [
    'suggestions',
    Ask,
    limits.suggestionsMax,
    n => ({ ...approval, suggestions: many(n, i => ({ id: `${i}`, label: 'l', scope: '' })) }),
  ],
  ['suggestion id', Ask, limits.nameMax, n => ({ ...approval, suggestions: [{ id: of(n), label: 'l', scope: '' }] })],
  ['blocked path', Ask, limits.pathMax, n => ({ ...approval, caution: { blockedPath: of(n) } })],
  ['question id', Ask, limits.nameMax, n => question({ id: of(n) })],
  ['question', Ask, limits.reasonMax, n => question({ question: of(n) })],
  ['header', Ask, limits.titleMax, n => question({ header: of(n) })],
  ['label', Ask, limits.labelMax, n => question({ options: [{ label: of(n) }] })],
  ['options', Ask, limits.optionsMax, n => question({ options: many(n, i => ({ label: `${i}` })) })],
  ['preview', Ask, limits.textMax, n => question({ options: [{ label: 'a', preview: of(n) }] })],
  [
    'questions',
    Ask,
    limits.questionsMax,
    n => ({ kind: 'questions', questions: many(n, i => ({ ...question({}).questions[0], id: `${i}` })) }),
  ],
  ['form title', Ask, limits.titleMax, n => ({ ...form, title: of(n) })],
  ['message', Ask, limits.reasonMax, n => ({ ...form, message: of(n) })],
  ['url', Ask, limits.pathMax, n => ({ ...form, url: `https://a.b/${of(n - 12)}` })],
  ['reason', Answer, limits.reasonMax, n => ({ kind: 'deny', reason: of(n) })],
  ['note', Answer, limits.reasonMax, n => ({ kind: 'allow', note: of(n) })],
  ['other', Answer, limits.textMax, n => ({ kind: 'answers', answers: [{ id: 'q', chosen: [], other: of(n) }] })],
  ['chosen', Answer, limits.optionsMax, n => ({ kind: 'answers', answers: [{ id: 'q', chosen: many(n, String) }] })],
  [
    'answers',
    Answer,
    limits.questionsMax,
    n => ({ kind: 'answers', answers: many(n, i => ({ id: `${i}`, chosen: ['a'] })) }),
  ],
  ['key', contract.openRequest.input, limits.keyMax, n => ({ ...open, key: of(n) })],
  ['agentPath', contract.openRequest.input, limits.agentPathMax, n => ({ ...open, agentPath: many(n, String) })],
  ['deadline', contract.openRequest.input, limits.deadlineMaxMs, n => ({ ...open, deadlineMs: n })],
  [
    'batch',
    contract.answerRequests.input,
    limits.batchAnswersMax,
    n => ({
      items: many(n, () => ({ id: formatId('req', new Uint8Array(20)), digest: '', answer: { kind: 'allow' } })),
    }),
  ],
  [
    'sayings',
    contract.appendEvents.input,
    limits.eventsPerPostMax,
    n => ({ id: session, items: many(n, i => ({ type: 'message.added', block: `${i}`, text: '' })) }),
  ],
  [
    'block',
    contract.appendEvents.input,
    limits.blockMaxBytes,
    n => ({ id: session, items: [{ type: 'message.added', block: 'b', text: of(n) }] }),
  ],
  ['text', contract.sendMessage.input, limits.textMax, n => ({ id: session, text: of(n) })],
  [
    'attachments',
    contract.sendMessage.input,
    limits.attachmentsMax,
    n => ({
      id: session,
      text: 't',
      attachments: many(n, () => ({ type: 'image', mediaType: 'image/png', data: 'AAAA' })),
    }),
  ],
  ['page', contract.listSessions.input, limits.pageMax, n => ({ limit: n })],
  ['wait', contract.getRequest.input, limits.waitMaxMs, n => ({ id: formatId('req', new Uint8Array(20)), wait: n })],
]

describe('a limit', () => {
  it.each(rows)('of %s holds at its edge', (_name, schema, max, make) => {
    const at = schema.safeParse(make(max))
    expect(at.error?.issues ?? []).toEqual([])
    expect(schema.safeParse(make(max + 1)).success).toBe(false)
  })
  it('of an attachment is five mebibytes', () => {
    const image = (bytes: number) => ({
      type: 'image',
      mediaType: 'image/png',
      data: Buffer.alloc(bytes).toString('base64'),
    })
    expect(Attachment.safeParse(image(limits.attachmentMaxBytes)).success).toBe(true)
    expect(Attachment.safeParse(image(limits.attachmentMaxBytes + 16)).success).toBe(false)
  })
})

describe('a deadline', () => {
  it.each([0, -1, 1.5, Number.NaN, limits.deadlineMinMs - 1, '1000', Number.POSITIVE_INFINITY])(
    'of %s ms is refused',
    deadlineMs => {
      expect(contract.openRequest.input.safeParse({ ...open, deadlineMs }).success).toBe(false)
    },
  )
  it.each([limits.deadlineMinMs, 2 ** 31, 30 * 24 * 3600 * 1000])('of %s ms is taken', deadlineMs => {
    expect(contract.openRequest.input.safeParse({ ...open, deadlineMs }).success).toBe(true)
  })
  it('never means allow', () => {
    expect(contract.openRequest.input.safeParse({ ...open, onDeadline: 'allow' }).success).toBe(false)
  })
})

describe('ids and cursors', () => {
  it('are spelled from twenty bytes, and read back', () => {
    expect(formatId('ses', new Uint8Array(20))).toBe('ses_00000000000000000000')
    expect(SessionId.safeParse(formatId('ses', new Uint8Array(20).fill(255))).success).toBe(true)
    expect(() => formatId('ses', new Uint8Array(19))).toThrow()
    expect(parseCursor(formatCursor('abc', 12))).toEqual({ epoch: 'abc', seq: 12 })
  })
  it.each([
    '',
    'ses_',
    'run_00000000000000000000',
    'ses_0000000000000000000',
    'ses_000000000000000000000',
    'ses_0000000000000000000i',
    ' ses_00000000000000000000',
    'ses_00000000000000000000\n',
  ])('take nothing else for an id: %j', text => expect(SessionId.safeParse(text).success).toBe(false))
  it('do not take the id of one thing for another', () => {
    expect(RunnerId.safeParse(session).success).toBe(false)
  })
  it.each(['', '-1', 'a', 'a-', 'a--1', 'a-1e3', 'A-1', 'a-1 ', `a-${'9'.repeat(16)}`, `${of(17)}-1`, 'a-１'])(
    'take nothing else for a cursor: %j',
    text => expect(Cursor.safeParse(text).success).toBe(false),
  )
})
