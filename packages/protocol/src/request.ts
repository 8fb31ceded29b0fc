/** A request: one ask of one session, pending until it is resolved, once; and what became of the resolution on the agent's side. */
import { z } from 'zod'
import { Answer } from './answer.ts'
import { Ask } from './ask.ts'
import { RequestId, RuleId, SessionId } from './ids.ts'
import { limits } from './limits.ts'

export const OnDeadline = z.enum(['deny', 'wait'])
export type OnDeadline = z.infer<typeof OnDeadline>

export const deadlineFields = {
  deadlineMs: z.int().min(limits.deadlineMinMs).max(limits.deadlineMaxMs).optional(),
  onDeadline: OnDeadline.optional(),
}

/** Why the agent's side ended a request: a closed list. */
export const AgentReason = z.enum(['withdrawn', 'interrupted', 'session_ended', 'lost'])
export type AgentReason = z.infer<typeof AgentReason>

export const Resolution = z.object({
  at: z.int(),
  by: z.enum(['person', 'rule', 'deadline', 'agent']),
  person: z.string().optional(),
  via: z.string().optional(),
  rule: RuleId.optional(),
  answer: Answer.optional(),
  /** The digest of the input that a person edited: what runs is not what was asked, and the record says so (G7). */
  editedDigest: z.string().optional(),
  reason: z.string().optional(),
})
export type Resolution = z.infer<typeof Resolution>

export const DeliveryState = z.enum(['waiting', 'handed', 'taken', 'unknown', 'undeliverable'])
export type DeliveryState = z.infer<typeof DeliveryState>
export const Delivery = z.object({ state: DeliveryState, at: z.int(), reason: z.string().optional() })
export type Delivery = z.infer<typeof Delivery>

export const AgentPath = z.array(z.string().min(1).max(limits.nameMax)).max(limits.agentPathMax)
export const RequestKey = z.string().min(1).max(limits.keyMax)

export const Request = z.object({
  id: RequestId,
  session: SessionId,
  key: z.string(),
  agentPath: AgentPath,
  ask: Ask,
  digest: z.string(),
  openedAt: z.int(),
  deadlineAt: z.int().nullable(),
  onDeadline: OnDeadline,
  overdue: z.boolean(),
  status: z.enum(['pending', 'resolved']),
  needs: z.int(),
  endorsements: z.array(z.object({ person: z.string(), at: z.int() })),
  resolution: Resolution.nullable(),
  delivery: Delivery,
})
export type Request = z.infer<typeof Request>

export const Draft = z.object({ request: RequestId, person: z.string(), draft: z.unknown(), at: z.int() })
export type Draft = z.infer<typeof Draft>
