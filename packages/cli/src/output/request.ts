/** A request as lines: everything that will run, all of it, and beside it what people need to know to answer. */
import {
  type AskView,
  actionLabel,
  deliveryLabel,
  diffLines,
  editableJson,
  hasEscapes,
  lineEndLabel,
  resolutionLabel,
  resolutionTone,
  timeSince,
  viewOf,
} from '@holdpoint/client'
import {
  type ApprovalAsk,
  type Ask,
  type FormAsk,
  type FormField,
  fieldChoices,
  type Json,
  type JsonObject,
  type QuestionsAsk,
  type Request,
  type Session,
} from '@holdpoint/protocol'
import { nameOf } from './question.ts'
import { blank, fact, indented, quoted, quotedLine, type Row, row, type Style, trusted, untrusted } from './span.ts'

/** What a surface knows beside the request itself. */
export interface RequestContext {
  readonly session: Session | null
  /** By the gateway's clock. */
  readonly now: number
  readonly me: string
}

export function requestRows(request: Request, around: RequestContext): readonly Row[] {
  const { ask, resolution } = request
  return [
    ...headRows(request, around),
    blank,
    ...askRows(ask),
    ...deadlineRows(request, around.now),
    fact('Digest', trusted(request.digest, 'quiet')),
    ...(resolution
      ? [
          blank,
          row(
            trusted(resolutionLabel(resolution, around.me), lookOf(resolution)),
            trusted(` · ${deliveryLabel(request.delivery)}`),
          ),
        ]
      : []),
  ]
}

const tones: Readonly<Record<ReturnType<typeof resolutionTone>, Style>> = { yes: 'yes', no: 'no', none: 'quiet' }
export function lookOf(resolution: NonNullable<Request['resolution']>): Style {
  return tones[resolutionTone(resolution)]
}

function headRows({ id, ask, openedAt, status, agentPath }: Request, { session, now }: RequestContext): readonly Row[] {
  const state =
    status === 'pending' ? trusted(`waits · ${timeSince(openedAt, now)}`, 'waiting') : trusted('resolved', 'quiet')
  const path = agentPath.flatMap(name => [trusted(' › '), untrusted(name)])
  return [
    row(trusted(actionLabel(ask), 'strong'), trusted('  '), state, trusted(`  ${id}`, 'quiet')),
    ...(session
      ? [
          fact(
            'Session',
            untrusted(session.title),
            trusted(' · '),
            untrusted(session.driver),
            trusted(' · '),
            untrusted(session.cwd),
          ),
        ]
      : []),
    ...(path.length > 0 ? [fact('Agent', ...path.slice(1))] : []),
  ]
}

function deadlineRows({ status, deadlineAt, onDeadline, overdue }: Request, now: number): readonly Row[] {
  if (status !== 'pending' || deadlineAt === null) return []
  if (overdue || deadlineAt <= now) return [fact('Deadline', trusted('passed; it still waits', 'waiting'))]
  const silence = onDeadline === 'deny' ? 'then the agent is told that nobody answered' : 'then it waits on, as overdue'
  return [
    fact('Deadline', trusted(`in ${timeSince(now, deadlineAt).replace('now', 'less than a minute')}; ${silence}`)),
  ]
}

/** How a plan is told; as it is written where nobody says otherwise. */
type Telling = (plan: string) => readonly Row[]

export function askRows(ask: Ask, tellPlan: Telling = quoted): readonly Row[] {
  switch (ask.kind) {
    case 'approval':
      return approvalRows(ask, tellPlan)
    case 'questions':
      return questionRows(ask)
    case 'form':
      return formRows(ask)
  }
}

function approvalRows(ask: ApprovalAsk, tellPlan: Telling): readonly Row[] {
  const { title, description, caution } = ask
  const picture = viewOf(ask)
  const rest = Object.keys(picture.rest).length > 0 ? quoted(spelt(picture.rest)) : []
  return [
    ...pictureRows(picture, tellPlan),
    ...(rest.length > 0
      ? [row(trusted(picture.kind === 'fields' ? 'Input' : 'Also in the input', 'quiet')), ...rest]
      : []),
    ...(hides(ask.input)
      ? [row(trusted('It holds characters that cannot be seen; they are spelt out as \\u…', 'waiting'))]
      : []),
    blank,
    fact('Tool', untrusted(ask.tool)),
    fact('Folder', untrusted(ask.cwd)),
    fact('Agent says', untrusted(title)),
    ...(description === undefined ? [] : quoted(description)),
    ...(caution?.reason === undefined ? [] : [fact('Caution', untrusted(caution.reason, 'waiting'))]),
    ...(caution?.blockedPath === undefined ? [] : [fact('Blocked', untrusted(caution.blockedPath))]),
    ...(caution?.defaultToNo
      ? [fact('Caution', trusted('the agent’s own program marks this as dangerous', 'waiting'))]
      : []),
    ...offersOf(ask).map(({ label, scope }, index) =>
      fact(
        index === 0 ? 'Offers' : '',
        trusted(`${index + 1}  `),
        untrusted(label),
        trusted(' ('),
        untrusted(scope),
        trusted(')'),
      ),
    ),
    ...(ask.editable ? [] : [fact('Editing', trusted('not possible: this runs as it is, or not at all'))]),
  ]
}

const shortJson = 60
/** In one line where it is short. */
function spelt(value: JsonObject): string {
  const line = editableJson(value, 0)
  return line.length <= shortJson ? line : editableJson(value)
}

/** What the agent's own program would remember, if a person says so; nothing where it must not. */
export function offersOf({ suggestions = [], caution }: ApprovalAsk): NonNullable<ApprovalAsk['suggestions']> {
  return caution?.noRemember ? [] : suggestions
}

function hides(value: Json): boolean {
  if (typeof value === 'string') return hasEscapes(value, { multiline: true })
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([name, item]) => hasEscapes(name) || hides(item))
}

function pictureRows(picture: AskView, tellPlan: Telling): readonly Row[] {
  switch (picture.kind) {
    case 'command':
      return quoted(picture.command)
    case 'plan':
      return tellPlan(picture.plan)
    case 'change':
      return changeRows(picture)
    case 'fields':
      return []
  }
}

function changeRows({ path, parts, isNew }: Extract<AskView, { kind: 'change' }>): readonly Row[] {
  const { diffs, ends } = diffLines(parts)
  const about = lineEndLabel(ends)
  return [
    row(trusted(isNew ? 'The whole of ' : 'In '), untrusted(path), trusted(about && ` · ${about}`, 'quiet')),
    ...diffs.flatMap((rows, index) => [
      ...(index > 0 ? [row(trusted('  ⋮', 'quiet'))] : []),
      ...rows.map(({ sign, text }) => quotedLine(sign === ' ' ? text : endTold(text), signLooks[sign], `${sign} `)),
    ]),
  ]
}
/** Blanks at the end of a line are all that some changes are about. */
function endTold(line: string): string {
  return line.replace(/ +(?=(?:⟨CR⟩)?$)/, ({ length }) => `⟨${length} ${length === 1 ? 'space' : 'spaces'}⟩`)
}
const signLooks = { '+': 'yes', '-': 'no', ' ': null } as const

function questionRows({ questions }: QuestionsAsk): readonly Row[] {
  return questions.flatMap((question, index) => [
    ...(index > 0 ? [blank] : []),
    ...(questions.length > 1 ? [row(trusted(`${index + 1}. `, 'strong'), untrusted(question.header, 'strong'))] : []),
    ...quoted(question.question),
    ...question.options.flatMap(({ label, description, preview }, at) => [
      indented(
        trusted(`${at + 1}  `, 'quiet'),
        untrusted(label, 'strong'),
        ...(description ? [trusted('  '), untrusted(description)] : []),
      ),
      ...(preview === undefined ? [] : quoted(preview)),
    ]),
    ...(question.options.length > 0 && question.multiSelect
      ? [indented(trusted('several may be chosen', 'quiet'))]
      : []),
    ...(question.allowOther
      ? [
          indented(
            trusted(question.options.length > 0 ? 'or an answer of your own' : 'an answer in your own words', 'quiet'),
          ),
        ]
      : []),
    ...(question.secret ? [indented(trusted('kept secret', 'quiet'))] : []),
    ...(questions.length > 1
      ? [
          indented(
            trusted('--choose ', 'quiet'),
            untrusted(nameOf(questions, question), 'quiet'),
            trusted('=…', 'quiet'),
          ),
        ]
      : []),
  ])
}

function formRows({ title, message, url, schema }: FormAsk): readonly Row[] {
  const required = new Set(schema.required)
  return [
    fact('Form', untrusted(title, 'strong')),
    ...(message === '' ? [] : quoted(message)),
    ...(url === undefined ? [] : [fact('Link', untrusted(url))]),
    ...Object.entries(schema.properties).flatMap(([name, field]) => [
      indented(
        untrusted(name, 'strong'),
        trusted('  '),
        untrusted(kindOf(field)),
        trusted(required.has(name) ? ', required' : ''),
        ...(field.title ? [trusted('  '), untrusted(field.title)] : []),
        ...(field.default === undefined
          ? []
          : [trusted('  default ', 'quiet'), untrusted(JSON.stringify(field.default), 'quiet')]),
      ),
      ...(field.description ? quoted(field.description) : []),
    ]),
  ]
}

function kindOf(field: FormField): string {
  const choices = fieldChoices(field)
  if (choices) {
    const of = choices.map(({ value, title }) => (value === title ? value : `${value} (${title})`)).join(', ')
    return `${field.type === 'array' ? 'some of' : 'one of'} ${of}`
  }
  if (field.type === 'boolean') return 'true or false'
  if (field.type === 'string') return field.format ?? 'text'
  return field.type === 'integer' ? 'a whole number' : 'a number'
}
