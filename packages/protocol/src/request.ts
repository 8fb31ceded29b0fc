/** A request: one ask of one session, pending until it is resolved once; and what happened to its resolution on the agent's side. */
import { z } from 'zod'
import { Answer } from './answer.ts'
import { Ask } from './ask.ts'
import { RequestId, RuleId, SessionId } from './ids.ts'
import { limits } from './limits.ts'

export const OnDeadline = z
  .enum(['deny', 'wait'])
  .describe(
    'What happens at the deadline. "deny" resolves the request and tells the agent that nobody answered; "wait" keeps it pending and marks it overdue.',
  )
export type OnDeadline = z.infer<typeof OnDeadline>

export const deadlineFields = {
  deadlineMs: z
    .int()
    .min(limits.deadlineMinMs)
    .max(limits.deadlineMaxMs)
    .optional()
    .describe(
      'Time for an answer in milliseconds. Default: the value of the session, then of the gateway; without any, there is no deadline.',
    ),
  onDeadline: OnDeadline.optional(),
}

export const AgentReason = z
  .enum(['withdrawn', 'interrupted', 'session_ended', 'lost'])
  .describe('Why the agent’s side ended a request.')
export type AgentReason = z.infer<typeof AgentReason>

export const Resolution = z
  .object({
    at: z.int().describe('When the request was resolved, in epoch milliseconds.'),
    by: z
      .enum(['person', 'rule', 'deadline', 'agent'])
      .describe('Who resolved it. "agent" means that it was withdrawn or its session ended.'),
    person: z.string().optional().describe('The name of the person who answered.'),
    via: z.string().optional().describe('The client that the person used, such as "web", "cli" or "api".'),
    rule: RuleId.optional().describe('The rule that answered.'),
    answer: Answer.optional().describe('The answer. Secret values are masked for everyone but the agent.'),
    editedDigest: z
      .string()
      .optional()
      .describe(
        'The digest of the input that a person edited. It shows that what runs differs from what the agent asked for.',
      ),
    reason: z.string().optional().describe('Why the agent’s side ended the request, for example "withdrawn".'),
  })
  .describe('How a request ended.')
export type Resolution = z.infer<typeof Resolution>

export const DeliveryState = z
  .enum(['waiting', 'handed', 'taken', 'unknown', 'undeliverable'])
  .describe(
    'Where the resolution is. "waiting": not handed over yet. "handed": given to the agent. "taken": the agent’s own result shows that it arrived. "unknown": the agent was lost in between. "undeliverable": there is no agent to take it.',
  )
export type DeliveryState = z.infer<typeof DeliveryState>
export const Delivery = z
  .object({
    state: DeliveryState,
    at: z.int().describe('When this state began, in epoch milliseconds.'),
    reason: z.string().optional().describe('Why the delivery failed.'),
  })
  .describe('What happened to a resolution on the agent’s side.')
export type Delivery = z.infer<typeof Delivery>

export const AgentPath = z
  .array(z.string().min(1).max(limits.nameMax))
  .max(limits.agentPathMax)
  .describe('The names of the subagents from the main agent down to the one that acts; empty for the main agent.')
export const RequestKey = z
  .string()
  .min(1)
  .max(limits.keyMax)
  .describe('The agent’s own id of the ask. The same key with the same ask returns the existing request.')

export const Request = z
  .object({
    id: RequestId,
    session: SessionId,
    key: z.string().describe('The agent’s own id of the ask, unique in its session.'),
    agentPath: AgentPath,
    ask: Ask,
    digest: z.string().describe('SHA-256 of what would run. An answer must repeat it.'),
    openedAt: z.int().describe('When the request was opened, in epoch milliseconds.'),
    deadlineAt: z.int().nullable().describe('The deadline in epoch milliseconds; null without one.'),
    onDeadline: OnDeadline,
    overdue: z.boolean().describe('Whether the deadline has passed while the request waits for an answer.'),
    status: z.enum(['pending', 'resolved']).describe('Whether the request still waits for an answer.'),
    needs: z.int().describe('How many people must agree. Always 1 in this version.'),
    endorsements: z
      .array(
        z.object({
          person: z.string().describe('The name of the person.'),
          at: z.int().describe('When the person agreed, in epoch milliseconds.'),
        }),
      )
      .describe('The people who have agreed so far. Always empty in this version.'),
    resolution: Resolution.nullable().describe('How the request ended; null while it is pending.'),
    delivery: Delivery,
  })
  .describe('One question of an agent to people.')
export type Request = z.infer<typeof Request>

export const Draft = z
  .object({
    request: RequestId,
    person: z.string().describe('The name of the person who writes.'),
    draft: z.unknown().describe('The unfinished answer, in the form that the client stored.'),
    at: z.int().describe('When it was stored, in epoch milliseconds.'),
  })
  .describe('A person’s unfinished answer to a request.')
export type Draft = z.infer<typeof Draft>
