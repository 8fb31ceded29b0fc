import { applyEdit, asItRan, compare, deed, depict, editableJson, editableOf, summary } from '@holdpoint/client'
import type { ApprovalAsk, Ask, JsonObject, Resolution } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const ask = (tool: string, input: JsonObject, more: Partial<ApprovalAsk> = {}): ApprovalAsk => ({
  kind: 'approval',
  tool,
  input,
  title: 'A title',
  cwd: '/src',
  editable: true,
  ...more,
})
const questions = (count: number): Ask => ({
  kind: 'questions',
  questions: Array.from({ length: count }, (_, i) => ({
    id: `q${i}`,
    header: 'H',
    question: `Which ${i}?`,
    options: [{ label: 'a' }],
    multiSelect: false,
    allowOther: false,
    secret: false,
  })),
})
const form: Ask = { kind: 'form', title: 'A card', message: '', schema: { type: 'object', properties: {} } }

/** Everything that a picture shows, put together again. */
function whole(picture: ReturnType<typeof depict>): JsonObject {
  switch (picture.kind) {
    case 'command':
      return { ...picture.rest, command: picture.command }
    case 'plan':
    case 'fields':
      return picture.rest
    case 'change': {
      const [part] = picture.parts
      const file = { ...picture.rest, file_path: picture.path }
      if (picture.isNew) return { ...file, content: part?.after ?? '' }
      return { ...file, old_string: part?.before ?? '', new_string: part?.after ?? '' }
    }
  }
}

describe('the picture of an approval', () => {
  it('shows a command, a change, a new file, a plan, or fields', () => {
    expect(depict(ask('Bash', { command: 'ls', timeout: 5 }))).toEqual({
      kind: 'command',
      command: 'ls',
      rest: { timeout: 5 },
    })
    expect(depict(ask('Write', { file_path: '/a', content: 'x' }))).toEqual({
      kind: 'change',
      path: '/a',
      parts: [{ before: '', after: 'x' }],
      isNew: true,
      rest: {},
    })
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: 'd' },
    ]
    expect(depict(ask('MultiEdit', { file_path: '/a', edits }))).toMatchObject({
      kind: 'change',
      isNew: false,
      parts: [
        { before: 'a', after: 'b' },
        { before: 'c', after: 'd' },
      ],
    })
    expect(depict(ask('ExitPlanMode', { plan: 'p', other: 1 }, { plan: 'p' }))).toEqual({
      kind: 'plan',
      plan: 'p',
      rest: { other: 1 },
    })
    expect(depict(ask('WebFetch', { url: 'https://a' }))).toEqual({ kind: 'fields', rest: { url: 'https://a' } })
  })
  it('leaves nothing of an input out', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.string()))
    const names = ['command', 'file_path', 'content', 'old_string', 'new_string', 'other']
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...names)), fc.infiniteStream(value), (members, values) => {
        const input: JsonObject = Object.fromEntries(members.map(name => [name, values.next().value as string])) // JSON, by the arbitrary above
        expect(whole(depict({ input }))).toEqual(input)
      }),
    )
  })
  it('shows edits that say more than their two texts as fields', () => {
    const edits = [{ old_string: 'a', new_string: 'b', replace_all: true }]
    expect(depict(ask('MultiEdit', { file_path: '/a', edits })).kind).toBe('fields')
  })
})

describe('words for an ask', () => {
  it('say what it wants to do, in ours', () => {
    expect(deed(ask('Bash', {}))).toBe('Run a command')
    expect(deed(ask('constructor', {}))).toBe('Use constructor')
    expect(deed(ask('Ev\u202eil', {}))).toBe('Use Ev\\u{202e}il')
    expect(deed(ask('mcp__tracker__create_issue', {}))).toBe('Use create_issue from tracker')
    expect(deed(ask('mcp__tracker', {}))).toBe('Use mcp__tracker')
    expect(deed(ask('X', {}, { plan: 'p' }))).toBe('Approve a plan')
    expect([questions(1), questions(2), form].map(deed)).toEqual(['A question', '2 questions', 'Fill in a form'])
    expect(deed({ ...form, url: 'https://a.example' } as Ask)).toBe('Open a link') // a form, with one more member
  })
  it('say what it is about, in the agent’s', () => {
    expect(summary(ask('Bash', { command: 'ls' }))).toBe('ls')
    expect(summary(ask('Edit', { file_path: '/a', old_string: '', new_string: 'x' }))).toBe('/a')
    expect(summary(ask('WebFetch', {}))).toBe('A title')
    expect(summary(questions(2))).toBe('Which 0? · Which 1?')
    expect(summary(form)).toBe('A card')
  })
  it('are about what ran, where a person changed it', () => {
    const edited: Resolution = { at: 1, by: 'person', answer: { kind: 'allow', input: { command: 'ls -l' } } }
    expect(asItRan(ask('Bash', { command: 'ls' }), edited)).toMatchObject({ input: { command: 'ls -l' } })
    expect(asItRan(ask('Bash', { command: 'ls' }), null)).toMatchObject({ input: { command: 'ls' } })
    const plan: Resolution = { at: 1, by: 'person', answer: { kind: 'allow', input: { plan: 'new' } } }
    expect(asItRan(ask('P', { plan: 'old' }, { plan: 'old' }), plan)).toMatchObject({
      plan: 'new',
      input: { plan: 'new' },
    })
  })
})

describe('editing what is asked', () => {
  it('offers the one text that matters, and puts it back where it was', () => {
    const bash = ask('Bash', { command: 'ls', timeout: 5 })
    const editable = editableOf(bash)
    expect(editable).toEqual({ member: 'command', label: 'Command', text: 'ls' })
    expect(applyEdit(bash, editable, 'ls -l')).toEqual({ input: { command: 'ls -l', timeout: 5 } })
    expect(editableOf(ask('Write', { file_path: '/a', content: 'x' })).member).toBe('content')
    expect(editableOf(ask('Edit', { file_path: '/a', old_string: 'a', new_string: 'b' })).member).toBe('new_string')
    expect(editableOf(ask('P', { plan: 'p' }, { plan: 'p' })).member).toBe('plan')
  })
  it('offers JSON where a text holds what cannot be seen', () => {
    const editable = editableOf(ask('Bash', { command: 'ls\u200b' }))
    expect(editable.member).toBeNull()
    expect(editable.text).toContain('ls\\u200b')
  })
  it('says what is wrong with JSON that is none', () => {
    const fetch = ask('WebFetch', { url: 'a' })
    const editable = editableOf(fetch)
    expect(applyEdit(fetch, editable, '{"url":"b"}')).toEqual({ input: { url: 'b' } })
    expect(applyEdit(fetch, editable, '[1]')).toHaveProperty('problem')
    expect(applyEdit(fetch, editable, '{"a":1,"a":2}')).toHaveProperty('problem')
    expect(applyEdit(fetch, editable, '{')).toHaveProperty('problem')
  })
  it('spells JSON so that it says the same and hides nothing', () => {
    fc.assert(
      fc.property(fc.record({ text: fc.string({ unit: 'binary' }) }), value => {
        const spelt = editableJson(value)
        expect(JSON.parse(spelt)).toEqual(value)
        expect(spelt).not.toMatch(/[\p{Cf}\p{Co}]/u)
      }),
    )
  })
})

describe('two texts compared', () => {
  it('are shown line by line with their numbers', () => {
    expect(compare('a\nb\nc', 'a\nx\nc').rows).toEqual([
      { sign: ' ', text: 'a', count: 1, before: 1, after: 1 },
      { sign: '-', text: 'b', count: 1, before: 2, after: null },
      { sign: '+', text: 'x', count: 1, before: null, after: 2 },
      { sign: ' ', text: 'c', count: 1, before: 3, after: 3 },
    ])
    expect(compare('', 'a').rows).toEqual([{ sign: '+', text: 'a', count: 1, before: null, after: 1 }])
    expect(compare('a\n', 'a').rows.map(row => row.sign)).toEqual([' ', '-'])
  })
  it('are both there, whole, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 }).map(lines => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { rows } = compare(before, after)
        const side = (sign: '-' | '+') =>
          rows
            .filter(row => row.sign === ' ' || row.sign === sign)
            .flatMap(row => (row.count > 1 ? Array.from({ length: row.count }, () => '') : row.text))
            .join('\n')
        expect(side('-')).toBe(before)
        expect(side('+')).toBe(after)
      }),
    )
  })
  it('hide nothing behind blank lines: those that share their fate are counted together', () => {
    const { rows, gone, come } = compare(`a${'\n'.repeat(9)}b`, `a${'\n'.repeat(9)}c${'\n \n'.repeat(4)}`)
    expect(rows.map(({ sign, text, count, before, after }) => [sign, text, count, before, after])).toEqual([
      [' ', 'a', 1, 1, 1],
      [' ', '⟨8 blank lines⟩', 8, 2, 2],
      ['-', 'b', 1, 10, null],
      ['+', 'c', 1, null, 10],
      ['+', '⟨8 lines of blanks⟩', 8, null, 11],
    ])
    expect([gone, come]).toEqual([1, 9])
  })
  it('are taken for wholly different where comparing would take too long', () => {
    const many = (salt: string) => Array.from({ length: 6000 }, (_, i) => `${salt}${(i * 7919) % 6007}`).join('\n')
    const startedAt = performance.now()
    const { rows } = compare(many('a'), many('b'))
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(rows).toHaveLength(12_000)
  })
})
