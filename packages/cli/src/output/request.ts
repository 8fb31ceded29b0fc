/** Formats a request in full: everything that would run, and what a person needs to know to answer. */
import {
  type AskView,
  actionLabel,
  agentDisconnectedLabels,
  CodeWarnings,
  changedFiles,
  commentsOf,
  deliveryLabel,
  editableJson,
  effectiveAsk,
  informativeTitle,
  resolutionText,
  resolutionTone,
  riskLevelLabels,
  ruleLabel,
  ruleScopeLabel,
  shortRiskLabel,
  shownRisk,
  splitDescription,
  suggestionScopeLabel,
  timeSince,
  touchesLabel,
  viewOf,
} from '@holdpoint/client'
import {
  type Answer,
  type ApprovalAsk,
  type Ask,
  type Comment,
  commentPlace,
  type FormAsk,
  type FormField,
  fieldChoices,
  type Json,
  type JsonObject,
  type QuestionsAsk,
  type Request,
  type Resolution,
  type Risk,
  type RiskLevel,
  type RuleDraft,
  type Session,
} from '@holdpoint/protocol'
import { changeRows } from './change-rows.ts'
import { questionName } from './question.ts'
import {
  blankRow,
  codeRows,
  indented,
  labelled,
  quotedRows,
  type Row,
  row,
  type Span,
  type Style,
  trusted,
  untrusted,
  untrustedCode,
  untrustedLine,
} from './span.ts'
import { watcherRows } from './watcher.ts'
import { widthOf } from './width.ts'

/** The data that `requestRows` needs besides the request. */
export interface RequestContext {
  readonly session: Session | null
  /** The gateway's time, epoch ms. */
  readonly now: number
  /** The name of the person who reads the output. */
  readonly me: string
}

export function requestRows(request: Request, context: RequestContext): readonly Row[] {
  const { ask, resolution } = request
  const risk = shownRisk(request)
  return [
    ...headRows(request, context),
    ...[...(risk ? [riskRow(risk)] : []), ...watcherRows(request), blankRow],
    ...askRows(ask),
    ...deadlineRows(request, context.now),
    labelled('Digest', trusted(request.digest, 'quiet')),
    ...(resolution
      ? [
          blankRow,
          row(
            trusted(resolutionText(resolution, context.me), resolutionStyle(resolution)),
            // A request that was withdrawn, or whose session has ended, has no answer to deliver.
            trusted(resolution.by === 'agent' ? '' : ` · ${deliveryLabel(request.delivery)}`),
          ),
          ...editedRows(ask, resolution),
          ...(resolution.answer ? answerRows(ask, resolution.answer) : []),
        ]
      : []),
  ]
}

/** Shows what ran instead of the agent's input, if a person or a rule changed it. */
function editedRows(ask: Ask, { effective, editedRisk }: Resolution): readonly Row[] {
  const ran = effectiveAsk(ask, effective?.input)
  if (ran.kind !== 'approval' || ask.kind !== 'approval') return []
  if (editableJson(ran.input, 0) === editableJson(ask.input, 0)) return []
  return [
    row(trusted('Allowed with this input instead:', 'waiting')),
    ...inputRows(ran, quotedRows),
    ...(editedRisk ? [riskRow(editedRisk, 'Edited risk')] : []),
  ]
}

/** Shows what an answer contains besides the yes or no: the note, what is remembered, the next mode, and the comments. */
export function answerRows(ask: Ask, answer: Answer): readonly Row[] {
  const comments = commentsOf(answer).flatMap((comment, index) => commentRows(ask, comment, index === 0))
  if (answer.kind !== 'allow') return comments
  const { note, suggestion, remember, mode } = answer
  const chosen = ask.kind === 'approval' && ask.suggestions?.find(({ id }) => id === suggestion)
  return [
    ...(note === undefined ? [] : [labelled('Note', untrustedLine(note))]),
    ...(chosen
      ? [labelled('Remembers', untrustedCode(chosen.label), trusted(' ('), scopeSpan(chosen.scope), trusted(')'))]
      : []),
    ...(remember
      ? [
          labelled('Adds a rule', trusted(ruleLabel(remember)), trusted(` ${ruleScopeLabel(remember)}`, 'quiet')),
          ...durationRows(remember),
        ]
      : []),
    ...(mode === undefined ? [] : [labelled('Next mode', untrustedCode(mode))]),
    ...comments,
  ]
}

/** Shows where a comment belongs, the quoted line and the comment. */
function commentRows(ask: Ask, comment: Comment, isFirst: boolean): readonly Row[] {
  return [
    labelled(isFirst ? 'Comments' : '', untrustedCode(commentPlace(ask, comment))),
    ...(comment.quote === '' ? [] : [labelled('', trusted('> ', 'quiet'), untrustedCode(comment.quote))]),
    ...comment.text.split('\n').map(line => labelled('', untrustedLine(line))),
  ]
}
function durationRows({ until, expiresAt }: RuleDraft): readonly Row[] {
  if (until !== undefined) return [labelled('Applies', trusted(`until this ${until} ends`))]
  return expiresAt === undefined ? [] : [labelled('Applies', trusted(`until ${new Date(expiresAt).toLocaleString()}`))]
}

const riskStyles: Readonly<Record<RiskLevel, Style>> = { low: 'quiet', notable: 'waiting', dangerous: 'no' }
const riskIcons: Readonly<Record<RiskLevel, string>> = { low: '○', notable: '△', dangerous: '▲' }
/** Returns the level of a risk in a word and a color, for lines that programs may read too. */
export function riskWordSpan({ level }: Risk): Span {
  return trusted(riskLevelLabels[level], riskStyles[level])
}
/** Returns the level of a risk with an icon, a word and a color. */
export function riskSpan({ level }: Risk): Span {
  return trusted(`${riskIcons[level]} ${riskLevelLabels[level]}`, riskStyles[level])
}
/** Returns a risk for a row of a list: what the action touches first, because the level would not tell one request from another, but a danger in one word. */
export function shortRiskSpan(risk: Risk): Span {
  const label = shortRiskLabel({ ...risk, touches: risk.touches.slice(0, 1) })
  return trusted(`${riskIcons[risk.level]} ${label}`, riskStyles[risk.level])
}
export function riskRow(risk: Risk, label = 'Risk'): Row {
  const touches = touchesLabel(risk)
  return labelled(label, riskSpan(risk), trusted(touches === '' ? '' : `: ${touches}`))
}

const toneStyles: Readonly<Record<ReturnType<typeof resolutionTone>, Style>> = {
  yes: 'yes',
  no: 'no',
  asked: 'strong',
  none: 'quiet',
}
export function resolutionStyle(resolution: NonNullable<Request['resolution']>): Style {
  return toneStyles[resolutionTone(resolution)]
}

function headRows({ id, ask, openedAt, status, agentPath }: Request, { session, now }: RequestContext): readonly Row[] {
  const state =
    status === 'pending' ? trusted(`pending · ${timeSince(openedAt, now)}`, 'waiting') : trusted('resolved', 'quiet')
  const path = agentPath.flatMap(name => [trusted(' › '), untrusted(name)])
  return [
    row(trusted(actionLabel(ask), 'strong'), trusted('  '), state, trusted(`  ${id}`, 'quiet')),
    ...(session
      ? [
          labelled(
            'Session',
            untrusted(session.title),
            trusted(' · '),
            untrustedCode(session.driver),
            trusted(' · '),
            untrustedCode(session.cwd),
          ),
        ]
      : []),
    ...(path.length > 0 ? [labelled('Agent', ...path.slice(1))] : []),
    ...(status === 'pending' && session?.state === 'disconnected'
      ? [row(trusted(agentDisconnectedLabels.long, 'waiting'))]
      : []),
  ]
}

function deadlineRows({ status, deadlineAt, onDeadline, overdue }: Request, now: number): readonly Row[] {
  if (status !== 'pending' || deadlineAt === null) return []
  if (overdue || deadlineAt <= now) return [labelled('Deadline', trusted('passed; still pending', 'waiting'))]
  const consequence =
    onDeadline === 'deny' ? 'then the agent is told that nobody answered' : 'then it stays pending, marked as overdue'
  return [
    labelled(
      'Deadline',
      trusted(`in ${timeSince(now, deadlineAt).replace('now', 'less than a minute')}; ${consequence}`),
    ),
  ]
}

/** Turns the text of a plan into rows. */
type PlanRenderer = (plan: string) => readonly Row[]

export function askRows(ask: Ask, renderPlan: PlanRenderer = quotedRows): readonly Row[] {
  switch (ask.kind) {
    case 'approval':
      return approvalRows(ask, renderPlan)
    case 'questions':
      return questionRows(ask)
    case 'form':
      return formRows(ask)
  }
}

/** Shows everything that would run, with warnings about its characters. */
function inputRows(ask: ApprovalAsk, renderPlan: PlanRenderer): readonly Row[] {
  const whole = viewOf(ask)
  const { view } = splitDescription(ask, whole)
  const rest = Object.keys(view.rest).length > 0 ? codeRows(formatInput(view.rest)) : []
  return [
    ...viewRows(view, renderPlan),
    ...(rest.length > 0 ? [row(trusted(view.kind === 'fields' ? 'Input' : 'Other parameters', 'quiet')), ...rest] : []),
    ...warningsOf(ask, whole).map(sentence => row(trusted(`⚠ ${sentence}`, 'waiting'))),
  ]
}

/** Shows what the agent says about its call. A title that only repeats the call is left out. */
function statementRows(ask: ApprovalAsk): readonly Row[] {
  const title = informativeTitle(ask)
  const { statements } = splitDescription(ask, viewOf(ask))
  const described = statements.filter(text => text !== title).flatMap(text => quotedRows(text))
  if (title !== null) return [labelled('Agent says', untrusted(title)), ...described]
  return described.length === 0 ? [] : [labelled('Agent says'), ...described]
}

function approvalRows(ask: ApprovalAsk, renderPlan: PlanRenderer): readonly Row[] {
  const { caution } = ask
  return [
    ...inputRows(ask, renderPlan),
    blankRow,
    labelled('Tool', untrustedCode(ask.tool)),
    labelled('Folder', untrustedCode(ask.cwd)),
    ...statementRows(ask),
    ...(caution?.reason === undefined ? [] : [labelled('Caution', untrustedLine(caution.reason, 'waiting'))]),
    ...(caution?.blockedPath === undefined
      ? []
      : [labelled('Permission', trusted('needed for '), untrustedCode(caution.blockedPath))]),
    ...(caution?.defaultToNo ? [labelled('Caution', trusted('flagged as dangerous', 'waiting'))] : []),
    ...suggestionsOf(ask).map(({ label, scope }, index) =>
      labelled(
        index === 0 ? 'Suggestions' : '',
        trusted(`${index + 1}  `),
        untrustedCode(label),
        trusted(' ('),
        scopeSpan(scope),
        trusted(')'),
      ),
    ),
    ...(ask.editable ? [] : [labelled('Editing', trusted('not possible: allow it as it is, or deny it'))]),
  ]
}

const inlineJsonMax = 60
/** Formats the input as JSON, on one line if it is short. */
export function formatInput(value: JsonObject): string {
  const line = editableJson(value, 0)
  return line.length <= inlineJsonMax ? line : editableJson(value)
}

/** Returns the “always allow” suggestions that a person may accept, or none if the agent forbids remembering the answer. */
export function suggestionsOf({ suggestions = [], caution }: ApprovalAsk): NonNullable<ApprovalAsk['suggestions']> {
  return caution?.noRemember ? [] : suggestions
}

/** Shows where a suggestion applies. The agent's program may know scopes that Holdpoint does not. */
export function scopeSpan(scope: string): Span {
  const label = suggestionScopeLabel(scope)
  return label === null ? untrustedCode(scope) : trusted(label)
}

/** Returns sentences about unusual characters in everything that the request would execute. */
function warningsOf({ tool, cwd, input, suggestions = [] }: ApprovalAsk, view: AskView): readonly string[] {
  const warnings = new CodeWarnings(view.kind === 'command' ? 'command' : 'code', 'escaped')
  for (const text of [tool, cwd, ...suggestions.map(({ label }) => label)]) warnings.add(text)
  addTexts(warnings, input)
  return warnings.sentences()
}

function addTexts(warnings: CodeWarnings, value: Json): void {
  if (typeof value === 'string') warnings.add(value)
  else if (value !== null && typeof value === 'object')
    for (const [name, item] of Object.entries(value)) {
      warnings.add(name)
      addTexts(warnings, item)
    }
}

function viewRows(view: AskView, renderPlan: PlanRenderer): readonly Row[] {
  switch (view.kind) {
    case 'command':
      return codeRows(view.command)
    case 'plan':
      return renderPlan(view.plan)
    case 'change':
    case 'changes':
      return changedFiles(view).flatMap(changeRows)
    case 'fields':
      return []
  }
}

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
      ...(preview === undefined ? [] : codeRows(preview)),
    ]),
    ...(question.options.length > 0 && question.multiSelect
      ? [indented(trusted('choose any that apply', 'quiet'))]
      : []),
    ...(question.allowOther
      ? [indented(trusted(question.options.length > 0 ? 'or your own answer' : 'answer in your own words', 'quiet'))]
      : []),
    ...(question.secret ? [indented(trusted('secret', 'quiet'))] : []),
    ...(questions.length > 1
      ? [
          indented(
            trusted(question.options.length > 0 ? '--choose ' : '--text ', 'quiet'),
            untrustedCode(questionName(questions, question), 'quiet'),
            trusted('=…', 'quiet'),
          ),
        ]
      : []),
  ])
}

const nameMax = 20

function formRows({ title, message, url, schema }: FormAsk): readonly Row[] {
  const required = new Set(schema.required)
  // Limit the width, so that one very long name does not move all other rows to the right.
  const width = Math.min(nameMax, Math.max(0, ...Object.keys(schema.properties).map(name => name.length)))
  return [
    labelled('Form', untrusted(title, 'strong')),
    ...(message === '' ? [] : quotedRows(message)),
    ...(url === undefined ? [] : [labelled('Link', untrustedCode(url))]),
    ...Object.entries(schema.properties).flatMap(([name, field]) => [
      indented(
        untrustedCode(name, 'strong'),
        trusted(' '.repeat(Math.max(2, width + 2 - widthOf(untrustedCode(name).text)))),
        untrustedCode(fieldType(field)),
        trusted(required.has(name) ? ', required' : ''),
        ...(field.title ? [trusted('  '), untrusted(field.title)] : []),
        ...(field.default === undefined
          ? []
          : [trusted('  default ', 'quiet'), untrustedCode(JSON.stringify(field.default), 'quiet')]),
      ),
      ...(field.description ? quotedRows(field.description) : []),
    ]),
  ]
}

function fieldType(field: FormField): string {
  const choices = fieldChoices(field)?.map(({ value, title }) => (value === title ? value : `${value} (${title})`))
  if (choices) return `${field.type === 'array' ? 'any of' : 'one of'} ${choices.join(', ')}`
  if (field.type === 'boolean') return 'true or false'
  if (field.type === 'string') return field.format ?? 'text'
  return field.type === 'integer' ? 'a whole number' : 'a number'
}
