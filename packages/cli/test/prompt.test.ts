/** The keys of prompts, tested without a terminal: each sequence of keys produces an answer or a hint. */
import type { Answer, ApprovalAsk, Ask, FormAsk, JsonObject, Question, QuestionsAsk, Risk } from '@holdpoint/protocol'
import { answerProblem } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RuleOffers } from '../src/gateway-client/rule-offers.ts'
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
  readonly loadsOffers?: true
  readonly checksInput?: JsonObject
}

const noOffers: RuleOffers = {
  items: [],
  reason: 'A rule needs a command that Holdpoint can read completely.',
  now: 1000,
}

interface Replies {
  readonly offers?: RuleOffers
  readonly risk?: Risk
  /** The risk of an edited input; null if the gateway has not replied yet. */
  readonly editedRisk?: Risk | null
}

/** Types each string as a separate chunk; an object is the text that the editor returns. */
function typeKeys(
  ask: Ask,
  typed: readonly (string | { readonly edited: string })[],
  modes: readonly string[] = [],
  fixed?: BodyView,
  { offers = noOffers, risk, editedRisk = { level: 'low', touches: [] } }: Replies = {},
): TypedResult {
  let result: TypedResult = { prompt: openPrompt({ ...pendingRequest(ask), ...(risk && { risk }) }, modes) }
  for (const one of typed) {
    const presses: PromptInput[] = typeof one === 'string' ? keysOf(one) : [{ name: 'edited', text: one.edited }]
    for (const press of presses) {
      if (result.answer) throw new Error('The request is already answered')
      const view = fixed ?? layoutPrompt(result.prompt, { columns: 80, height: 40 }, { at: 1, of: 1 }).view
      result = handlePromptKey(markShown(result.prompt, view), press, view)
      // The gateway's offers arrive before the next key.
      if (result.loadsOffers) result = handlePromptKey(result.prompt, { name: 'offers', offers }, view)
      const input = result.checksInput
      if (input && editedRisk) result = handlePromptKey(result.prompt, { name: 'risk', input, risk: editedRisk }, view)
    }
  }
  return result
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
    ['the key a allows the request', approval, ['a'], { kind: 'allow' }],
    ['the key 1 allows the request', approval, ['1'], { kind: 'allow' }],
    ['the key r denies the request', approval, ['r'], { kind: 'deny' }],
    ['the key 2 denies the request', approval, ['2'], { kind: 'deny' }],
    ['x denies the request and stops the turn', approval, ['x'], { kind: 'deny', interrupt: true }],
    ['R denies with a typed reason', approval, ['R', 'no', enter], { kind: 'deny', reason: 'no' }],
    ['d, as on the page, denies with a typed reason', approval, ['d', 'no', enter], { kind: 'deny', reason: 'no' }],
    [
      'w asks the agent a typed question before the answer',
      approval,
      ['w', 'why', enter],
      { kind: 'deny', reason: 'why', askBack: true },
    ],
    ['Escape keeps a typed question out of a denial', approval, ['w', 'why', esc, 'r'], { kind: 'deny' }],
    ['Escape discards the typed reason', approval, ['R', 'no', esc, 'r'], { kind: 'deny' }],
    [
      'n adds a note, which is sent when the request is allowed',
      approval,
      ['n', 'hi', enter, 'a'],
      { kind: 'allow', note: 'hi' },
    ],
    [
      'n adds a note, which becomes the reason when the request is denied',
      approval,
      ['n', 'hi', enter, 'r'],
      { kind: 'deny', reason: 'hi' },
    ],
    [
      'e edits the input before the request is allowed',
      approval,
      ['e', { edited: 'pwd\n' }, 'a'],
      { kind: 'allow', input: { command: 'pwd' } },
    ],
    [
      'e edits an edited input again',
      approval,
      ['e', { edited: 'pwd\n' }, 'e', { edited: 'id\n' }, 'a'],
      { kind: 'allow', input: { command: 'id' } },
    ],
    [
      'e keeps CRLF line endings in an edited text',
      { ...approval, input: { file_path: '/a', content: 'one\r\ntwo\r\n' } },
      ['e', { edited: 'one\n2\n' }, 'a'],
      { kind: 'allow', input: { file_path: '/a', content: 'one\r\n2\r\n' } },
    ],
    ['the typed word "allow" allows a dangerous request', dangerous, ['a', 'allow', enter], { kind: 'allow' }],
    [
      'only the exact word "allow" allows a dangerous request',
      dangerous,
      ['1', 'allow it', enter, 'allow', enter],
      { kind: 'allow' },
    ],
    ['r denies a dangerous request', dangerous, ['r'], { kind: 'deny' }],
    [
      's and a number allow the request with a suggestion',
      withSuggestions,
      ['s', '2', enter],
      { kind: 'allow', suggestion: 's2' },
    ],
    [
      's and an arrow key allow the request with a suggestion',
      withSuggestions,
      ['s', down, enter],
      { kind: 'allow', suggestion: 's1' },
    ],
    ['Escape discards the chosen suggestion', withSuggestions, ['s', '2', esc, 'a'], { kind: 'allow' }],
    [
      'the typed word "allow" allows a dangerous request with a suggestion',
      { ...withSuggestions, caution: { defaultToNo: true } },
      ['s', '1', enter, 'allow', enter],
      { kind: 'allow', suggestion: 's1' },
    ],
    [
      'Escape while typing "allow" discards the chosen suggestion',
      { ...withSuggestions, caution: { defaultToNo: true } },
      ['s', '1', enter, esc, 'a', 'allow', enter],
      { kind: 'allow' },
    ],
    ['the key a approves a plan without modes', plan, ['a'], { kind: 'allow' }],
    [
      'the key a and a number approve a plan into one of its modes',
      { ...plan, modes: ['x'] },
      ['a', '2', enter],
      { kind: 'allow', mode: 'x' },
    ],
    [
      'e edits a plan before its approval',
      plan,
      ['e', { edited: 'better\n' }, 'a'],
      { kind: 'allow', input: { plan: 'better' } },
    ],
  ])('keys that answer an approval: %s', (_, ask, typed, answer) => {
    expect(typeKeys(ask, typed).answer).toEqual(answer)
  })

  it.each<[string, Ask, (string | { edited: string })[], RegExp]>([
    ['Enter shows a hint', approval, [enter], /Press a to allow/],
    ['an unknown letter shows a hint', approval, ['y'], /Press a to allow/],
    ['the letter a twice in one chunk shows a hint', approval, ['aa'], /Press a to allow/],
    ['the letter a and Enter in one chunk show a hint', approval, ['a\r'], /Press a to allow/],
    ['the letter a after an escape character in one chunk shows a hint', approval, ['\u001ba'], /Press a to allow/],
    ['R with other text in one chunk shows a hint', approval, ['Really?\r'], /Press a to allow/],
    ['a pasted letter a shows a hint', approval, ['\u001b[200~a\u001b[201~'], /Press a to allow/],
    ['the letter a at the end of other text in one chunk shows a hint', approval, ['okra'], /Press a to allow/],
    ['R and an empty reason show a hint', approval, ['R', enter], /Type a reason/],
    ['Enter without the word "allow" shows a hint for a dangerous request', dangerous, ['a', enter], /the whole word/],
    ['a wrong word shows a hint for a dangerous request', dangerous, ['a', 'a', enter], /the whole word/],
    ['e shows a hint if the request is not editable', fixed, ['e'], /cannot be edited/],
    ['e and an unchanged text show a hint', approval, ['e', { edited: 'ls\n' }], /Nothing was changed/],
    [
      'e and a text that is not valid JSON show a hint',
      { ...approval, tool: 'X', input: { a: 1 } },
      ['e', { edited: '{' }],
      /Press e to edit again/,
    ],
    ['s and Enter without a chosen suggestion show a hint', withSuggestions, ['s', enter], /Choose one/],
    ['s and a pasted number with Enter show a hint', withSuggestions, ['s', '1\r'], /Press Enter to confirm/],
    ['s shows a hint if there is neither a suggestion nor a rule', approval, ['s'], /no rule .* Holdpoint can read/],
    [
      's shows a hint if the request was edited and there is no suggestion',
      approval,
      ['e', { edited: 'pwd' }, 's'],
      /nothing to remember/,
    ],
    [
      's shows a hint if remembering is forbidden',
      { ...withSuggestions, caution: { noRemember: true } },
      ['s'],
      /does not let this answer be remembered/,
    ],
    ['an unknown letter shows a hint for a plan', plan, ['z'], /Press a to approve/],
  ])('keys that do not answer an approval: %s', (_, ask, typed, hint) => {
    const { prompt, answer } = typeKeys(ask, typed)
    expect(answer).toBeUndefined()
    expect(prompt.hint).toMatch(hint)
  })

  const preview = {
    matched: 2,
    allowed: 1,
    denied: 1,
    allowedByYou: 1,
    deniedByYou: 0,
    since: 0,
    complete: true,
    examples: [],
    pending: [],
    pendingComplete: true,
  }
  const allowLs = { effect: 'allow', command: 'ls', scope: { cwd: '/' } } as const
  const offers: RuleOffers = {
    items: [
      { rule: allowLs, explanation: '', runsProjectCode: true, preview },
      { rule: { ...allowLs, args: 'grammar' }, explanation: '', runsProjectCode: false, preview },
    ],
    reason: '',
    now: 1000,
  }
  const rememberedBy = (keys: readonly string[], ask: Ask = approval) =>
    typeKeys(ask, keys, [], undefined, { offers }).answer
  const allowing = (remember: object) => ({ kind: 'allow', remember })
  it.each<[string, string[], object]>([
    ['from now on', ['s', '1', enter, '6', enter], allowLs],
    ['for an hour', ['s', '2', enter, '3', enter], { ...allowLs, args: 'grammar', expiresAt: 1000 + 3_600_000 }],
    [
      'until the turn ends',
      ['s', down, enter, down, enter],
      { ...allowLs, until: 'turn', scope: { cwd: '/', session: 'ses_00000000000000000000' } },
    ],
    [
      'until the session ends',
      ['s', '1', enter, '2', enter],
      { ...allowLs, until: 'session', scope: { cwd: '/', session: 'ses_00000000000000000000' } },
    ],
  ])('the key s, a rule and a duration allow the request and add the rule %s', (_, keys, rule) => {
    expect(rememberedBy(keys)).toEqual(allowing(rule))
  })
  it('the list of rules explains each rule, says what it would have matched, and lists the suggestions of the agent last', () => {
    const { prompt } = typeKeys(withSuggestions, ['s'], [], undefined, { offers })
    const text = layoutPrompt(prompt, { columns: 200, height: 40 }, { at: 1, of: 1 })
      .lines.map(line => line.map(span => span.text).join(''))
      .join('\n')
    expect(text).toMatch(/1 {2}Allow ls .*exactly these arguments\. Runs project code.*would have matched 2 requests/)
    expect(text).toMatch(/2 {2}Allow ls with harmless arguments/)
    expect(text).toMatch(/3 {2}Offer 1 .*suggested by the agent/)
    expect(rememberedBy(['s', '3', enter], withSuggestions)).toEqual({ kind: 'allow', suggestion: 's1' })
  })
  it('Enter in the list of rules or of durations without a chosen item shows a hint', () => {
    for (const keys of [
      ['s', enter],
      ['s', '1', enter, enter],
    ]) {
      const { prompt, answer } = typeKeys(approval, keys, [], undefined, { offers })
      expect(answer).toBeUndefined()
      expect(prompt.hint).toMatch(/Choose one/)
    }
  })
  it('a request that Holdpoint calls dangerous is allowed only with the typed word, even if a rule is added', () => {
    const risk: Risk = { level: 'dangerous', touches: ['deletes'] }
    const typed = (keys: string[]) => typeKeys(approval, keys, [], undefined, { offers, risk }).answer
    expect(typed(['a'])).toBeUndefined()
    expect(typed(['a', 'allow', enter])).toEqual({ kind: 'allow' })
    expect(typed(['s', '1', enter, '6', enter])).toBeUndefined()
    expect(typed(['s', '1', enter, '6', enter, 'allow', enter])).toEqual(allowing(allowLs))
    expect(typed(['r'])).toEqual({ kind: 'deny' })
  })
  it('an edited request needs the typed word only if the edited text is dangerous, and cannot be allowed before its risk is known', () => {
    const risk: Risk = { level: 'dangerous', touches: ['deletes'] }
    const typed = (replies: Replies, ...keys: string[]) =>
      typeKeys(approval, ['e', { edited: 'rm -rf /\n' }, ...keys], [], undefined, replies)
    const allowed = { kind: 'allow', input: { command: 'rm -rf /' } }
    expect(typed({ editedRisk: risk }, 'a').answer).toBeUndefined()
    expect(typed({ editedRisk: risk }, 'a', 'allow', enter).answer).toEqual(allowed)
    expect(typed({ risk }, 'a').answer).toEqual(allowed)
    expect(typed({ editedRisk: null }, 'a').prompt).toMatchObject({
      state: { step: 'decide' },
      hint: expect.stringContaining('still checking what your edited version does'),
    })
    // After the edit is undone, the risk is that of the original.
    const undone = typeKeys(approval, ['e', { edited: 'pwd\n' }, 'e', { edited: 'ls\n' }, 'a'], [], undefined, { risk })
    expect(undone.answer).toBeUndefined()
  })
  it('the risk shown with an edited request is the risk of the edited text', () => {
    const text = (editedRisk: Risk | null) => {
      const { prompt } = typeKeys(approval, ['e', { edited: 'rm x\n' }], [], undefined, {
        risk: { level: 'low', touches: [] },
        editedRisk,
      })
      return layoutPrompt(prompt, { columns: 80, height: 40 }, { at: 1, of: 1 })
        .lines.map(line => line.map(span => span.text).join(''))
        .join('\n')
    }
    expect(text({ level: 'dangerous', touches: ['deletes'] })).toMatch(/Risk +▲ Dangerous: deletes files/)
    expect(text(null)).toMatch(
      /Risk +Holdpoint is checking your edited version…[\s\S]*\[a\] Allow \(after the check of your edited version\)/,
    )
    expect(text(null)).not.toContain('Low risk')
  })

  it('the key a and a number approve a plan into the chosen mode; Enter without a chosen mode shows a hint', () => {
    expect(typeKeys(plan, ['a', '3', enter], ['default', 'acceptEdits']).answer).toEqual({
      kind: 'allow',
      mode: 'acceptEdits',
    })
    expect(typeKeys(plan, ['a', '1', enter], ['default']).answer).toEqual({ kind: 'allow' })
    expect(typeKeys(plan, ['a', enter], ['default']).prompt.hint).toMatch(/Choose one/)
    expect(typeKeys(plan, ['a', esc, 'r'], ['default']).answer).toEqual({ kind: 'deny' })
  })

  it('the key a does not allow the request before all of it was shown, nor an edited request before the new text was shown', () => {
    const first: BodyView = { columns: 80, lines: 30, height: 10, top: 0 }
    expect(typeKeys(approval, ['a'], [], first).prompt.hint).toMatch(/haven’t seen the whole request/)
    expect(typeKeys(approval, ['r'], [], first).answer).toEqual({ kind: 'deny' })
    const prompt = [0, 10, 20].reduce((read, top) => markShown(read, { ...first, top }), opened(approval))
    expect(handlePromptKey(prompt, a, first).answer).toEqual({ kind: 'allow' })
    const edited = handlePromptKey(prompt, { name: 'edited', text: 'long' }, first).prompt
    expect(edited.isFullyShown).toBe(false)
    expect(handlePromptKey(edited, a, first).prompt.hint).toMatch(/haven’t seen the whole request/)
  })

  it('digits and arrow keys keep the selected list item visible, even on a small screen', () => {
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

  it('a request counts as shown only if no line was skipped and the width stayed the same, and no key answers it on a screen that is too small', () => {
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
    // Even after a jump to the end, space goes to the first part that was skipped.
    const jumped = saw(first, { ...first, top: 20 })
    expect(handlePromptKey(jumped, { name: 'text', text: ' ', alone: true }, { ...first, top: 20 }).prompt.top).toBe(9)
  })
})

describe('the keys of questions', () => {
  it.each<[string, Ask, (string | { edited: string })[], object]>([
    ['a digit and Enter choose an option', one(), ['2', enter], chosen('B')],
    ['arrow keys and Enter choose an option', one(), [down, down, enter], chosen('B')],
    ['the first up arrow selects the last option', one(), [up, enter], chosen('C')],
    ['a second digit replaces the first in a short list', one(), ['1', '3', enter], chosen('C')],
    ['o and typed text give an answer that is not an option', one(), ['o', 'D', enter], other('D')],
    ['digits mark several options', one({ multiSelect: true }), ['1', '3', enter], chosen('A', 'C')],
    ['space marks several options', one({ multiSelect: true }), [down, ' ', down, down, ' ', enter], chosen('A', 'C')],
    [
      'a digit, o and typed text give an option and an additional answer',
      one({ multiSelect: true }),
      ['2', 'o', 'D', enter, enter],
      other('D', 'B'),
    ],
    ['r declines the questions', one(), ['r'], { kind: 'decline' }],
    ['x declines the questions and stops the turn', one(), ['x'], { kind: 'decline', interrupt: true }],
    ['R declines with a typed reason', one(), ['R', 'why not', enter], { kind: 'decline', reason: 'why not' }],
    [
      'd, as on the page, declines with a typed reason',
      one(),
      ['d', 'why not', enter],
      { kind: 'decline', reason: 'why not' },
    ],
    ['the letter r answers a text question after s', one({ options: [] }), ['r', enter, 's'], other('r')],
    [
      'the letter r declines a text question after a second r',
      one({ options: [] }),
      ['r', enter, 'r'],
      { kind: 'decline' },
    ],
    [
      'the letter r from the editor is an answer',
      one({ options: [] }),
      ['/edit', enter, { edited: 'r\n' }, enter],
      other('r'),
    ],
    [
      'w asks the agent a typed question instead of answering',
      one(),
      ['w', 'which', enter],
      { kind: 'decline', reason: 'which', askBack: true },
    ],
    [
      '/ask asks the agent a question in a text question',
      one({ options: [] }),
      ['/ask for whom', enter],
      { kind: 'decline', reason: 'for whom', askBack: true },
    ],
    [
      'a text that starts with a slash answers a text question',
      one({ options: [] }),
      ['/etc/hosts', enter],
      other('/etc/hosts'),
    ],
    ['/decline declines a text question', one({ options: [] }), ['/decline', enter], { kind: 'decline' }],
    ['/reject declines a text question too', one({ options: [] }), ['/reject', enter], { kind: 'decline' }],
    [
      '/reject with a reason declines with the reason',
      one({ options: [] }),
      ['/reject too late', enter],
      { kind: 'decline', reason: 'too late' },
    ],
    [
      '/decline with a reason declines with the reason',
      one({ options: [] }),
      ['/decline too late', enter],
      { kind: 'decline', reason: 'too late' },
    ],
    [
      '/stop declines a text question and stops the turn',
      one({ options: [] }),
      ['/stop', enter],
      { kind: 'decline', interrupt: true },
    ],
    [
      '/edit answers with the text from the editor',
      one({ options: [] }),
      ['/edit', enter, { edited: 'two\nlines\n' }, enter],
      other('two\nlines'),
    ],
    [
      '/edit answers with /decline if the editor returns that text',
      one({ options: [] }),
      ['/edit', enter, { edited: '/decline\n' }, enter],
      other('/decline'),
    ],
  ])('keys that answer questions: %s', (_, ask, typed, answer) => {
    expect(typeKeys(ask, typed).answer).toEqual(answer)
  })

  it.each<[string, Ask, string[], RegExp]>([
    ['a digit and Enter in one chunk show a hint', one(), ['2\r'], /Choose by number/],
    ['Enter without a chosen option shows a hint', one(), [enter], /Choose one/],
    ['Enter without a marked option shows a hint', one({ multiSelect: true }), [down, enter], /Mark one or more/],
    ['a digit out of range shows a hint', one(), ['9'], /Choose by number/],
    ['o shows a hint if no other answer is allowed', one({ allowOther: false }), ['o'], /only choose from the options/],
    ['Enter after an empty text shows a hint', one({ options: [] }), ['  ', enter], /answer is empty/],
    [
      '/edit shows a hint for a secret',
      one({ options: [], secret: true }),
      ['/edit', enter],
      /never written to a file/,
    ],
  ])('keys that do not answer questions: %s', (_, ask, typed, hint) => {
    const { prompt, answer } = typeKeys(ask, typed)
    expect(answer).toBeUndefined()
    expect(prompt.hint).toMatch(hint)
  })

  it('Enter goes to the next question; the key s and /skip skip a question, but not all questions', () => {
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
    expect(typeKeys(ask, ['s', '/skip', enter]).prompt.hint).toMatch(/haven’t answered any question/)
    expect(typeKeys(ask, ['1', enter, esc, '2', enter, 'x', enter]).answer).toMatchObject({
      answers: [{ chosen: ['B'] }, {}],
    })
  })

  it('two digits choose an option after the ninth', () => {
    const options = Array.from({ length: 12 }, (_, index) => ({ label: `L${index + 1}` }))
    expect(typeKeys(one({ options }), ['1', '2', enter]).answer).toEqual(chosen('L12'))
    expect(typeKeys(one({ options, multiSelect: true }), ['1', '1', enter]).answer).toEqual(chosen('L11'))
  })

  it('a digit after a pause starts a new number, and Backspace removes the digits one by one', () => {
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
    expect(press('312<<<').marked, 'the mark of another number stays').toEqual([2])
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
  it('Enter in the review submits valid values, leaves out empty fields and keeps defaults', () => {
    expect(typeKeys(form, ['2', enter, enter, 'y', enter, '2', enter, enter]).answer).toEqual({
      kind: 'submit',
      values: { n: 2, s: 'd', b: true, l: ['v'] },
    })
    expect(typeKeys(form, ['2', enter, '\u0015', enter, enter, enter, 'a']).answer).toEqual({
      kind: 'submit',
      values: { n: 2 },
    })
  })
  it('Enter after an invalid value shows the problem and stays at the field', () => {
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
  it('Esc goes back to the previous field; /decline, r, R and d decline', () => {
    expect(typeKeys(form, ['2', enter, esc, '\u0015', '5', enter, enter, enter, enter, enter]).answer).toMatchObject({
      values: { n: 5 },
    })
    expect(typeKeys(form, ['/decline', enter]).answer).toEqual({ kind: 'decline' })
    expect(typeKeys(form, ['2', enter, enter, left, enter, 'r']).answer).toEqual({ kind: 'decline' })
    for (const key of ['R', 'd'])
      expect(typeKeys(form, ['2', enter, enter, key, 'no', enter]).answer).toEqual({ kind: 'decline', reason: 'no' })
  })
  it('letters of a secret are never drawn, and /edit does not open a secret in the editor', () => {
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
  it('the key a submits a form without fields, but Enter does not', () => {
    const link: FormAsk = { ...form, url: 'https://example.org/', schema: { type: 'object', properties: {} } }
    expect(typeKeys(link, [enter]).answer).toBeUndefined()
    expect(typeKeys(link, ['a']).answer).toEqual({ kind: 'submit', values: {} })
  })
})

describe('random keys in any prompt', () => {
  const typed = fc.array(
    fc.constantFrom(
      'a',
      '1',
      '2',
      '9',
      'r',
      'R',
      'd',
      'x',
      'n',
      'e',
      'o',
      's',
      ' ',
      'y',
      '/decline',
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

  it('after random keys, a prompt never takes more lines than the screen has, even if the footer grows after the last line of the request was shown', () => {
    const { prompt } = typeKeys(approval, ['e', { edited: 'ls!' }], ['default'], undefined, { editedRisk: null })
    for (let columns = 20; columns < 40; columns++)
      for (let height = 4; height < 30; height++)
        expect(layoutPrompt(prompt, { columns, height }, { at: 1, of: 2 }).lines.length).toBeLessThanOrEqual(height)
  })

  it('random keys in any prompt produce a valid answer or none, and every state can be drawn at every screen size', () => {
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
              // The view must not count more lines than were drawn.
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

describe('the keys of a request whose agent lacks capabilities', () => {
  const ask: ApprovalAsk = {
    kind: 'approval',
    tool: 'Bash',
    title: 't',
    input: { command: 'ls' },
    cwd: '/',
    editable: true,
  }
  const limited = openPrompt(pendingRequest(ask), [], ['approvals', 'interrupt'])
  const layout = (prompt: Prompt) => layoutPrompt(prompt, { columns: 80, height: 40 }, { at: 1, of: 1 })
  const textOf = (prompt: Prompt) =>
    layout(prompt)
      .lines.map(line => line.map(({ text }) => text).join(''))
      .join('\n')
  const press = (prompt: Prompt, letter: string) => {
    const { view } = layout(prompt)
    const [key] = keysOf(letter)
    if (!key) throw new Error('no key')
    return handlePromptKey(markShown(prompt, view), key, view)
  }

  it('the keys of a request whose agent lacks capabilities include no note, no edit, no “ask back” and no “deny and stop”, and the prompt says that a denial ends the turn', () => {
    const text = textOf(limited)
    expect(text).not.toMatch(/n note|e edit|w ask back|x deny and stop/)
    expect(text).toContain('[r] Deny (ends the turn)')
    expect(textOf(openPrompt(pendingRequest(ask), []))).toMatch(/e edit.*n note.*w ask back.*x deny and stop/s)
  })
  it('the keys of a request whose agent lacks capabilities do nothing if they are for a note, an edit, a question or “deny and stop”', () => {
    for (const letter of ['n', 'w', 'x']) expect(press(limited, letter)).toMatchObject({ ignored: true })
    expect(press(limited, 'e').edit).toBeUndefined()
    expect(press(limited, 'r').answer).toEqual({ kind: 'deny' })
  })
})
