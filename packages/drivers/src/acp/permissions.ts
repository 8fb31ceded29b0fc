/** Permissions that an agent asks for. The agent names its options; Holdpoint chooses among them by their kind, because the ids differ between agents. */
import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { type ApprovalAsk, type Ask, limits, type QuestionsAsk } from '@holdpoint/protocol'
import { z } from 'zod'
import type { Decision } from '../session/decisions.ts'
import { acpCalls } from './messages.ts'
import type { AcpProfile } from './profiles.ts'
import { type DescribedCall, type KnownCall, statementsOf } from './tool-calls.ts'

type Options = RequestPermissionRequest['options']
const onlyPermanent = { defaultToNo: true, noRemember: true, permanent: true }
const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

/** Qwen sends questions as a permission with this extra field. It expects the answers beside the outcome, in a field that the protocol does not define. */
const QwenQuestions = z.array(
  z.object({
    question: z.string(),
    header: z.string().optional(),
    options: z.array(z.object({ label: z.string(), description: z.string().optional() })).optional(),
    multiSelect: z.boolean().optional(),
  }),
)

export function permissionAsk(
  call: KnownCall,
  described: DescribedCall,
  options: Options,
  profile: AcpProfile,
  cwd: string,
): Ask {
  const questions = QwenQuestions.safeParse(call._meta?.qwenQuestions)
  if (questions.success && questions.data.length > 0) return questionsAsk(questions.data)
  const { tool, title, input, action } = described
  const description = statementsOf(call.content).join('\n').slice(0, limits.reasonMax).toWellFormed()
  const isOnce = options.some(({ kind }) => kind === 'allow_once')
  const suggestions = isOnce ? suggestionsFrom(options) : []
  const ask: ApprovalAsk = {
    ...{ kind: 'approval', tool, input, action, title },
    ...(description === '' ? {} : { description }),
    cwd: 'shell' in action ? action.cwd : cwd,
    editable: false,
    ...(suggestions.length > 0 ? { suggestions } : {}),
    ...(isOnce ? {} : { caution: { ...onlyPermanent, reason: acpCalls.alwaysOnly(profile.title) } }),
  }
  return ask
}

/** An agent writes its own settings if a person accepts such an option, so only the owner may accept it. */
function suggestionsFrom(options: Options): { id: string; label: string; scope: string }[] {
  return options
    .filter(({ kind, name }) => kind === 'allow_always' && name.length <= limits.labelMax)
    .slice(0, limits.suggestionsMax)
    .map(({ optionId, name }) => ({ id: optionId, label: name, scope: 'userSettings' }))
}

function questionsAsk(questions: z.infer<typeof QwenQuestions>): QuestionsAsk {
  return {
    kind: 'questions',
    questions: questions.map(({ question, header = '', options = [], multiSelect = false }, index) => ({
      id: String(index),
      header: header.slice(0, limits.titleMax).toWellFormed(),
      question,
      options: options.map(({ label, description }) => ({ label, ...(description ? { description } : {}) })),
      multiSelect,
      allowOther: true,
      secret: false,
    })),
  }
}

/** `decision` is null if the turn is being interrupted. */
export function permissionReply(decision: Decision | null, options: Options): RequestPermissionResponse {
  if (!decision) return cancelled
  const { answer } = decision
  if (answer === null) return select(optionOf(options, 'reject_once', 'reject_always'))
  if (answer.kind === 'answers') {
    const answers = answer.answers.map(({ id, chosen, other }) => [
      id,
      [...chosen, ...(other === undefined ? [] : [other])].join(', '),
    ])
    return {
      ...select(optionOf(options, 'allow_once')),
      answers: Object.fromEntries(answers),
    } as RequestPermissionResponse // qwen reads the answers here
  }
  const suggested = answer.kind === 'allow' ? options.find(({ optionId }) => optionId === answer.suggestion) : undefined
  return select(suggested ?? optionOf(options, 'allow_once', 'allow_always'))
}

function optionOf(options: Options, ...kinds: readonly PermissionOption['kind'][]): PermissionOption | undefined {
  return kinds.map(kind => options.find(option => option.kind === kind)).find(option => option !== undefined)
}
function select(option: PermissionOption | undefined): RequestPermissionResponse {
  return option ? { outcome: { outcome: 'selected', optionId: option.optionId } } : cancelled
}
