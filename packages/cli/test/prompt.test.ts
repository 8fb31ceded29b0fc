/** Prompts as tables: an ask and keys in, an answer or a hint out. No terminal is needed for that. */
import type { Answer, ApprovalAsk, Ask, FormAsk, Question, QuestionsAsk } from '@holdpoint/protocol'
import { answerProblem } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { widthOfSpans } from '../src/output/width.ts'
import { layoutPrompt } from '../src/tui/prompt/layout/prompt-layout.ts'
import { emptySelection, pressSelection } from '../src/tui/prompt/list-selection.ts'
import { openPrompt, type Prompt, pressPrompt, sawPrompt, type View } from '../src/tui/prompt/prompt.ts'
import type { PromptInput } from '../src/tui/prompt/prompt-step.ts'
import { type Key, KeyParser } from '../src/tui/terminal/key-parser.ts'
import { requestOf } from './support/request.ts'

interface Played {
  readonly prompt: Prompt
  readonly answer?: Answer
  readonly edit?: string
}

/** Types these one after the other, each on its own; what is no string comes back from the editor. */
function play(
  ask: Ask,
  typed: readonly (string | { readonly edited: string })[],
  modes: readonly string[] = [],
  fixed?: View,
): Played {
  let played: Played = { prompt: openPrompt(requestOf(ask), modes) }
  for (const one of typed) {
    const presses: PromptInput[] = typeof one === 'string' ? keysOf(one) : [{ name: 'edited', text: one.edited }]
    for (const press of presses) {
      if (played.answer) throw new Error('it was answered already')
      const view = fixed ?? layoutPrompt(played.prompt, { columns: 80, height: 40 }, { at: 1, of: 1 }).view
      played = pressPrompt(sawPrompt(played.prompt, view), press, view)
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
const warned: ApprovalAsk = { ...approval, caution: { defaultToNo: true } }
const suggestions = [1, 2].map(n => ({ id: `s${n}`, label: `Offer ${n}`, scope: 'session' }))
const offering: ApprovalAsk = { ...approval, suggestions }
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

const opened = (ask: Ask) => openPrompt(requestOf(ask), [])
const a: PromptInput = { name: 'text', text: 'a', alone: true }

describe('an approval', () => {
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
    ['what is warned of takes the word', warned, ['a', 'allow', enter], { kind: 'allow' }],
    ['and only the word', warned, ['1', 'allow it', enter, 'allow', enter], { kind: 'allow' }],
    ['what is warned of is denied by a key', warned, ['r'], { kind: 'deny' }],
    ['s and a number allow for longer', offering, ['s', '2', enter], { kind: 'allow', suggestion: 's2' }],
    ['arrows choose the offer', offering, ['s', down, enter], { kind: 'allow', suggestion: 's1' }],
    ['an offer that was left is not taken', offering, ['s', '2', esc, 'a'], { kind: 'allow' }],
    [
      'an offer takes the word where it is warned of',
      { ...offering, caution: { defaultToNo: true } },
      ['s', '1', enter, 'allow', enter],
      { kind: 'allow', suggestion: 's1' },
    ],
    [
      'leaving the word leaves the offer',
      { ...offering, caution: { defaultToNo: true } },
      ['s', '1', enter, esc, 'a', 'allow', enter],
      { kind: 'allow' },
    ],
    ['a plan without modes', plan, ['a'], { kind: 'allow' }],
    ['a plan into a mode that it names', { ...plan, modes: ['x'] }, ['a', '2', enter], { kind: 'allow', mode: 'x' }],
    [
      'a plan with an edited text',
      plan,
      ['e', { edited: 'better\n' }, 'a'],
      { kind: 'allow', input: { plan: 'better' } },
    ],
  ])('%s', (_, ask, typed, answer) => {
    expect(play(ask, typed).answer).toEqual(answer)
  })

  it.each<[string, Ask, (string | { edited: string })[], RegExp]>([
    ['Enter decides nothing', approval, [enter], /Press a to allow/],
    ['nor does another letter', approval, ['y'], /Press a to allow/],
    ['nor a letter twice in one go', approval, ['aa'], /Press a to allow/],
    ['nor a letter with Enter', approval, ['a\r'], /Press a to allow/],
    ['nor a letter with an escape', approval, ['\u001ba'], /Press a to allow/],
    ['nor a rejection with its reason', approval, ['Really?\r'], /Press a to allow/],
    ['nor a paste', approval, ['\u001b[200~a\u001b[201~'], /Press a to allow/],
    ['nor a letter at the end of other text', approval, ['okra'], /Press a to allow/],
    ['an empty reason', approval, ['R', enter], /Say why/],
    ['Enter in the reason never allows', warned, ['a', enter], /type allow/],
    ['the wrong word', warned, ['a', 'a', enter], /the whole word/],
    ['what is fixed is not edited', fixed, ['e'], /cannot be edited/],
    ['an edit that changes nothing', approval, ['e', { edited: 'ls\n' }], /Nothing was changed/],
    ['an edit that is no JSON', { ...approval, tool: 'X', input: { a: 1 } }, ['e', { edited: '{' }], /e edits again/],
    ['an offer by Enter alone', offering, ['s', enter], /Choose one/],
    ['an offer by a paste', offering, ['s', '1\r'], /Enter takes it/],
    ['no offer', approval, ['s'], /offers nothing/],
    ['an offer that is forbidden', { ...offering, caution: { noRemember: true } }, ['s'], /offers nothing/],
    ['a plan into no mode', plan, ['z'], /Press a to approve/],
  ])('%s', (_, ask, typed, hint) => {
    const { prompt, answer } = play(ask, typed)
    expect(answer).toBeUndefined()
    expect(prompt.hint).toMatch(hint)
  })

  it('approves a plan into the mode that is chosen, and into none by Enter alone', () => {
    expect(play(plan, ['a', '3', enter], ['default', 'acceptEdits']).answer).toEqual({
      kind: 'allow',
      mode: 'acceptEdits',
    })
    expect(play(plan, ['a', '1', enter], ['default']).answer).toEqual({ kind: 'allow' })
    expect(play(plan, ['a', enter], ['default']).prompt.hint).toMatch(/Choose one/)
    expect(play(plan, ['a', esc, 'r'], ['default']).answer).toEqual({ kind: 'deny' })
  })

  it('is not allowed before its end was shown, and again not once it was edited', () => {
    const first: View = { columns: 80, lines: 30, height: 10, top: 0 }
    expect(play(approval, ['a'], [], first).prompt.hint).toMatch(/Not all of it/)
    expect(play(approval, ['r'], [], first).answer).toEqual({ kind: 'deny' })
    const prompt = [0, 10, 20].reduce((read, top) => sawPrompt(read, { ...first, top }), opened(approval))
    expect(pressPrompt(prompt, a, first).answer).toEqual({ kind: 'allow' })
    const edited = pressPrompt(prompt, { name: 'edited', text: 'long' }, first).prompt
    expect(edited.shown).toBe(false)
    expect(pressPrompt(edited, a, first).prompt.hint).toMatch(/Not all of it/)
  })

  it('shows what may be chosen wherever the cursor is, on a small screen too', () => {
    const many = Array.from({ length: 32 }, (_, n) => ({ id: `s${n}`, label: `Offer ${n + 1}`, scope: 'session' }))
    const drawn = (prompt: Prompt) => {
      const { pieces } = layoutPrompt(prompt, { columns: 60, height: 14 }, { at: 1, of: 1 })
      return pieces.map(piece => piece.map(({ text }) => text).join(''))
    }
    const offers = play({ ...approval, suggestions: many }, ['s', '2', '9']).prompt
    expect(drawn(offers)).toContainEqual(expect.stringMatching(/› 29 {2}Offer 29/))
    const modes = Array.from({ length: 20 }, (_, n) => `mode ${n + 1}`)
    expect(drawn(play(plan, ['a', up], modes).prompt)).toContainEqual(expect.stringMatching(/› 21 {2}mode 20/))
  })

  it('is not shown by a jump over its middle, by another width, or on a screen that has no room for it', () => {
    const first: View = { columns: 80, lines: 30, height: 10, top: 0 }
    const saw = (...views: readonly View[]) => views.reduce(sawPrompt, opened(approval))
    expect(saw(first, { ...first, top: 20 }).shown).toBe(false)
    expect(
      saw(first, { ...first, top: 20 }, { ...first, top: 9 }, { ...first, top: 18 }, { ...first, top: 20 }).shown,
    ).toBe(true)
    expect(saw(first, { ...first, columns: 60, top: 10 }, { ...first, columns: 60, top: 20 }).shown).toBe(false)
    const none: View = { ...first, height: 0 }
    expect(pressPrompt(saw({ ...first, lines: 5 }), a, none)).not.toHaveProperty('answer')
    // More of it is what has been left out, wherever one has jumped to.
    const jumped = saw(first, { ...first, top: 20 })
    expect(pressPrompt(jumped, { name: 'text', text: ' ', alone: true }, { ...first, top: 20 }).prompt.top).toBe(9)
  })
})

describe('questions', () => {
  it.each<[string, Ask, (string | { edited: string })[], object]>([
    ['a digit and Enter', one(), ['2', enter], chosen('B')],
    ['arrows and Enter', one(), [down, down, enter], chosen('B')],
    ['up from nothing is the last', one(), [up, enter], chosen('C')],
    ['the last digit counts', one(), ['1', '3', enter], chosen('C')],
    ['o and words', one(), ['o', 'D', enter], other('D')],
    ['several by digits', one({ multiSelect: true }), ['1', '3', enter], chosen('A', 'C')],
    ['several by space', one({ multiSelect: true }), [down, ' ', down, down, ' ', enter], chosen('A', 'C')],
    ['several beside words', one({ multiSelect: true }), ['2', 'o', 'D', enter, enter], other('D', 'B')],
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
      '/edit makes any words an answer',
      one({ options: [] }),
      ['/edit', enter, { edited: '/reject\n' }, enter],
      other('/reject'),
    ],
  ])('%s', (_, ask, typed, answer) => {
    expect(play(ask, typed).answer).toEqual(answer)
  })

  it.each<[string, Ask, string[], RegExp]>([
    ['a digit and Enter in one go, as a paste', one(), ['2\r'], /Choose by number/],
    ['Enter with nothing chosen', one(), [enter], /Choose one/],
    ['Enter with nothing marked', one({ multiSelect: true }), [down, enter], /Mark one or more/],
    ['a number that is none', one(), ['9'], /Choose by number/],
    ['o where there is no other', one({ allowOther: false }), ['o'], /no other answer/],
    ['an empty text', one({ options: [] }), ['  ', enter], /empty answer/],
    ['a secret in the editor', one({ options: [], secret: true }), ['/edit', enter], /not put into a file/],
  ])('%s', (_, ask, typed, hint) => {
    const { prompt, answer } = play(ask, typed)
    expect(answer).toBeUndefined()
    expect(prompt.hint).toMatch(hint)
  })

  it('come in turn; one may be left out, not all', () => {
    const ask: Ask = { kind: 'questions', questions: [question, { ...question, id: 'r', options: [] }] }
    expect(play(ask, ['1', enter, 'x', enter]).answer).toEqual({
      kind: 'answers',
      answers: [
        { id: 'q', chosen: ['A'] },
        { id: 'r', chosen: [], other: 'x' },
      ],
    })
    expect(play(ask, ['s', 'x', enter]).answer).toEqual({
      kind: 'answers',
      answers: [{ id: 'r', chosen: [], other: 'x' }],
    })
    expect(play(ask, ['s', '/skip', enter]).prompt.hint).toMatch(/None of them/)
    expect(play(ask, ['1', enter, esc, '2', enter, 'x', enter]).answer).toMatchObject({
      answers: [{ chosen: ['B'] }, {}],
    })
  })

  it('beyond nine are chosen by two digits', () => {
    const options = Array.from({ length: 12 }, (_, index) => ({ label: `L${index + 1}` }))
    expect(play(one({ options }), ['1', '2', enter]).answer).toEqual(chosen('L12'))
    expect(play(one({ options, multiSelect: true }), ['1', '1', enter]).answer).toEqual(chosen('L11'))
  })

  it('of a number end where the person waits, and go one by one with Backspace', () => {
    const choices = { count: 14, many: true }
    const press = (typed: string, before = emptySelection) =>
      [...typed].reduce((pick, char) => {
        const key: Key = char === '<' ? { name: 'backspace', alone: true } : { name: 'text', text: char, alone: true }
        return pressSelection(pick, key, choices) ?? pick
      }, before)
    const late = pressSelection(press('1'), { name: 'text', text: '2', alone: true, late: true }, choices)
    expect(late?.marked).toEqual([0, 1])
    expect(press('123').marked).toEqual([2, 11])
    expect(press('312<').marked, 'one digit').toEqual([0, 2])
    expect(press('312<<').marked, 'the number').toEqual([2])
    expect(press('312<<<').marked, 'no more than what it had chosen').toEqual([2])
    expect(pressSelection(press('2'), { name: 'backspace', alone: true }, { count: 14, many: false })?.cursor).toBe(-1)
  })
})

describe('a form', () => {
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
  it('takes what fits, leaves out what is empty, keeps defaults', () => {
    expect(play(form, ['2', enter, enter, 'y', enter, '2', enter, enter]).answer).toEqual({
      kind: 'submit',
      values: { n: 2, s: 'd', b: true, l: ['v'] },
    })
    expect(play(form, ['2', enter, '\u0015', enter, enter, enter, 'a']).answer).toEqual({
      kind: 'submit',
      values: { n: 2 },
    })
  })
  it('names what does not fit and stays', () => {
    for (const [typed, hint] of [
      [[enter], /required/],
      [['x', enter], /whole number/],
      [['0', enter], /at least 1/],
    ] as const) {
      const { prompt, answer } = play(form, typed)
      expect(answer).toBeUndefined()
      expect(prompt.hint).toMatch(hint)
    }
  })
  it('goes back, and rejects in every way', () => {
    expect(play(form, ['2', enter, esc, '\u0015', '5', enter, enter, enter, enter, enter]).answer).toMatchObject({
      values: { n: 5 },
    })
    expect(play(form, ['/reject', enter]).answer).toEqual({ kind: 'decline' })
    expect(play(form, ['2', enter, enter, left, enter, 'r']).answer).toEqual({ kind: 'decline' })
    expect(play(form, ['2', enter, enter, 'R', 'no', enter]).answer).toEqual({ kind: 'decline', reason: 'no' })
  })
  it('shows a secret as dots, also once it is filled in, and puts it into no file', () => {
    const pass = { type: 'string', format: 'password' } as const
    const ask: FormAsk = { ...form, schema: { type: 'object', properties: { pass } } }
    const drawn = (typed: readonly string[]) => {
      const { prompt } = play(ask, typed)
      return JSON.stringify(layoutPrompt(prompt, { columns: 80, height: 30 }, { at: 1, of: 1 }).pieces)
    }
    for (const typed of [['hush'], ['hush', enter]]) expect(drawn(typed)).not.toContain('hush')
    expect(play(ask, ['/edit', enter]).prompt.hint).toMatch(/not put into a file/)
    expect(play(ask, ['hush', enter, enter]).answer).toEqual({ kind: 'submit', values: { pass: 'hush' } })
  })
  it('of a link alone is done by a letter, not by Enter', () => {
    const link: FormAsk = { ...form, url: 'https://example.org/', schema: { type: 'object', properties: {} } }
    expect(play(link, [enter]).answer).toBeUndefined()
    expect(play(link, ['a']).answer).toEqual({ kind: 'submit', values: {} })
  })
})

describe('any keys at all', () => {
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
    warned,
    plan,
    one(),
    one({ multiSelect: true }),
    one({ options: [], secret: true }),
  ]

  it('give an answer that fits, or none; and every state can be drawn in every size', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...asks),
        typed,
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 0, max: 60 }),
        (ask, list, columns, height) => {
          let prompt = openPrompt(requestOf(ask), ['default'])
          for (const chunk of list)
            for (const press of keysOf(chunk)) {
              const { pieces, view } = layoutPrompt(prompt, { columns, height }, { at: 1, of: 2 })
              expect(pieces.length).toBeLessThanOrEqual(height)
              for (const piece of pieces) expect(widthOfSpans(piece)).toBeLessThanOrEqual(columns)
              // As many lines of it are counted as are there.
              expect(view.height).toBeLessThanOrEqual(Math.max(0, pieces.length - 2))
              const turn = pressPrompt(sawPrompt(prompt, view), press, view)
              if (turn.answer) {
                expect(answerProblem(ask, turn.answer)).toBeNull()
                return
              }
              if (ask.kind === 'approval' && !turn.prompt.shown) expect(turn.answer).toBeUndefined()
              prompt =
                turn.edit === undefined
                  ? turn.prompt
                  : pressPrompt(turn.prompt, { name: 'edited', text: `${turn.edit}!` }, view).prompt
            }
        },
      ),
      { numRuns: 300 },
    )
  })
})
