/** Checks which answers fit which asks, by kind, by option and by schema. */
import { describe, expect, it } from 'vitest'
import { Answer, Ask, type Ask as AskValue, answerProblem, type Question } from '../src/index.ts'

const question = (change: Partial<Question> = {}): Question => ({
  id: 'color',
  header: 'Colour',
  question: 'Which color?',
  options: [{ label: 'red' }, { label: 'blue' }],
  multiSelect: false,
  allowOther: false,
  secret: false,
  ...change,
})
const approval = {
  kind: 'approval',
  tool: 'Bash',
  input: { command: 'ls' },
  title: 'Run ls',
  cwd: '/',
  editable: false,
} as const
const asks: Record<AskValue['kind'], AskValue> = {
  approval,
  questions: { kind: 'questions', questions: [question()] },
  form: { kind: 'form', title: 'T', message: '', schema: { type: 'object', properties: { n: { type: 'integer' } } } },
}
const answers: Record<Answer['kind'], Answer> = {
  allow: { kind: 'allow' },
  deny: { kind: 'deny' },
  answers: { kind: 'answers', answers: [{ id: 'color', chosen: ['red'] }] },
  submit: { kind: 'submit', values: { n: 1 } },
  decline: { kind: 'decline' },
}
const fittingKinds: Record<AskValue['kind'], readonly Answer['kind'][]> = {
  approval: ['allow', 'deny'],
  questions: ['answers', 'decline'],
  form: ['submit', 'decline'],
}

describe('answerProblem', () => {
  for (const [kind, ask] of Object.entries(asks))
    for (const [answerKind, answer] of Object.entries(answers)) {
      const fits = fittingKinds[ask.kind].includes(answer.kind)
      const verdict = fits ? 'accepts' : 'refuses'
      it(`answerProblem ${verdict} an answer of kind ${answerKind} for an ask of kind ${kind}`, () => {
        if (fits) expect(answerProblem(ask, answer)).toBeNull()
        else expect(answerProblem(ask, answer)).toContain(`not ${answerKind}`)
      })
    }
})

describe('an allow answer', () => {
  const rows: readonly [string, Partial<AskValue>, Partial<Answer>, boolean][] = [
    ['with edited input fits an editable ask', { editable: true }, { input: { command: 'pwd' } }, true],
    ['with edited input does not fit an ask that is not editable', {}, { input: { command: 'pwd' } }, false],
    [
      'with a suggestion of the ask fits',
      { suggestions: [{ id: 'a', label: 'A', scope: '' }] },
      { suggestion: 'a' },
      true,
    ],
    [
      'with an unknown suggestion does not fit',
      { suggestions: [{ id: 'a', label: 'A', scope: '' }] },
      { suggestion: 'b' },
      false,
    ],
    ['with a suggestion does not fit an ask without suggestions', {}, { suggestion: 'a' }, false],
    ['with a mode of the ask fits', { modes: ['a', 'b'] }, { mode: 'b' }, true],
    ['with a mode that the ask does not list does not fit', { modes: ['a', 'b'] }, { mode: 'c' }, false],
    ['with any mode fits an ask without modes', {}, { mode: 'c' }, true],
    ['with a rule to remember fits', {}, { remember: { effect: 'allow', tool: 'Bash', command: 'ls' } }, true],
    [
      'with a rule does not fit an ask with noRemember',
      { caution: { noRemember: true } },
      { remember: { effect: 'allow', tool: 'Bash', command: 'ls' } },
      false,
    ],
    [
      'with a suggestion does not fit an ask with noRemember',
      { caution: { noRemember: true }, suggestions: [{ id: 'a', label: 'A', scope: '' }] },
      { suggestion: 'a' },
      false,
    ],
  ]
  it.each(rows)('an allow answer %s', (_name, change, fields, fits) => {
    const answer = { kind: 'allow', ...fields } as Answer // the row contains the remaining fields
    expect(answerProblem({ ...approval, ...change } as AskValue, answer) === null).toBe(fits)
  })

  const input = { command: 'ls', timeout: 5, loud: true, files: ['a'], where: { at: 1 }, until: null }
  const edits: readonly [string, Record<string, unknown>, string | null][] = [
    ['other values of the same types', { command: '', timeout: -1, loud: false, files: [], where: {} }, null],
    ['an additional field', { description: 'why', deep: [1] }, null],
    [
      'a number instead of text',
      { command: 5 },
      '"command" of the edited input must be text, as in the agent’s input, not a number',
    ],
    ['text instead of a number', { timeout: '5' }, '"timeout"'],
    ['text instead of a switch', { loud: 'yes' }, '"loud"'],
    ['an object instead of a list', { files: {} }, '"files"'],
    ['a list instead of an object', { where: [] }, '"where"'],
    ['null instead of text', { command: null }, 'not null'],
    ['a number instead of null', { until: 1 }, '"until"'],
    ['a missing field', { command: undefined }, 'lacks "command"'],
  ]
  for (const [name, change, expected] of edits)
    it(`an allow answer ${expected === null ? 'can' : 'cannot'} have an edited input with ${name}`, () => {
      const edited = Object.fromEntries(
        Object.entries({ ...input, ...change }).filter(([, value]) => value !== undefined),
      )
      const ask: AskValue = { ...approval, input, editable: true }
      const problem = answerProblem(ask, {
        kind: 'allow',
        input: edited as Extract<Answer, { kind: 'allow' }>['input'],
      }) // the rows contain only JSON
      if (expected === null) expect(problem).toBeNull()
      else expect(problem).toContain(expected)
    })
})

describe('answerProblem for answers to questions', () => {
  const two = [question(), question({ id: 'many', multiSelect: true, allowOther: true })]
  const free = [question({ id: 'free', options: [], allowOther: true })]
  const rows: readonly [
    string,
    readonly Question[],
    readonly { id: string; chosen: string[]; other?: string }[],
    boolean,
  ][] = [
    ['one label of a single choice', two, [{ id: 'color', chosen: ['red'] }], true],
    ['no entries', two, [], true],
    ['two labels of a single choice', two, [{ id: 'color', chosen: ['red', 'blue'] }], false],
    ['no label of a single choice', two, [{ id: 'color', chosen: [] }], false],
    [
      'the person’s own text for a question that allows only options',
      two,
      [{ id: 'color', chosen: [], other: 'green' }],
      false,
    ],
    ['an unknown label', two, [{ id: 'color', chosen: ['green'] }], false],
    ['a label in a different case', two, [{ id: 'color', chosen: ['Red'] }], false],
    ['an index instead of a label', two, [{ id: 'color', chosen: ['0'] }], false],
    ['an unknown question', two, [{ id: 'size', chosen: ['red'] }], false],
    [
      'two entries for the same question',
      two,
      [
        { id: 'color', chosen: ['red'] },
        { id: 'color', chosen: ['red'] },
      ],
      false,
    ],
    ['several labels of a multiple choice', two, [{ id: 'many', chosen: ['red', 'blue'] }], true],
    ['labels and the person’s own text', two, [{ id: 'many', chosen: ['red'], other: 'green' }], true],
    ['only the person’s own text for a multiple choice', two, [{ id: 'many', chosen: [], other: 'green' }], true],
    ['the same label twice', two, [{ id: 'many', chosen: ['red', 'red'] }], false],
    ['no label of a multiple choice', two, [{ id: 'many', chosen: [] }], false],
    ['the person’s own text for a question without options', free, [{ id: 'free', chosen: [], other: 'x' }], true],
    ['a label that is the name of an inherited property', two, [{ id: 'color', chosen: ['toString'] }], false],
  ]
  for (const [name, questions, given, fits] of rows)
    it(`answerProblem ${fits ? 'accepts' : 'refuses'} an answer to questions with ${name}`, () => {
      expect(
        answerProblem({ kind: 'questions', questions: [...questions] }, { kind: 'answers', answers: [...given] }) ===
          null,
      ).toBe(fits)
    })
  it('answerProblem for answers to questions accepts one option or the person’s own text for a single choice, but not both', () => {
    const ask: AskValue = { kind: 'questions', questions: [question({ allowOther: true })] }
    const problem = (chosen: string[], other?: string) =>
      answerProblem(ask, { kind: 'answers', answers: [{ id: 'color', chosen, ...(other ? { other } : {}) }] })
    expect(problem([], 'green')).toBeNull()
    expect(problem(['red'])).toBeNull()
    expect(problem(['red'], 'green')).toContain('exactly one')
  })
})

describe('the schema', () => {
  const malformedAnswers: readonly [string, unknown][] = [
    ['null', null],
    ['a string', 'allow'],
    ['a list', [{ kind: 'allow' }]],
    ['an unknown kind', { kind: 'yes' }],
    ['an answer without a kind', { input: {} }],
    ['an unknown field', { kind: 'allow', always: true }],
    ['a list instead of an object', { kind: 'allow', input: [] }],
    ['a number instead of a list', { kind: 'answers', answers: -1 }],
    ['an index instead of a list of labels', { kind: 'answers', answers: [{ id: 'a', chosen: 0 }] }],
    ['an index in the list of labels', { kind: 'answers', answers: [{ id: 'a', chosen: [0] }] }],
    ['a label instead of a list of labels', { kind: 'answers', answers: [{ id: 'a', chosen: 'red' }] }],
    ['an empty text as the person’s own answer', { kind: 'answers', answers: [{ id: 'a', chosen: [], other: '' }] }],
    ['an unknown field in the answer to a question', { kind: 'answers', answers: [{ id: 'a', chosen: [], index: 1 }] }],
    ['a list instead of an object with values', { kind: 'submit', values: [] }],
    ['a string for `interrupt`', { kind: 'deny', interrupt: 'yes' }],
  ]
  it.each(malformedAnswers)('the schema of answers refuses %s', (_name, value) =>
    expect(Answer.safeParse(value).success).toBe(false),
  )

  const malformedAsks: readonly [string, unknown][] = [
    ['an unknown kind', { kind: 'poll' }],
    ['an ask without questions', { kind: 'questions', questions: [] }],
    ['a question without choices', { kind: 'questions', questions: [question({ options: [] })] }],
    [
      'two options with the same label',
      { kind: 'questions', questions: [question({ options: [{ label: 'a' }, { label: 'a' }] })] },
    ],
    ['an empty label', { kind: 'questions', questions: [question({ options: [{ label: '' }] })] }],
    ['two questions with the same id', { kind: 'questions', questions: [question(), question()] }],
    ['a tool without a name', { ...approval, tool: '' }],
    ['a list instead of an input object', { ...approval, input: [] }],
    ['an unknown field', { ...approval, allowed: true }],
    ['a form with a javascript: URL', { ...asks.form, url: 'javascript:alert(1)' }],
    [
      'a form with a nested object',
      { ...asks.form, schema: { type: 'object', properties: { a: { type: 'object' } } } },
    ],
    [
      'a form that requires an unknown field',
      { ...asks.form, schema: { type: 'object', properties: {}, required: ['a'] } },
    ],
  ]
  it.each(malformedAsks)('the schema of asks refuses %s', (_name, value) =>
    expect(Ask.safeParse(value).success).toBe(false),
  )
  it.each(Object.entries(asks))('the schema of asks accepts an ask of kind %s', (_kind, ask) =>
    expect(Ask.parse(ask)).toEqual(ask),
  )
})
