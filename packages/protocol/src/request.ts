/** The schemas of requests, their resolutions and deliveries, and drafts. */
import { z } from 'zod'
import { Answer, QuestionAnswer } from './answer.ts'
import { textForAgent } from './answer-text.ts'
import { Ask } from './ask.ts'
import { PersonId, RequestId, RuleId, SessionId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { Risk } from './risk.ts'
import { WatcherRef } from './watcher-ref.ts'

export const Person = z
  .object({ id: PersonId, name: z.string().describe('The name of the person, for display only.') })
  .describe('A person.')
export type Person = z.infer<typeof Person>

export const OnDeadline = z
  .enum(['deny', 'wait'])
  .describe(
    'What happens at the deadline. "deny" resolves the request and tells the agent that nobody answered. "wait" keeps the request pending and marks it as overdue.',
  )
export type OnDeadline = z.infer<typeof OnDeadline>

export const deadlineFields = {
  deadlineMs: z
    .int()
    .min(limits.deadlineMinMs)
    .max(limits.deadlineMaxMs)
    .optional()
    .describe(
      'How long people have to answer, in milliseconds. Default: the value of the session, or else of the gateway. If neither has a value, there is no deadline.',
    ),
  onDeadline: OnDeadline.optional(),
}

export const AgentReason = z
  .enum(['withdrawn', 'interrupted', 'session_ended', 'lost'])
  .describe('Why the request no longer needs an answer.')
export type AgentReason = z.infer<typeof AgentReason>

export const Effective = z
  .object({
    input: JsonObject.optional().describe(
      'The input to run: the input of the ask, or the edited one. Present if an approval was allowed.',
    ),
    answers: z.array(QuestionAnswer).optional().describe('The answers. Present if questions were answered.'),
    values: JsonObject.optional().describe('The values. Present if a form was submitted.'),
  })
  .describe('What the agent may act on: the input, the answers or the values that count.')
export type Effective = z.infer<typeof Effective>

export const Resolution = z
  .object({
    at: z.int().describe('When the request was resolved, in epoch milliseconds.'),
    by: z
      .enum(['person', 'rule', 'deadline', 'agent'])
      .describe(
        'Who resolved the request. "agent" means that the request was withdrawn, or that its turn or session ended.',
      ),
    person: z.string().optional().describe('The name of the person who answered.'),
    personId: PersonId.optional().describe(
      'The id of the person who answered. Missing if Holdpoint 0.1 recorded the answer.',
    ),
    via: z.string().optional().describe('The client that the person used, such as "page", "cli" or "api".'),
    rule: RuleId.optional().describe('The id of the rule that answered.'),
    ruleVersion: z.int().optional().describe('The version of the rule that answered.'),
    moreRules: z
      .array(z.object({ rule: RuleId, ruleVersion: z.int().describe('The version of the rule.') }))
      .optional()
      .describe('The other rules, if several rules together allowed a command of several parts.'),
    watcher: WatcherRef.optional().describe(
      'The watcher that answered, if it was a watcher and not a rule. `by` is then "rule".',
    ),
    answer: Answer.optional().describe('The answer. Holdpoint masks secret values for everyone except the agent.'),
    editedDigest: z
      .string()
      .optional()
      .describe(
        'The digest of the edited input. Present only if a person edited the input, so that the agent runs something else than it asked for, or if a rule allowed a command in canonical quoting.',
      ),
    effective: Effective.optional().describe(
      'What the agent may act on. Missing if the request was denied, declined or not answered, and in events that Holdpoint 0.1 stored.',
    ),
    agentText: z
      .string()
      .optional()
      .describe(
        'The text that the agent reads with the answer. Present if the person commented on lines or asked back; otherwise the agent reads the reason or the note as it is. Events do not contain this field.',
      ),
    editedRisk: Risk.optional().describe(
      'What the edited input touches and how dangerous it can be. Present only if a person edited the input.',
    ),
    reason: z.string().optional().describe('Why the request was resolved without an answer, for example "withdrawn".'),
  })
  .describe('How a request was resolved.')
export type Resolution = z.infer<typeof Resolution>

/** Returns the resolution with `effective` and `agentText`. Stored requests and events of older versions lack these fields, so everything that returns a resolution calls this function. */
export function withEffective(ask: Ask, resolution: Resolution): Resolution {
  const { answer } = resolution
  const effective = effectiveOf(ask, answer)
  const agentText = answer ? textForAgent(ask, answer) : null
  const full: Resolution = withoutComputed(resolution)
  if (effective) full.effective = effective
  if (agentText !== null) full.agentText = agentText
  return full
}

/** Copies a resolution without the fields that \`withEffective\` adds. A loop is several times as fast as a copy of the rest of a destructured object, and every step of a request needs this copy. */
function withoutComputed(resolution: Resolution): Resolution {
  const copy: Record<string, unknown> = {}
  for (const name in resolution)
    if (name !== 'effective' && name !== 'agentText') copy[name] = resolution[name as keyof Resolution] // the names are keys of the resolution
  return copy as Resolution // the fields that are left out are optional
}

function effectiveOf(ask: Ask, answer: Answer | undefined): Effective | null {
  switch (answer?.kind) {
    case 'allow':
      return ask.kind === 'approval' ? { input: answer.input ?? ask.input } : null
    case 'answers':
      return { answers: answer.answers }
    case 'submit':
      return { values: answer.values }
    default:
      return null
  }
}

export const DeliveryState = z
  .enum(['waiting', 'handed', 'taken', 'unknown', 'undeliverable'])
  .describe(
    'Whether the resolution has reached the agent. "waiting": the agent has not received the resolution yet. "handed": the resolution was given to the agent. "taken": the agent’s own output proves that the resolution arrived. "unknown": the agent was lost after "handed" and before "taken". "undeliverable": the agent no longer exists.',
  )
export type DeliveryState = z.infer<typeof DeliveryState>
export const Delivery = z
  .object({
    state: DeliveryState,
    at: z.int().describe('When the delivery reached this state, in epoch milliseconds.'),
    reason: z.string().optional().describe('Why the delivery failed.'),
  })
  .describe('Whether a resolution has reached the agent.')
export type Delivery = z.infer<typeof Delivery>

export const AgentPath = z
  .array(z.string().min(1).max(limits.nameMax))
  .max(limits.agentPathMax)
  .describe('The names of the subagents, from the main agent down to the subagent that acts. Empty for the main agent.')
export const RequestKey = z
  .string()
  .min(1)
  .max(limits.keyMax)
  .describe(
    'The agent’s own id for the ask. Opening a request with the same key and ask again returns the existing request.',
  )

/** The keys of the gateway's own requests begin with this prefix. Such requests need no delivery to the agent, and agents cannot use such keys. */
export const watchKeyPrefix = 'watch:'
/** Returns whether a request comes from the gateway itself. The agent knows nothing of such a request. */
export function isGatewayRequest({ key }: { readonly key: string }): boolean {
  return key.startsWith(watchKeyPrefix)
}

export const Request = z
  .object({
    id: RequestId,
    session: SessionId,
    key: z.string().describe('The agent’s own id for the ask, unique in the session.'),
    agentPath: AgentPath,
    ask: Ask,
    digest: z
      .string()
      .describe('The SHA-256 of the parts of the ask that decide what runs. An answer must contain this digest.'),
    risk: Risk.optional().describe(
      'What an approval touches. Missing for questions and forms, and if an older version stored the request.',
    ),
    openedAt: z.int().describe('When the request was opened, in epoch milliseconds.'),
    deadlineAt: z.int().nullable().describe('The deadline in epoch milliseconds; null if there is no deadline.'),
    onDeadline: OnDeadline,
    overdue: z.boolean().describe('Whether the deadline has passed and the request is still pending.'),
    status: z.enum(['pending', 'resolved']).describe('Whether the request is still waiting for an answer.'),
    needs: z.int().describe('How many people must agree. Always 1 in this version.'),
    endorsements: z
      .array(
        z.object({
          person: z.string().describe('The name of the person.'),
          at: z.int().describe('When the person agreed, in epoch milliseconds.'),
        }),
      )
      .describe('The people who have agreed so far. Always empty in this version.'),
    disconnectedAt: z
      .int()
      .optional()
      .describe(
        'Since when the agent is disconnected, in epoch milliseconds, so that an answer has to wait for it. Only in replies of `getRequest` and `listRequests`, for pending requests. The event stream reports it as a change of the session.',
      ),
    follows: RequestId.optional().describe(
      'The request of the same agent to which a person asked back. This request is the next one that the agent opened.',
    ),
    watcher: WatcherRef.extend({ text: z.string().describe('Why the watcher asks.') })
      .optional()
      .describe('The watcher that made the gateway ask people. Missing if there is none.'),
    resolution: Resolution.nullable().describe('How the request was resolved; null while the request is pending.'),
    delivery: Delivery,
  })
  .describe('One question of an agent to people.')
export type Request = z.infer<typeof Request>

export const Draft = z
  .object({
    request: RequestId,
    person: z.string().describe('The name of the person who is writing the answer.'),
    personId: PersonId.describe('The id of the person who is writing the answer.'),
    draft: z.unknown().describe('The unfinished answer, in the format of the client that stored it.'),
    at: z.int().describe('When the draft was stored, in epoch milliseconds.'),
  })
  .describe('A person’s unfinished answer to a request.')
export type Draft = z.infer<typeof Draft>
