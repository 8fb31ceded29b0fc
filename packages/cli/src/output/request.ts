/** A request as lines: everything that will run, all of it, and beside it what people need to know to answer. */
import {
  type AskView,
  actionLabel,
  deliveryLabel,
  diffLines,
  editableJson,
  hasEscapes,
  lineEndingsLabel,
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
import { shortName } from './question.ts'
import {
  blankRow,
  indented,
  labelled,
  quotedRow,
  quotedRows,
  type Row,
  row,
  type Style,
  trusted,
  untrusted,
} from './span.ts'

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
    blankRow,
    ...askRows(ask),
    ...deadlineRows(request, around.now),
    labelled('Digest', trusted(request.digest, 'quiet')),
    ...(resolution
      ? [
          blankRow,
          row(
            trusted(resolutionLabel(resolution, around.me), resolutionStyle(resolution)),
            // A request that its agent cancelled has no answer to deliver.
            trusted(resolution.by === 'agent' ? '' : ` · ${deliveryLabel(request.delivery)}`),
          ),
        ]
      : []),
  ]
}

const toneStyles: Readonly<Record<ReturnType<typeof resolutionTone>, Style>> = { yes: 'yes', no: 'no', none: 'quiet' }
export function resolutionStyle(resolution: NonNullable<Request['resolution']>): Style {
  return toneStyles[resolutionTone(resolution)]
}

function headRows({ id, ask, openedAt, status, agentPath }: Request, { session, now }: RequestContext): readonly Row[] {
  const state =
    status === 'pending' ? trusted(`waits · ${timeSince(openedAt, now)}`, 'waiting') : trusted('resolved', 'quiet')
  const path = agentPath.flatMap(name => [trusted(' › '), untrusted(name)])
  return [
    row(trusted(actionLabel(ask), 'strong'), trusted('  '), state, trusted(`  ${id}`, 'quiet')),
    ...(session
      ? [
          labelled(
            'Session',
            untrusted(session.title),
            trusted(' · '),
            untrusted(session.driver),
            trusted(' · '),
            untrusted(session.cwd),
          ),
        ]
      : []),
    ...(path.length > 0 ? [labelled('Agent', ...path.slice(1))] : []),
  ]
}

function deadlineRows({ status, deadlineAt, onDeadline, overdue }: Request, now: number): readonly Row[] {
  if (status !== 'pending' || deadlineAt === null) return []
  if (overdue || deadlineAt <= now) return [labelled('Deadline', trusted('passed; it still waits', 'waiting'))]
  const silence = onDeadline === 'deny' ? 'then the agent is told that nobody answered' : 'then it waits on, as overdue'
  return [
    labelled('Deadline', trusted(`in ${timeSince(now, deadlineAt).replace('now', 'less than a minute')}; ${silence}`)),
  ]
}

/** How a plan is told; as it is written where nobody says otherwise. */
type PlanRenderer = (plan: string) => readonly Row[]

export function askRows(ask: Ask, tellPlan: PlanRenderer = quotedRows): readonly Row[] {
  switch (ask.kind) {
    case 'approval':
      return approvalRows(ask, tellPlan)
    case 'questions':
      return questionRows(ask)
    case 'form':
      return formRows(ask)
  }
}

function approvalRows(ask: ApprovalAsk, tellPlan: PlanRenderer): readonly Row[] {
  const { title, description, caution } = ask
  const picture = viewOf(ask)
  const rest = Object.keys(picture.rest).length > 0 ? quotedRows(formatInput(picture.rest)) : []
  return [
    ...viewRows(picture, tellPlan),
    ...(rest.length > 0
      ? [row(trusted(picture.kind === 'fields' ? 'Input' : 'Also in the input', 'quiet')), ...rest]
      : []),
    ...(hasHiddenText(ask.input)
      ? [row(trusted('It holds characters that cannot be seen; they are spelt out as \\u…', 'waiting'))]
      : []),
    blankRow,
    labelled('Tool', untrusted(ask.tool)),
    labelled('Folder', untrusted(ask.cwd)),
    labelled('Agent says', untrusted(title)),
    ...(description === undefined ? [] : quotedRows(description)),
    ...(caution?.reason === undefined ? [] : [labelled('Caution', untrusted(caution.reason, 'waiting'))]),
    ...(caution?.blockedPath === undefined ? [] : [labelled('Blocked', untrusted(caution.blockedPath))]),
    ...(caution?.defaultToNo
      ? [labelled('Caution', trusted('the agent’s own program marks this as dangerous', 'waiting'))]
      : []),
    ...suggestionsOf(ask).map(({ label, scope }, index) =>
      labelled(
        index === 0 ? 'Offers' : '',
        trusted(`${index + 1}  `),
        untrusted(label),
        trusted(' ('),
        untrusted(scope),
        trusted(')'),
      ),
    ),
    ...(ask.editable ? [] : [labelled('Editing', trusted('not possible: this runs as it is, or not at all'))]),
  ]
}

const inlineJsonMax = 60
/** In one line where it is short. */
function formatInput(value: JsonObject): string {
  const line = editableJson(value, 0)
  return line.length <= inlineJsonMax ? line : editableJson(value)
}

/** What the agent's own program would remember, if a person says so; nothing where it must not. */
export function suggestionsOf({ suggestions = [], caution }: ApprovalAsk): NonNullable<ApprovalAsk['suggestions']> {
  return caution?.noRemember ? [] : suggestions
}

function hasHiddenText(value: Json): boolean {
  if (typeof value === 'string') return hasEscapes(value, { multiline: true })
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([name, item]) => hasEscapes(name) || hasHiddenText(item))
}

function viewRows(picture: AskView, tellPlan: PlanRenderer): readonly Row[] {
  switch (picture.kind) {
    case 'command':
      return quotedRows(picture.command)
    case 'plan':
      return tellPlan(picture.plan)
    case 'change':
      return changeRows(picture)
    case 'fields':
      return []
  }
}

function changeRows({ path, edits, isNew }: Extract<AskView, { kind: 'change' }>): readonly Row[] {
  const { diffs, lineEndings } = diffLines(edits)
  const about = lineEndingsLabel(lineEndings)
  return [
    row(trusted(isNew ? 'The whole of ' : 'In '), untrusted(path), trusted(about && ` · ${about}`, 'quiet')),
    ...diffs.flatMap((rows, index) => [
      ...(index > 0 ? [row(trusted('  ⋮', 'quiet'))] : []),
      ...rows.map(({ sign, text }) =>
        quotedRow(sign === ' ' ? text : markTrailingSpaces(text), signStyles[sign], `${sign} `),
      ),
    ]),
  ]
}
/** Blanks at the end of a line are all that some changes are about. */
function markTrailingSpaces(line: string): string {
  return line.replace(/ +(?=(?:⟨CR⟩)?$)/, ({ length }) => `⟨${length} ${length === 1 ? 'space' : 'spaces'}⟩`)
}
const signStyles = { '+': 'yes', '-': 'no', ' ': null } as const

function questionRows({ questions }: QuestionsAsk): readonly Row[] {
  return questions.flatMap((question, index) => [
    ...(index > 0 ? [blankRow] : []),
    ...(questions.length > 1 ? [row(trusted(`${index + 1}. `, 'strong'), untrusted(question.header, 'strong'))] : []),
    ...quotedRows(question.question),
    ...question.options.flatMap(({ label, description, preview }, at) => [
      indented(
        trusted(`${at + 1}  `, 'quiet'),
        untrusted(label, 'strong'),
        ...(description ? [trusted('  '), untrusted(description)] : []),
      ),
      ...(preview === undefined ? [] : quotedRows(preview)),
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
            untrusted(shortName(questions, question), 'quiet'),
            trusted('=…', 'quiet'),
          ),
        ]
      : []),
  ])
}

function formRows({ title, message, url, schema }: FormAsk): readonly Row[] {
  const required = new Set(schema.required)
  return [
    labelled('Form', untrusted(title, 'strong')),
    ...(message === '' ? [] : quotedRows(message)),
    ...(url === undefined ? [] : [labelled('Link', untrusted(url))]),
    ...Object.entries(schema.properties).flatMap(([name, field]) => [
      indented(
        untrusted(name, 'strong'),
        trusted('  '),
        untrusted(fieldType(field)),
        trusted(required.has(name) ? ', required' : ''),
        ...(field.title ? [trusted('  '), untrusted(field.title)] : []),
        ...(field.default === undefined
          ? []
          : [trusted('  default ', 'quiet'), untrusted(JSON.stringify(field.default), 'quiet')]),
      ),
      ...(field.description ? quotedRows(field.description) : []),
    ]),
  ]
}

function fieldType(field: FormField): string {
  const choices = fieldChoices(field)
  if (choices) {
    const of = choices.map(({ value, title }) => (value === title ? value : `${value} (${title})`)).join(', ')
    return `${field.type === 'array' ? 'some of' : 'one of'} ${of}`
  }
  if (field.type === 'boolean') return 'true or false'
  if (field.type === 'string') return field.format ?? 'text'
  return field.type === 'integer' ? 'a whole number' : 'a number'
}
