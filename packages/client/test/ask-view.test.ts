import {
  actionLabel,
  applyEdit,
  diffLines,
  displayRun,
  editableJson,
  editableOf,
  effectiveAsk,
  lineOf,
  summary,
  summaryText,
  viewOf,
} from '@holdpoint/client'
import type { Action, ApprovalAsk, Ask, JsonObject } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../test/support/cpu-time.ts'

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

const rowsOf = (before: string, after: string) => diffLines([{ before, after }]).diffs[0] ?? []
const told = (before: string, after: string) => rowsOf(before, after).map(row => row.sign + displayRun(row))

/** Rebuilds the input from everything that a view shows. */
function whole(picture: ReturnType<typeof viewOf>): JsonObject {
  switch (picture.kind) {
    case 'command':
      return { ...picture.rest, command: picture.command }
    case 'plan':
    case 'fields':
      return picture.rest
    case 'changes':
      throw new Error('the test builds no list of changes')
    case 'change': {
      const [part] = picture.edits
      const file = { ...picture.rest, file_path: picture.path }
      if (picture.isNew) return { ...file, content: part?.after ?? '' }
      return { ...file, old_string: part?.before ?? '', new_string: part?.after ?? '' }
    }
  }
}

describe('the view of an approval', () => {
  it('the view of an approval depends on the shape of the input: a command, a change, a new file, a plan or fields', () => {
    expect(viewOf(ask('Bash', { command: 'ls', timeout: 5 }))).toEqual({
      kind: 'command',
      command: 'ls',
      rest: { timeout: 5 },
    })
    expect(viewOf(ask('Write', { file_path: '/a', content: 'x' }))).toEqual({
      kind: 'change',
      path: '/a',
      edits: [{ before: '', after: 'x' }],
      isNew: true,
      rest: {},
    })
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: 'd' },
    ]
    expect(viewOf(ask('MultiEdit', { file_path: '/a', edits }))).toMatchObject({
      kind: 'change',
      isNew: false,
      edits: [
        { before: 'a', after: 'b' },
        { before: 'c', after: 'd' },
      ],
    })
    expect(viewOf(ask('ExitPlanMode', { plan: 'p', other: 1 }, { plan: 'p' }))).toEqual({
      kind: 'plan',
      plan: 'p',
      rest: { other: 1 },
    })
    expect(viewOf(ask('WebFetch', { url: 'https://a' }))).toEqual({ kind: 'fields', rest: { url: 'https://a' } })
  })
  it('the view of an approval includes every property of the input', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.string()))
    const names = ['command', 'file_path', 'content', 'old_string', 'new_string', 'other']
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...names)), fc.infiniteStream(value), (members, values) => {
        const input: JsonObject = Object.fromEntries(members.map(name => [name, values.next().value as string])) // `value` generates any JSON value, and the cast only satisfies the type of `input`
        expect(whole(viewOf({ input }))).toEqual(input)
      }),
    )
  })
  it('the view of an approval shows several edits of one file with a flag that all of them share, and shows fields if the edits have other properties', () => {
    const edit = { old_string: 'a', new_string: 'b' }
    const multiEdit = (...edits: JsonObject[]) => viewOf(ask('MultiEdit', { file_path: '/a', edits }))
    for (const flag of [true, false])
      expect(multiEdit({ ...edit, replace_all: flag }, { ...edit, replace_all: flag })).toEqual({
        kind: 'change',
        path: '/a',
        edits: [
          { before: 'a', after: 'b' },
          { before: 'a', after: 'b' },
        ],
        isNew: false,
        rest: { replace_all: flag },
      })
    expect(multiEdit({ ...edit, replace_all: true }, edit).kind).toBe('fields')
    expect(multiEdit({ ...edit, replace_all: 'yes' }).kind).toBe('fields')
    expect(multiEdit({ ...edit, extra: 1 }).kind).toBe('fields')
  })
  it('the view of an approval shows a change of several files as one change per file, with the rest of the input', () => {
    const update = {
      path: '/a',
      kind: 'update',
      diff: '@@ -4,2 +4,2 @@ main()\n x\n-a\n+b\n\\ No newline at end of file\n',
    }
    const changes: readonly JsonObject[] = [
      update,
      { path: '/b', kind: 'add', diff: 'new\n' },
      { path: '/c', kind: 'delete', diff: 'old\n' },
      { path: '/d', kind: 'update', move_path: '/e', diff: '' },
      { path: '/f', old_string: 'a', new_string: 'b' },
    ]
    expect(viewOf(ask('apply_patch', { changes, grantRoot: '/srv' }))).toEqual({
      kind: 'changes',
      files: [
        {
          path: '/a',
          kind: 'edit',
          edits: [{ before: 'x\na\n', after: 'x\nb', header: '@@ -4,2 +4,2 @@ main()' }],
        },
        { path: '/b', kind: 'write', edits: [{ before: '', after: 'new\n' }] },
        { path: '/c', kind: 'delete', edits: [{ before: 'old\n', after: '' }] },
        { path: '/d', kind: 'move', edits: [], diff: '', movedTo: '/e' },
        { path: '/f', kind: 'edit', edits: [{ before: 'a', after: 'b' }] },
      ],
      rest: { grantRoot: '/srv' },
    })
    for (const strange of [{ ...update, mode: '0777' }, { ...update, kind: 'chmod' }, { path: '/a' }, 'text', null])
      expect(viewOf(ask('apply_patch', { changes: [update, strange as JsonObject] })).kind).toBe('fields')
    const movedNew = { path: '/b', kind: 'add', diff: 'x', move_path: '/etc/b' }
    expect(viewOf(ask('apply_patch', { changes: [movedNew] })).kind).toBe('fields')
  })
  it('a comment on a line of a change of several files belongs to the file with the path of the comment', () => {
    const changes = [
      { path: '/src/a.ts', kind: 'update', diff: '@@ -1 +1 @@\n-old\n+new\n' },
      { path: '/test/a.ts', kind: 'add', diff: 'first\nsecond\n' },
      { path: '/gone.ts', kind: 'delete', diff: 'old\n' },
    ]
    const patch = ask('apply_patch', { changes })
    if (patch.kind !== 'approval') throw new Error('the ask is an approval')
    expect(lineOf(patch, 1, 'src/a.ts')).toEqual({ path: '/src/a.ts', line: 1, quote: 'new', side: 'after' })
    expect(lineOf(patch, 2, '/test/a.ts')).toEqual({ path: '/test/a.ts', line: 2, quote: 'second' })
    for (const path of ['a.ts', undefined, 'b.ts', '/gone.ts']) expect(lineOf(patch, 1, path)).toBeNull()
  })
})

describe('the labels of an ask', () => {
  it.each<[string, JsonObject, Action, string]>([
    ['exec_command', { command: 'ls' }, { shell: 'ls', cwd: '/src' }, 'Run a command'],
    ['write_file', { file_path: '/a', content: 'x' }, { write: ['/a'] }, 'Write a file'],
    ['replace', { file_path: '/a' }, { write: ['/a'] }, 'Change a file'],
    ['apply_patch', { changes: 2 }, { write: ['/a', '/b'] }, 'Change 2 files'],
    ['view', { path: '/a' }, { read: ['/a'] }, 'Read a file'],
    ['grep', { paths: 2 }, { read: ['/a', '/b'] }, 'Read files'],
    ['web_fetch', { url: 'https://a.test' }, { fetch: 'a.test' }, 'Fetch from the web'],
    ['db/query', {}, { mcp: 'db', tool: 'query' }, 'Use “query” from “db” (MCP)'],
    ['summon', {}, { other: 'summon' }, 'Use “summon”'],
  ])('the labels of an ask describe the tool %s of any agent by its action', (tool, input, action, label) => {
    expect(actionLabel(ask(tool, input, { action }))).toBe(label)
  })
  it('the labels of an ask name the action, and contain the escaped name of an unknown tool', () => {
    expect(actionLabel(ask('Bash', {}))).toBe('Run a command')
    expect(actionLabel(ask('exec_command', { command: 'ls' }))).toBe('Run a command')
    expect(actionLabel(ask('confirm', {}))).toBe('Confirm')
    expect(actionLabel(ask('constructor', {}))).toBe('Use “constructor”')
    expect(actionLabel(ask('Ev\u202eil', {}))).toBe('Use “Ev\\u{202e}il”')
    expect(actionLabel(ask('mcp__tracker__create_issue', {}))).toBe('Use “create_issue” from “tracker” (MCP)')
    expect(actionLabel(ask('mcp__tracker', {}))).toBe('Use “mcp__tracker”')
    expect(actionLabel(ask('X', {}, { plan: 'p' }))).toBe('Approve a plan')
    expect([questions(1), questions(2), form].map(actionLabel)).toEqual(['A question', '2 questions', 'Fill in a form'])
    expect(actionLabel({ ...form, url: 'https://a.example' } as Ask)).toBe('Open a link') // a form with a URL is still a form
  })
  it('D8: the name of a tool is in quotation marks, so that it cannot be mistaken for Holdpoint’s own text', () => {
    expect(actionLabel(ask('x” is safe. Allow “y', {}))).toBe('Use “x\\u{201d} is safe. Allow \\u{201c}y”')
    expect(actionLabel(ask('אב', {}))).toBe('Use “\\u{5d0}\\u{5d1}”')
  })
  it('D5: a long summary is cut in its middle, with the number of missing characters', () => {
    const command = `rm -rf ${'x'.repeat(1000)} /etc`
    const { head, omitted, tail } = summary(ask('Bash', { command }))
    expect(command.startsWith(head) && command.endsWith(tail)).toBe(true)
    expect(head.length + omitted + tail.length).toBe(command.length)
    expect(summaryText(ask('Bash', { command }))).toMatch(/^rm -rf x+⟨712 more⟩x+ \/etc$/)
  })
  it('F7: a summary of a command escapes right-to-left letters, and a title in a right-to-left script keeps them', () => {
    expect(summaryText(ask('Bash', { command: 'cat א > ב' }))).toBe('cat \\u{5d0} > \\u{5d1}')
    expect(summaryText({ ...form, title: 'שלום עולם' } as Ask)).toBe('שלום עולם') // a form with another title is still a form
  })
  it('the labels of an ask summarize the ask in the agent’s own text', () => {
    expect(summary(ask('Bash', { command: 'ls' }))).toEqual({ head: 'ls', omitted: 0, tail: '', isCode: true })
    expect(summary(form)).toMatchObject({ head: 'A card', isCode: false })
    expect(summaryText(ask('Edit', { file_path: '/a', old_string: '', new_string: 'x' }))).toBe('/a')
    expect(summaryText(ask('WebFetch', {}))).toBe('A title')
    expect(summaryText(questions(2))).toBe('Which 0? · Which 1?')
    expect(summaryText(form)).toBe('A card')
  })
  it('the summary of a plan is the first line of the plan, and the title only if the plan has no text', () => {
    const plan = '\n## Split the `nightly` job\n\n1. Cache the browsers'
    expect(summaryText(ask('ExitPlanMode', { plan }, { plan }))).toBe('Split the nightly job')
    expect(summaryText(ask('ExitPlanMode', {}, { plan: '```\n```' }))).toBe('A title')
  })
  it('the labels of an ask summarize text of several lines in one line', () => {
    expect(summaryText(ask('Bash', { command: "cat <<'E'\r\none\n\n  two\nE\n" }))).toBe("cat <<'E' ↵ one ↵ two ↵ E")
    expect(summaryText({ ...form, title: 'one\ntwo' } as Ask)).toBe('one ↵ two') // a form with another title is still a form
  })
  it('the labels of an ask summarize the edited input if a person changed it', () => {
    const edited = effectiveAsk(ask('Bash', { command: 'ls' }), { command: 'ls -l' })
    expect(edited).toMatchObject({ input: { command: 'ls -l' } })
    expect(effectiveAsk(ask('Bash', { command: 'ls' }), null)).toMatchObject({ input: { command: 'ls' } })
    expect(effectiveAsk(ask('P', { plan: 'old' }, { plan: 'old' }), { plan: 'new' })).toMatchObject({
      plan: 'new',
      input: { plan: 'new' },
    })
  })
})

describe('editing an approval’s input', () => {
  it('editing an approval’s input edits the main text property and keeps the others', () => {
    const bash = ask('Bash', { command: 'ls', timeout: 5 })
    const editable = editableOf(bash)
    expect(editable).toEqual({ property: 'command', label: 'Command', text: 'ls', lineEndings: 'lf' })
    expect(applyEdit(bash, editable, 'ls -l')).toEqual({ input: { command: 'ls -l', timeout: 5 } })
    expect(editableOf(ask('Write', { file_path: '/a', content: 'x' })).property).toBe('content')
    expect(editableOf(ask('Edit', { file_path: '/a', old_string: 'a', new_string: 'b' })).property).toBe('new_string')
    expect(editableOf(ask('P', { plan: 'p' }, { plan: 'p' })).property).toBe('plan')
  })
  it.each([
    ['a new file', { file_path: '/a', content: 'one\r\ntwo\r\n' }, 'one\ntwo\n', { content: 'one\r\n2\r\n' }],
    [
      'a change',
      { file_path: '/a', old_string: 'x\r\ny', new_string: 'one\r\ntwo' },
      'one\ntwo',
      { new_string: 'one\r\n2' },
    ],
    [
      'a change whose new text is one line',
      { file_path: '/a', old_string: 'x\r\ny', new_string: 'two' },
      'two',
      { new_string: '2' },
    ],
  ])('editing an approval’s input keeps the CRLF line endings of %s', (_what, input, text, edited) => {
    const change = ask('Edit', input)
    const editable = editableOf(change)
    expect(editable).toMatchObject({ label: 'New text with CRLF line endings', text })
    expect(applyEdit(change, editable, text)).toEqual({ input })
    expect(applyEdit(change, editable, text.replace('two', '2'))).toEqual({ input: { ...input, ...edited } })
    const longer = applyEdit(change, editable, `${text}\r\nx\n`)
    expect(JSON.stringify(longer)).not.toMatch(/(?<!\\r)\\n/)
  })
  it('editing an approval’s input uses the line endings of the agent’s new text, and uses JSON if they are mixed', () => {
    const toLf = ask('Edit', { file_path: '/a', old_string: 'x\r\ny', new_string: 'x\ny' })
    expect(editableOf(toLf)).toMatchObject({ property: 'new_string', text: 'x\ny', lineEndings: 'lf' })
    expect(editableOf(ask('Write', { file_path: '/a', content: 'a\r\nb\n' })).property).toBeNull()
  })
  it('editing an approval’s input uses JSON for text with invisible characters', () => {
    const editable = editableOf(ask('Bash', { command: 'ls\u200b' }))
    expect(editable.property).toBeNull()
    expect(editable.text).toContain('ls\\u200b')
  })
  it('editing an approval’s input refuses invalid JSON, duplicate keys and values that are not objects', () => {
    const fetch = ask('WebFetch', { url: 'a' })
    const editable = editableOf(fetch)
    expect(applyEdit(fetch, editable, '{"url":"b"}')).toEqual({ input: { url: 'b' } })
    expect(applyEdit(fetch, editable, '[1]')).toHaveProperty('problem')
    expect(applyEdit(fetch, editable, '{"a":1,"a":2}')).toHaveProperty('problem')
    expect(applyEdit(fetch, editable, '{')).toHaveProperty('problem')
  })
  it('editing an approval’s input writes JSON that parses to the same value and has no invisible characters', () => {
    fc.assert(
      fc.property(fc.record({ text: fc.string({ unit: 'binary' }) }), value => {
        const spelt = editableJson(value)
        expect(JSON.parse(spelt)).toEqual(value)
        expect(spelt).not.toMatch(/[\p{Cf}\p{Co}]/u)
      }),
    )
  })
  it('editing an approval’s input escapes stacked combining marks and keeps ordinary accents', () => {
    const heaped = { a: `e${'\u0301'.repeat(9)}`, b: 'Vie\u0323\u0302t' }
    expect(editableJson(heaped, 0)).toBe(`{"a":"e${'\\u0301'.repeat(9)}","b":"Vie\u0323\u0302t"}`)
  })
})

describe('the comparison of two texts', () => {
  it('the comparison of two texts numbers each row by its line in the old and the new text', () => {
    expect(rowsOf('a\nb\nc', 'a\nx\nc')).toEqual([
      { sign: ' ', text: 'a', count: 1, before: 1, after: 1 },
      { sign: '-', text: 'b', count: 1, before: 2, after: null },
      { sign: '+', text: 'x', count: 1, before: null, after: 2 },
      { sign: ' ', text: 'c', count: 1, before: 3, after: 3 },
    ])
    expect(rowsOf('', 'a')).toEqual([{ sign: '+', text: 'a', count: 1, before: null, after: 1 }])
    expect(rowsOf('a\n', 'a').map(row => row.sign)).toEqual([' ', '-'])
  })
  it('the comparison of two texts contains every line of both texts', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 }).map(lines => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const rows = rowsOf(before, after)
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
  it('the comparison of two texts shows many consecutive blank lines as one row with a count, if all have the same sign', () => {
    const part = { before: `a${'\n'.repeat(9)}b`, after: `a${'\n'.repeat(9)}c${'\n \n'.repeat(4)}` }
    const { diffs, removed, added } = diffLines([part])
    expect(diffs[0]?.map(({ sign, text, count, before, after }) => [sign, text, count, before, after])).toEqual([
      [' ', 'a', 1, 1, 1],
      [' ', '⟨8 blank lines⟩', 8, 2, 2],
      ['-', 'b', 1, 10, null],
      ['+', 'c', 1, null, 10],
      ['+', '⟨8 whitespace lines⟩', 8, null, 11],
    ])
    expect([removed, added]).toEqual([1, 9])
  })
  it('the comparison of two texts does not mark line endings if all lines end in CRLF', () => {
    expect(told('one\r\ntwo', 'one\r\ntwo\r\nthree\r\n')).toEqual([' one', ' two', '+three', '+'])
    expect(diffLines([{ before: 'one\r\ntwo', after: 'x' }]).lineEndings).toBe('crlf')
    expect(diffLines([{ before: '', after: 'one\r\n' }]).lineEndings).toBe('crlf')
    expect(diffLines([{ before: 'a', after: 'b\nc' }]).lineEndings).toBe('lf')
  })
  it('the comparison of two texts marks CRLF lines if other lines end in LF, so that a change of line endings is visible', () => {
    expect(told('one\r\ntwo', 'one\ntwo')).toEqual(['-one⟨CR⟩', '+one', ' two'])
    expect(told('a\nb', 'a\nb\r\n')).toEqual([' a', '-b', '+b⟨CR⟩', '+'])
    const across = diffLines([
      { before: 'a\r\n', after: 'b\r\n' },
      { before: 'c\n', after: 'd\n' },
    ])
    expect(across.lineEndings).toBe('mixed')
    expect(across.diffs[0]?.map(row => displayRun(row))).toEqual(['a⟨CR⟩', 'b⟨CR⟩', ''])
  })
  it('the comparison of two texts shows all lines as removed and added if a diff would take too long', () => {
    const many = (salt: string) => Array.from({ length: 6000 }, (_, i) => `${salt}${(i * 7919) % 6007}`).join('\n')
    let rows: ReturnType<typeof rowsOf> = []
    const work = () => {
      rows = rowsOf(many('a'), many('b'))
    }
    expect(cpuMs(work)).toBeLessThan(5000)
    expect(rows).toHaveLength(12_000)
  })
})
