/** The keys of prompts, without a terminal: an ask and keys give an answer or a hint. */
import type { Answer, ApprovalAsk, Ask, FormAsk, Question, QuestionsAsk } from '@holdpoint/protocol'
import { answerProblem } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { widthOfSpans } from '../src/output/width.ts'
import type { PromptInput } from '../src/tui/prompt/key-result.ts'
import { layoutPrompt } from '../src/tui/prompt/layout/prompt-layout.ts'
import { emptySelection, handleSelectionKey } from '../src/tui/prompt/list-selection.ts'
import { type BodyView, handlePromptKey, markShown, openPrompt, type Prompt } from '../src/tui/prompt/prompt.ts'
import { type Key, KeyParser } from '../src/tui/terminal/key-parser.ts'
import { pendingRequest } from './support/request.ts'

interface TypedResult {
  readonly prompt: Prompt
  readonly answer?: Answer
  readonly edit?: string
}

/** Types each string as a chunk of its own; an object is a text that comes back from the editor. */
function typeKeys(
  ask: Ask,
  typed: readonly (string | { readonly edited: string })[],
  modes: readonly string[] = [],
  fixed?: BodyView,
): TypedResult {
  let played: TypedResult = { prompt: openPrompt(pendingRequest(ask), modes) }
  for (const one of typed) {
    const presses: PromptInput[] = typeof one === 'string' ? keysOf(one) : [{ name: 'edited', text: one.edited }]
    for (const press of presses) {
      if (played.answer) throw new Error('it was answered already')
      const view = fixed ?? layoutPrompt(played.prompt, { columns: 80, height: 40 }, { at: 1, of: 1 }).view
      played = handlePromptKey(markShown(played.prompt, view), press, view)
    }
  }
  return played
}
function keysOf(chunk: string): PromptInput[] {
  const reader = new KeyParser()
  return [...reader.push(chunk), ...reader.flush()]
}

const [enter, esc, up, down, left] = ['\r', '\u001b', '\u001b[A', '\u001b[B', '\u001b[D']
const approval: ApprovalAsk = {
  kind: 'approval',
  tool: 'Bash',
  input: { command: 'ls' },
  title: 'List',
  cwd: '/',
  editable: true,
}
const fixed: ApprovalAsk = { ...approval, editable: false }
const dangerous: ApprovalAsk = { ...approval, caution: { defaultToNo: true } }
const suggestions = [1, 2].map(n => ({ id: `s${n}`, label: `Offer ${n}`, scope: 'session' }))
const withSuggestions: ApprovalAsk = { ...approval, suggestions }
const plan: ApprovalAsk = { ...approval, tool: 'ExitPlanMode', input: { plan: 'p' }, plan: 'p' }
const question: Question = {
  id: 'q',
  header: '',
  question: 'Which?',
  options: ['A', 'B', 'C'].map(label => ({ label })),
  multiSelect: false,
  allowOther: true,
  secret: false,
}
const one = (more: Partial<Question> = {}): QuestionsAsk => ({
  kind: 'questions',
  questions: [{ ...question, ...more }],
})
const chosen = (...labels: string[]) => ({ kind: 'answers', answers: [{ id: 'q', chosen: labels }] })
const other = (text: string, ...labels: string[]) => ({
  kind: 'answers',
  answers: [{ id: 'q', chosen: labels, other: text }],
})

const opened = (ask: Ask) => openPrompt(pendingRequest(ask), [])
const a: PromptInput = { name: 'text', text: 'a', alone: true }

describe('the keys of an approval', () => {
  it.each<[string, Ask, (string | { edited: string })[], object]>([
    ['a allows', approval, ['a'], { kind: 'allow' }],
    ['1 allows', approval, ['1'], { kind: 'allow' }],
    ['r denies', approval, ['r'], { kind: 'deny' }],
    ['2 denies', approval, ['2'], { kind: 'deny' }],
    ['x denies and stops', approval, ['x'], { kind: 'deny', interrupt: true }],
    ['R takes a reason', approval, ['R', 'no', enter], { kind: 'deny', reason: 'no' }],
    ['Escape leaves the reason', approval, ['R', 'no', esc, 'r'], { kind: 'deny' }],
    ['a note goes with the allow', approval, ['n', 'hi', enter, 'a'], { kind: 'allow', note: 'hi' }],
    ['a note goes with the deny', approval, ['n', 'hi', enter, 'r'], { kind: 'deny', reason: 'hi' }],
    ['an edit runs as edited', approval, ['e', { edited: 'pwd\n' }, 'a'], { kind: 'allow', input: { command: 'pwd' } }],
    [
      'an edit of an edit',
      approval,
      ['e', { edited: 'pwd\n' }, 'e', { edited: 'id\n' }, 'a'],
      { kind: 'allow', input: { command: 'id' } },
    ],
    [
      'an edit keeps CRLF line ends',
      { ...approval, input: { file_path: '/a', content: 'one\r\ntwo\r\n' } },
      ['e', { edited: 'one\n2\n' }, 'a'],
      { kind: 'allow', input: { file_path: '/a', content: 'one\r\n2\r\n' } },
    ],
    ['a dangerous request takes the word', dangerous, ['a', 'allow', enter], { kind: 'allow' }],
    ['and only the whole word', dangerous, ['1', 'allow it', enter, 'allow', enter], { kind: 'allow' }],
    ['a dangerous request is denied by a key', dangerous, ['r'], { kind: 'deny' }],
    ['s and a number allow with a suggestion', withSuggestions, ['s', '2', enter], { kind: 'allow', suggestion: 's2' }],
    ['arrows choose the suggestion', withSuggestions, ['s', down, enter], { kind: 'allow', suggestion: 's1' }],
    ['Escape drops the suggestion', withSuggestions, ['s', '2', esc, 'a'], { kind: 'allow' }],
    [
      'a suggestion takes the word if the request is dangerous',
      { ...withSuggestions, caution: { defaultToNo: true } },
      ['s', '1', enter, 'allow', enter],
      { kind: 'allow', suggestion: 's1' },
    ],
    [
      'Escape from the word drops the suggestion',
      { ...withSuggestions, caution: { defaultToNo: true } },
      ['s', '1', enter, esc, 'a', 'allow', enter],
      { kind: 'allow' },
    ],
    ['a plan without modes', plan, ['a'], { kind: 'allow' }],
    ['a plan into one of its modes', { ...plan, modes: ['x'] }, ['a', '2', enter], { kind: 'allow', mode: 'x' }],
    [
      'a plan with an edited text',
      plan,
      ['e', { edited: 'better\n' }, 'a'],
      { kind: 'allow', input: { plan: 'better' } },
    ],
  ])('%s', (_, ask, typed, answer) => {
    expect(typeKeys(ask, typed).answer).toEqual(answer)
  })

  it.each<[string, Ask, (string | { edited: string })[], RegExp]>([
    ['Enter decides nothing', approval, [enter], /Press a to allow/],
    ['nor does another letter', approval, ['y'], /Press a to allow/],
    ['nor a letter twice in one go', approval, ['aa'], /Press a to allow/],
    ['nor a letter with Enter', approval, ['a\r'], /Press a to allow/],
    ['nor a letter with an escape', approval, ['\u001ba'], /Press a to allow/],
    ['nor R with other text in one chunk', approval, ['Really?\r'], /Press a to allow/],
    ['nor a paste', approval, ['\u001b[200~a\u001b[201~'], /Press a to allow/],
    ['nor a letter at the end of other text', approval, ['okra'], /Press a to allow/],
    ['an empty reason', approval, ['R', enter], /Type a reason/],
    ['Enter in the reason never allows', dangerous, ['a', enter], /the whole word/],
    ['the wrong word', dangerous, ['a', 'a', enter], /the whole word/],
    ['a request that is not editable', fixed, ['e'], /cannot be edited/],
    ['an edit that changes nothing', approval, ['e', { edited: 'ls\n' }], /Nothing was changed/],
    [
      'an edit that is not valid JSON',
      { ...approval, tool: 'X', input: { a: 1 } },
      ['e', { edited: '{' }],
      /Press e to edit again/,
    ],
    ['a suggestion by Enter alone', withSuggestions, ['s', enter], /Choose one/],
    ['a suggestion by a paste', withSuggestions, ['s', '1\r'], /Enter confirms/],
    ['no suggestion', approval, ['s'], /nothing to remember/],
    [
      'suggestions that the request forbids',
      { ...withSuggestions, caution: { noRemember: true } },
      ['s'],
      /nothing to remember/,
    ],
    ['a plan into no mode', plan, ['z'], /Press a to approve/],
  ])('%s', (_, ask, typed, hint) => {
    const { prompt, answer } = typeKeys(ask, typed)
    expect(answer).toBeUndefined()
    expect(prompt.hint).toMatch(hint)
  })

  it('approve a plan into the chosen mode, and never by Enter alone', () => {
    expect(typeKeys(plan, ['a', '3', enter], ['default', 'acceptEdits']).answer).toEqual({
      kind: 'allow',
      mode: 'acceptEdits',
    })
    expect(typeKeys(plan, ['a', '1', enter], ['default']).answer).toEqual({ kind: 'allow' })
    expect(typeKeys(plan, ['a', enter], ['default']).prompt.hint).toMatch(/Choose one/)
    expect(typeKeys(plan, ['a', esc, 'r'], ['default']).answer).toEqual({ kind: 'deny' })
  })

  it('do not allow it before its end was shown, nor after an edit until the new text was shown', () => {
    const first: BodyView = { columns: 80, lines: 30, height: 10, top: 0 }
    expect(typeKeys(approval, ['a'], [], first).prompt.hint).toMatch(/Not all of it/)
    expect(typeKeys(approval, ['r'], [], first).answer).toEqual({ kind: 'deny' })
    const prompt = [0, 10, 20].reduce((read, top) => markShown(read, { ...first, top }), opened(approval))
    expect(handlePromptKey(prompt, a, first).answer).toEqual({ kind: 'allow' })
    const edited = handlePromptKey(prompt, { name: 'edited', text: 'long' }, first).prompt
    expect(edited.isFullyShown).toBe(false)
    expect(handlePromptKey(edited, a, first).prompt.hint).toMatch(/Not all of it/)
  })

  it('keep the selected list item visible, on a small screen too', () => {
    const many = Array.from({ length: 32 }, (_, n) => ({ id: `s${n}`, label: `Offer ${n + 1}`, scope: 'session' }))
    const drawn = (prompt: Prompt) => {
      const { lines } = layoutPrompt(prompt, { columns: 60, height: 14 }, { at: 1, of: 1 })
      return lines.map(line => line.map(({ text }) => text).join(''))
    }
    const offers = typeKeys({ ...approval, suggestions: many }, ['s', '2', '9']).prompt
    expect(drawn(offers)).toContainEqual(expect.stringMatching(/› 29 {2}Offer 29/))
    const modes = Array.from({ length: 20 }, (_, n) => `mode ${n + 1}`)
    expect(drawn(typeKeys(plan, ['a', up], modes).prompt)).toContainEqual(expect.stringMatching(/› 21 {2}mode 20/))
  })

  it('do not count it as shown after a jump over its middle, another width, or on a screen without room', () => {
    const first: BodyView = { columns: 80, lines: 30, height: 10, top: 0 }
    const saw = (...views: readonly BodyView[]) => views.reduce(markShown, opened(approval))
    expect(saw(first, { ...first, top: 20 }).isFullyShown).toBe(false)
    expect(
      saw(first, { ...first, top: 20 }, { ...first, top: 9 }, { ...first, top: 18 }, { ...first, top: 20 })
        .isFullyShown,
    ).toBe(true)
    expect(saw(first, { ...first, columns: 60, top: 10 }, { ...first, columns: 60, top: 20 }).isFullyShown).toBe(false)
    const none: BodyView = { ...first, height: 0 }
    expect(handlePromptKey(saw({ ...first, lines: 5 }), a, none)).not.toHaveProperty('answer')
    // The next page is the first part that was skipped, even after a jump to the end.
    const jumped = saw(first, { ...first, top: 20 })
    expect(handlePromptKey(jumped, { name: 'text', text: ' ', alone: true }, { ...first, top: 20 }).prompt.top).toBe(9)
  })
})

describe('the keys of questions', () => {
  it.each<[string, Ask, (string | { edited: string })[], object]>([
    ['a digit and Enter', one(), ['2', enter], chosen('B')],
    ['arrows and Enter', one(), [down, down, enter], chosen('B')],
    ['up from nothing is the last', one(), [up, enter], chosen('C')],
    ['the last digit counts', one(), ['1', '3', enter], chosen('C')],
    ['o and a text', one(), ['o', 'D', enter], other('D')],
    ['several by digits', one({ multiSelect: true }), ['1', '3', enter], chosen('A', 'C')],
    ['several by space', one({ multiSelect: true }), [down, ' ', down, down, ' ', enter], chosen('A', 'C')],
    ['several options and a text', one({ multiSelect: true }), ['2', 'o', 'D', enter, enter], other('D', 'B')],
    ['r declines', one(), ['r'], { kind: 'decline' }],
    ['x declines and stops', one(), ['x'], { kind: 'decline', interrupt: true }],
    ['R takes a reason', one(), ['R', 'why not', enter], { kind: 'decline', reason: 'why not' }],
    ['a text', one({ options: [] }), ['r', enter], other('r')],
    ['a text that looks like a path', one({ options: [] }), ['/etc/hosts', enter], other('/etc/hosts')],
    ['/reject', one({ options: [] }), ['/reject', enter], { kind: 'decline' }],
    [
      '/reject with a reason',
      one({ options: [] }),
      ['/reject too late', enter],
      { kind: 'decline', reason: 'too late' },
    ],
    ['/stop', one({ options: [] }), ['/stop', enter], { kind: 'decline', interrupt: true }],
    ['/edit', one({ options: [] }), ['/edit', enter, { edited: 'two\nlines\n' }, enter], other('two\nlines')],
    [
      '/edit makes any text an answer',
      one({ options: [] }),
      ['/edit', enter, { edited: '/reject\n' }, enter],
      other('/reject'),
    ],
  ])('%s', (_, ask, typed, answer) => {
    expect(typeKeys(ask, typed).answer).toEqual(answer)
  })

  it.each<[string, Ask, string[], RegExp]>([
    ['a digit and Enter in one go, as a paste', one(), ['2\r'], /Choose by number/],
    ['Enter with nothing chosen', one(), [enter], /Choose one/],
    ['Enter with nothing marked', one({ multiSelect: true }), [down, enter], /Mark one or more/],
    ['a number out of range', one(), ['9'], /Choose by number/],
    ['o if no other answer is allowed', one({ allowOther: false }), ['o'], /only takes one of its options/],
    ['an empty text', one({ options: [] }), ['  ', enter], /answer is empty/],
    ['a secret in the editor', one({ options: [], secret: true }), ['/edit', enter], /never written to a file/],
  ])('%s', (_, ask, typed, hint) => {
    const { prompt, answer } = typeKeys(ask, typed)
    expect(answer).toBeUndefined()
    expect(prompt.hint).toMatch(hint)
  })

  it('go through them in turn; one may be skipped, but not all', () => {
    const ask: Ask = { kind: 'questions', questions: [question, { ...question, id: 'r', options: [] }] }
    expect(typeKeys(ask, ['1', enter, 'x', enter]).answer).toEqual({
      kind: 'answers',
      answers: [
        { id: 'q', chosen: ['A'] },
        { id: 'r', chosen: [], other: 'x' },
      ],
    })
    expect(typeKeys(ask, ['s', 'x', enter]).answer).toEqual({
      kind: 'answers',
      answers: [{ id: 'r', chosen: [], other: 'x' }],
    })
    expect(typeKeys(ask, ['s', '/skip', enter]).prompt.hint).toMatch(/No question is answered/)
    expect(typeKeys(ask, ['1', enter, esc, '2', enter, 'x', enter]).answer).toMatchObject({
      answers: [{ chosen: ['B'] }, {}],
    })
  })

  it('choose options beyond nine by two digits', () => {
    const options = Array.from({ length: 12 }, (_, index) => ({ label: `L${index + 1}` }))
    expect(typeKeys(one({ options }), ['1', '2', enter]).answer).toEqual(chosen('L12'))
    expect(typeKeys(one({ options, multiSelect: true }), ['1', '1', enter]).answer).toEqual(chosen('L11'))
  })

  it('start a new number after a pause, and Backspace removes digits one by one', () => {
    const choices = { count: 14, isMultiple: true }
    const press = (typed: string, before = emptySelection) =>
      [...typed].reduce((pick, char) => {
        const key: Key = char === '<' ? { name: 'backspace', alone: true } : { name: 'text', text: char, alone: true }
        return handleSelectionKey(pick, key, choices) ?? pick
      }, before)
    const late = handleSelectionKey(press('1'), { name: 'text', text: '2', alone: true, afterPause: true }, choices)
    expect(late?.marked).toEqual([0, 1])
    expect(press('123').marked).toEqual([2, 11])
    expect(press('312<').marked, 'one digit').toEqual([0, 2])
    expect(press('312<<').marked, 'the number').toEqual([2])
    expect(press('312<<<').marked, 'no more than what it had chosen').toEqual([2])
    expect(
      handleSelectionKey(press('2'), { name: 'backspace', alone: true }, { count: 14, isMultiple: false })?.cursor,
    ).toBe(-1)
  })
})

describe('the keys of a form', () => {
  const form: FormAsk = {
    kind: 'form',
    title: 'F',
    message: '',
    schema: {
      type: 'object',
      required: ['n'],
      properties: {
        n: { type: 'integer', minimum: 1 },
        s: { type: 'string', default: 'd' },
        b: { type: 'boolean' },
        l: { type: 'array', items: { enum: ['u', 'v'] } },
      },
    },
  }
  it('submit valid values, leave out empty fields and keep defaults', () => {
    expect(typeKeys(form, ['2', enter, enter, 'y', enter, '2', enter, enter]).answer).toEqual({
      kind: 'submit',
      values: { n: 2, s: 'd', b: true, l: ['v'] },
    })
    expect(typeKeys(form, ['2', enter, '\u0015', enter, enter, enter, 'a']).answer).toEqual({
      kind: 'submit',
      values: { n: 2 },
    })
  })
  it('name an invalid value and stay at its field', () => {
    for (const [typed, hint] of [
      [[enter], /required/],
      [['x', enter], /whole number/],
      [['0', enter], /at least 1/],
    ] as const) {
      const { prompt, answer } = typeKeys(form, typed)
      expect(answer).toBeUndefined()
      expect(prompt.hint).toMatch(hint)
    }
  })
  it('go back, and decline in every way', () => {
    expect(typeKeys(form, ['2', enter, esc, '\u0015', '5', enter, enter, enter, enter, enter]).answer).toMatchObject({
      values: { n: 5 },
    })
    expect(typeKeys(form, ['/reject', enter]).answer).toEqual({ kind: 'decline' })
    expect(typeKeys(form, ['2', enter, enter, left, enter, 'r']).answer).toEqual({ kind: 'decline' })
    expect(typeKeys(form, ['2', enter, enter, 'R', 'no', enter]).answer).toEqual({ kind: 'decline', reason: 'no' })
  })
  it('show a secret as dots, also once it is filled in, and never open it in the editor', () => {
    const pass = { type: 'string', format: 'password' } as const
    const ask: FormAsk = { ...form, schema: { type: 'object', properties: { pass } } }
    const drawn = (typed: readonly string[]) => {
      const { prompt } = typeKeys(ask, typed)
      return JSON.stringify(layoutPrompt(prompt, { columns: 80, height: 30 }, { at: 1, of: 1 }).lines)
    }
    for (const typed of [['hush'], ['hush', enter]]) expect(drawn(typed)).not.toContain('hush')
    expect(typeKeys(ask, ['/edit', enter]).prompt.hint).toMatch(/never written to a file/)
    expect(typeKeys(ask, ['hush', enter, enter]).answer).toEqual({ kind: 'submit', values: { pass: 'hush' } })
  })
  it('confirm a form without fields by a letter, not by Enter', () => {
    const link: FormAsk = { ...form, url: 'https://example.org/', schema: { type: 'object', properties: {} } }
    expect(typeKeys(link, [enter]).answer).toBeUndefined()
    expect(typeKeys(link, ['a']).answer).toEqual({ kind: 'submit', values: {} })
  })
})

describe('any keys in any prompt', () => {
  const typed = fc.array(
    fc.constantFrom(
      'a',
      '1',
      '2',
      '9',
      'r',
      'R',
      'x',
      'n',
      'e',
      'o',
      's',
      ' ',
      'y',
      '/reject',
      '/edit',
      'allow',
      enter,
      esc,
      up,
      down,
      left,
      '\u007f',
      '\t',
      '\u001b[6~',
      '\u0015',
    ),
    { maxLength: 25 },
  )
  const asks: Ask[] = [
    approval,
    fixed,
    dangerous,
    plan,
    one(),
    one({ multiSelect: true }),
    one({ options: [], secret: true }),
  ]

  it('give a valid answer or none, and every state can be drawn in every size', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...asks),
        typed,
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 0, max: 60 }),
        (ask, list, columns, height) => {
          let prompt = openPrompt(pendingRequest(ask), ['default'])
          for (const chunk of list)
            for (const press of keysOf(chunk)) {
              const { lines, view } = layoutPrompt(prompt, { columns, height }, { at: 1, of: 2 })
              expect(lines.length).toBeLessThanOrEqual(height)
              for (const line of lines) expect(widthOfSpans(line)).toBeLessThanOrEqual(columns)
              // The view counts no more lines than were drawn.
              expect(view.height).toBeLessThanOrEqual(Math.max(0, lines.length - 2))
              const turn = handlePromptKey(markShown(prompt, view), press, view)
              if (turn.answer) {
                expect(answerProblem(ask, turn.answer)).toBeNull()
                return
              }
              if (ask.kind === 'approval' && !turn.prompt.isFullyShown) expect(turn.answer).toBeUndefined()
              prompt =
                turn.edit === undefined
                  ? turn.prompt
                  : handlePromptKey(turn.prompt, { name: 'edited', text: `${turn.edit}!` }, view).prompt
            }
        },
      ),
      { numRuns: 300 },
    )
  })
})
