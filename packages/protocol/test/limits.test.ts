/** Checks that each limit accepts the largest allowed input and refuses an input that is larger by one. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  Answer,
  Ask,
  AttachmentFile,
  Cursor,
  contract,
  formatCursor,
  formatId,
  limits,
  parseCursor,
  RunnerId,
  SessionId,
} from '../src/index.ts'

const text = (length: number) => 'x'.repeat(length)
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
  ['tool', Ask, limits.nameMax, n => ({ ...approval, tool: text(n) })],
  ['title', Ask, limits.titleMax, n => ({ ...approval, title: text(n) })],
  ['description', Ask, limits.reasonMax, n => ({ ...approval, description: text(n) })],
  ['cwd', Ask, limits.pathMax, n => ({ ...approval, cwd: text(n) })],
  ['plan', Ask, limits.textMax, n => ({ ...approval, plan: text(n) })],
  [
    'suggestions',
    Ask,
    limits.suggestionsMax,
    n => ({ ...approval, suggestions: many(n, i => ({ id: `${i}`, label: 'l', scope: '' })) }),
  ],
  ['suggestion id', Ask, limits.nameMax, n => ({ ...approval, suggestions: [{ id: text(n), label: 'l', scope: '' }] })],
  ['blocked path', Ask, limits.pathMax, n => ({ ...approval, caution: { blockedPath: text(n) } })],
  ['question id', Ask, limits.nameMax, n => question({ id: text(n) })],
  ['question', Ask, limits.reasonMax, n => question({ question: text(n) })],
  ['header', Ask, limits.titleMax, n => question({ header: text(n) })],
  ['label', Ask, limits.labelMax, n => question({ options: [{ label: text(n) }] })],
  ['options', Ask, limits.optionsMax, n => question({ options: many(n, i => ({ label: `${i}` })) })],
  ['preview', Ask, limits.textMax, n => question({ options: [{ label: 'a', preview: text(n) }] })],
  [
    'questions',
    Ask,
    limits.questionsMax,
    n => ({ kind: 'questions', questions: many(n, i => ({ ...question({}).questions[0], id: `${i}` })) }),
  ],
  ['form title', Ask, limits.titleMax, n => ({ ...form, title: text(n) })],
  ['message', Ask, limits.reasonMax, n => ({ ...form, message: text(n) })],
  ['url', Ask, limits.pathMax, n => ({ ...form, url: `https://a.b/${text(n - 12)}` })],
  ['reason', Answer, limits.reasonMax, n => ({ kind: 'deny', reason: text(n) })],
  ['note', Answer, limits.reasonMax, n => ({ kind: 'allow', note: text(n) })],
  ['other', Answer, limits.textMax, n => ({ kind: 'answers', answers: [{ id: 'q', chosen: [], other: text(n) }] })],
  ['chosen', Answer, limits.optionsMax, n => ({ kind: 'answers', answers: [{ id: 'q', chosen: many(n, String) }] })],
  [
    'answers',
    Answer,
    limits.questionsMax,
    n => ({ kind: 'answers', answers: many(n, i => ({ id: `${i}`, chosen: ['a'] })) }),
  ],
  ['key', contract.openRequest.input, limits.keyMax, n => ({ ...open, key: text(n) })],
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
    'events',
    contract.appendEvents.input,
    limits.eventsPerPostMax,
    n => ({ id: session, items: many(n, i => ({ type: 'message.added', block: `${i}`, text: '' })) }),
  ],
  [
    'block',
    contract.appendEvents.input,
    limits.blockMaxBytes,
    n => ({ id: session, items: [{ type: 'message.added', block: 'b', text: text(n) }] }),
  ],
  ['text', contract.sendMessage.input, limits.textMax, n => ({ id: session, text: text(n) })],
  [
    'attachments',
    contract.sendMessage.input,
    limits.attachmentsMax,
    n => ({
      id: session,
      text: 't',
      attachments: many(n, i => formatId('att', new Uint8Array(20).fill(i))),
    }),
  ],
  [
    'part of an attachment',
    contract.appendAttachment.input,
    limits.attachmentPartMaxBytes,
    n => ({ id: formatId('att', new Uint8Array(20)), part: 1, data: Buffer.alloc(n).toString('base64') }),
  ],
  ['page', contract.listSessions.input, limits.pageMax, n => ({ limit: n })],
  ['wait', contract.getRequest.input, limits.waitMaxMs, n => ({ id: formatId('req', new Uint8Array(20)), wait: n })],
]

describe('an input', () => {
  it.each(rows)('an input can reach the limit on “%s” but not exceed it', (_name, schema, max, make) => {
    const atMaximum = schema.safeParse(make(max))
    expect(atMaximum.error?.issues ?? []).toEqual([])
    expect(schema.safeParse(make(max + 1)).success).toBe(false)
  })
  it('an input can have an attachment of five mebibytes, but not a larger attachment', () => {
    const image = (bytes: number) => ({
      type: 'image',
      mediaType: 'image/png',
      data: Buffer.alloc(bytes).toString('base64'),
    })
    expect(AttachmentFile.safeParse(image(limits.attachmentMaxBytes)).success).toBe(true)
    expect(AttachmentFile.safeParse(image(limits.attachmentMaxBytes + 16)).success).toBe(false)
  })
})

it('every limit is used in the source code', () => {
  const packages = join(import.meta.dirname, '../..')
  const sources = readdirSync(packages).flatMap(name =>
    readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter(file => /\.tsx?$/.test(file) && file !== 'limits.ts')
      .map(file => readFileSync(join(packages, name, 'src', file), 'utf8')),
  )
  const used = new Set(sources.flatMap(source => source.match(/\b\w+(?:Max|MaxBytes|Ms|Default)\b/g) ?? []))
  expect(Object.keys(limits).filter(name => !used.has(name))).toEqual([])
})

describe('the deadline of a request', () => {
  it.each([0, -1, 1.5, Number.NaN, limits.deadlineMinMs - 1, '1000', Number.POSITIVE_INFINITY])(
    'the deadline of a request of %o ms is refused',
    deadlineMs => {
      expect(contract.openRequest.input.safeParse({ ...open, deadlineMs }).success).toBe(false)
    },
  )
  it.each([limits.deadlineMinMs, 2 ** 31, 30 * 24 * 3600 * 1000])(
    'the deadline of a request of %s ms is accepted',
    deadlineMs => {
      expect(contract.openRequest.input.safeParse({ ...open, deadlineMs }).success).toBe(true)
    },
  )
  it('the deadline of a request can never allow the request', () => {
    expect(contract.openRequest.input.safeParse({ ...open, onDeadline: 'allow' }).success).toBe(false)
  })
})

describe('the formats of ids and cursors', () => {
  it('an id is made from at least twenty bytes, and ids and cursors can be parsed', () => {
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
  ])('%j is refused as a session id', text => expect(SessionId.safeParse(text).success).toBe(false))
  it('an id with the prefix of another kind is refused', () => {
    expect(RunnerId.safeParse(session).success).toBe(false)
  })
  it.each(['', '-1', 'a', 'a-', 'a--1', 'a-1e3', 'A-1', 'a-1 ', `a-${'9'.repeat(16)}`, `${text(17)}-1`, 'a-１'])(
    '%j is refused as a cursor',
    text => expect(Cursor.safeParse(text).success).toBe(false),
  )
})
