/** Which answer fits which ask: by kind, by label, by schema. What does not fit resolves nothing. */
import { describe, expect, it } from 'vitest'
import { Answer, Ask, type Ask as AskValue, answerProblem, type Question } from '../src/index.ts'

const question = (change: Partial<Question> = {}): Question => ({
  id: 'colour',
  header: 'Colour',
  question: 'Which colour?',
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
  answers: { kind: 'answers', answers: [{ id: 'colour', chosen: ['red'] }] },
  submit: { kind: 'submit', values: { n: 1 } },
  decline: { kind: 'decline' },
}
const fitting: Record<AskValue['kind'], readonly Answer['kind'][]> = {
  approval: ['allow', 'deny'],
  questions: ['answers', 'decline'],
  form: ['submit', 'decline'],
}

describe('kinds', () => {
  for (const [kind, ask] of Object.entries(asks))
    for (const [said, answer] of Object.entries(answers)) {
      const fits = fitting[ask.kind].includes(answer.kind)
      it(`${said} ${fits ? 'fits' : 'does not fit'} ${kind}`, () => {
        if (fits) expect(answerProblem(ask, answer)).toBeNull()
        else expect(answerProblem(ask, answer)).toContain(`not ${said}`)
      })
    }
})

describe('an allow', () => {
  const rows: readonly [string, Partial<AskValue>, Partial<Answer>, boolean][] = [
    ['with edited input fits what is editable', { editable: true }, { input: { command: 'pwd' } }, true],
    ['with edited input does not fit what is not', {}, { input: { command: 'pwd' } }, false],
    [
      'with an offered suggestion fits',
      { suggestions: [{ id: 'a', label: 'A', scope: '' }] },
      { suggestion: 'a' },
      true,
    ],
    [
      'with another suggestion does not',
      { suggestions: [{ id: 'a', label: 'A', scope: '' }] },
      { suggestion: 'b' },
      false,
    ],
    ['with a suggestion where none is offered does not', {}, { suggestion: 'a' }, false],
    ['into a mode that it names fits', { modes: ['a', 'b'] }, { mode: 'b' }, true],
    ['into another mode does not', { modes: ['a', 'b'] }, { mode: 'c' }, false],
    ['into any mode fits where it names none', {}, { mode: 'c' }, true],
    ['that remembers fits', {}, { remember: { effect: 'allow', tool: 'Bash', command: 'ls' } }, true],
    [
      'that remembers what must not be does not',
      { caution: { noRemember: true } },
      { remember: { effect: 'allow', tool: 'Bash', command: 'ls' } },
      false,
    ],
    [
      'with a suggestion for what must not be remembered does not',
      { caution: { noRemember: true }, suggestions: [{ id: 'a', label: 'A', scope: '' }] },
      { suggestion: 'a' },
      false,
    ],
  ]
  it.each(rows)('%s', (_name, change, said, fits) => {
    const answer = { kind: 'allow', ...said } as Answer // completed by the row
    expect(answerProblem({ ...approval, ...change } as AskValue, answer) === null).toBe(fits)
  })

  const input = { command: 'ls', timeout: 5, loud: true, files: ['a'], where: { at: 1 }, until: null }
  const edits: readonly [string, Record<string, unknown>, string | null][] = [
    ['other values of the same types', { command: '', timeout: -1, loud: false, files: [], where: {} }, null],
    ['more than was asked', { description: 'why', deep: [1] }, null],
    [
      'a number for text',
      { command: 5 },
      '"command" of the edited input must be text, as the agent asked, not a number',
    ],
    ['text for a number', { timeout: '5' }, '"timeout"'],
    ['text for a switch', { loud: 'yes' }, '"loud"'],
    ['an object for a list', { files: {} }, '"files"'],
    ['a list for an object', { where: [] }, '"where"'],
    ['null for text', { command: null }, 'not null'],
    ['something for null', { until: 1 }, '"until"'],
    ['less than was asked', { command: undefined }, 'lacks "command"'],
  ]
  it.each(edits)('with an edited input that holds %s', (_name, change, said) => {
    const edited = Object.fromEntries(
      Object.entries({ ...input, ...change }).filter(([, value]) => value !== undefined),
    )
    const ask: AskValue = { ...approval, input, editable: true }
    const wrong = answerProblem(ask, { kind: 'allow', input: edited as Extract<Answer, { kind: 'allow' }>['input'] }) // JSON, by the rows
    if (said === null) expect(wrong).toBeNull()
    else expect(wrong).toContain(said)
  })
})

describe('answers to questions', () => {
  const two = [question(), question({ id: 'many', multiSelect: true, allowOther: true })]
  const free = [question({ id: 'free', options: [], allowOther: true })]
  const rows: readonly [
    string,
    readonly Question[],
    readonly { id: string; chosen: string[]; other?: string }[],
    boolean,
  ][] = [
    ['one label of a single choice', two, [{ id: 'colour', chosen: ['red'] }], true],
    ['no question at all: not answered', two, [], true],
    ['two labels of a single choice', two, [{ id: 'colour', chosen: ['red', 'blue'] }], false],
    ['no label of a single choice', two, [{ id: 'colour', chosen: [] }], false],
    ['an own answer where none is taken', two, [{ id: 'colour', chosen: [], other: 'green' }], false],
    ['an unknown label', two, [{ id: 'colour', chosen: ['green'] }], false],
    ['a label in another case', two, [{ id: 'colour', chosen: ['Red'] }], false],
    ['an index for a label', two, [{ id: 'colour', chosen: ['0'] }], false],
    ['an unknown question', two, [{ id: 'size', chosen: ['red'] }], false],
    [
      'a question twice',
      two,
      [
        { id: 'colour', chosen: ['red'] },
        { id: 'colour', chosen: ['red'] },
      ],
      false,
    ],
    ['several labels of a multiple choice', two, [{ id: 'many', chosen: ['red', 'blue'] }], true],
    ['labels and an own answer beside them', two, [{ id: 'many', chosen: ['red'], other: 'green' }], true],
    ['only an own answer of a multiple choice', two, [{ id: 'many', chosen: [], other: 'green' }], true],
    ['a label twice', two, [{ id: 'many', chosen: ['red', 'red'] }], false],
    ['nothing of a multiple choice', two, [{ id: 'many', chosen: [] }], false],
    ['an own answer to a free question', free, [{ id: 'free', chosen: [], other: 'x' }], true],
    ['a label inherited by every object', two, [{ id: 'colour', chosen: ['toString'] }], false],
  ]
  it.each(rows)('%s', (_name, questions, given, fits) => {
    expect(
      answerProblem({ kind: 'questions', questions: [...questions] }, { kind: 'answers', answers: [...given] }) ===
        null,
    ).toBe(fits)
  })
  it('a single choice with an own answer takes one or the other, not both', () => {
    const ask: AskValue = { kind: 'questions', questions: [question({ allowOther: true })] }
    const say = (chosen: string[], other?: string) =>
      answerProblem(ask, { kind: 'answers', answers: [{ id: 'colour', chosen, ...(other ? { other } : {}) }] })
    expect(say([], 'green')).toBeNull()
    expect(say(['red'])).toBeNull()
    expect(say(['red'], 'green')).toContain('exactly one')
  })
})

describe('a shape that is wrong', () => {
  const wrong: readonly [string, unknown][] = [
    ['no answer', null],
    ['a word', 'allow'],
    ['a list', [{ kind: 'allow' }]],
    ['an unknown kind', { kind: 'yes' }],
    ['no kind', { input: {} }],
    ['an unknown member', { kind: 'allow', always: true }],
    ['a list for an object', { kind: 'allow', input: [] }],
    ['a number for a list', { kind: 'answers', answers: -1 }],
    ['an index for labels', { kind: 'answers', answers: [{ id: 'a', chosen: 0 }] }],
    ['an index among labels', { kind: 'answers', answers: [{ id: 'a', chosen: [0] }] }],
    ['a label for labels', { kind: 'answers', answers: [{ id: 'a', chosen: 'red' }] }],
    ['an empty own answer', { kind: 'answers', answers: [{ id: 'a', chosen: [], other: '' }] }],
    ['an unknown member of an answer', { kind: 'answers', answers: [{ id: 'a', chosen: [], index: 1 }] }],
    ['a list of values', { kind: 'submit', values: [] }],
    ['a word for interrupt', { kind: 'deny', interrupt: 'yes' }],
  ]
  it.each(wrong)('%s is no answer', (_name, value) => expect(Answer.safeParse(value).success).toBe(false))

  const malformed: readonly [string, unknown][] = [
    ['an unknown kind', { kind: 'poll' }],
    ['no questions', { kind: 'questions', questions: [] }],
    ['a question without choices', { kind: 'questions', questions: [question({ options: [] })] }],
    ['a label twice', { kind: 'questions', questions: [question({ options: [{ label: 'a' }, { label: 'a' }] })] }],
    ['an empty label', { kind: 'questions', questions: [question({ options: [{ label: '' }] })] }],
    ['a question id twice', { kind: 'questions', questions: [question(), question()] }],
    ['a tool without a name', { ...approval, tool: '' }],
    ['a list for input', { ...approval, input: [] }],
    ['an unknown member', { ...approval, allowed: true }],
    ['a form that is a script', { ...asks.form, url: 'javascript:alert(1)' }],
    ['a form of a nested object', { ...asks.form, schema: { type: 'object', properties: { a: { type: 'object' } } } }],
    [
      'a form that requires what it has not',
      { ...asks.form, schema: { type: 'object', properties: {}, required: ['a'] } },
    ],
  ]
  it.each(malformed)('%s is no ask', (_name, value) => expect(Ask.safeParse(value).success).toBe(false))
  it.each(Object.entries(asks))('a plain %s is one', (_kind, ask) => expect(Ask.parse(ask)).toEqual(ask))
})
