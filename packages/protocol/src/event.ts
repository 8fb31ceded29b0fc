/** The lines of the log, what agents may say, and the frames of the stream. State and event commit together (G2). */
import { z } from 'zod'
import { CommandId, Cursor, RequestId, RuleId, SessionId, TokenId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { AgentPath, Delivery, Request, Resolution } from './request.ts'
import { Rule } from './rule.ts'
import { AgentProcess, Command, CommandOutcome, Session } from './session.ts'

const block = z.string().min(1).max(limits.keyMax)
const path = AgentPath.optional()
const text = z.string().max(limits.blockMaxBytes)

export const Usage = z.strictObject({ inputTokens: z.int().optional(), outputTokens: z.int().optional() })

/** A block is text or a tool call under one id. A later `added` of the same block replaces an earlier, partial one. */
export const MessageAdded = z.strictObject({
  type: z.literal('message.added'),
  block,
  role: z.enum(['agent', 'person']).default('agent'),
  text,
  partial: z.boolean().optional(),
  agentPath: path,
})
export const ToolStarted = z.strictObject({
  type: z.literal('tool.started'),
  block,
  tool: z.string().min(1).max(limits.nameMax),
  title: z.string().max(limits.titleMax).optional(),
  input: JsonObject,
  agentPath: path,
})
export const ToolFinished = z.strictObject({
  type: z.literal('tool.finished'),
  block,
  ok: z.boolean(),
  output: z.unknown().optional(),
  agentPath: path,
})
export const TurnFinished = z.strictObject({
  type: z.literal('turn.finished'),
  ending: z.enum(['done', 'interrupted', 'cancelled', 'failed']),
  usage: Usage.optional(),
  cost: z.number().min(0).optional(),
})
export const ErrorRaised = z.strictObject({
  type: z.literal('error.raised'),
  message: z.string().min(1).max(limits.reasonMax),
  code: z.string().max(limits.nameMax).optional(),
})
/** Text or tool input as it streams: shown, never kept. `offset` is how much of the block came before. */
export const Delta = z.strictObject({
  type: z.enum(['message.delta', 'tool.delta']),
  block,
  offset: z.int().min(0),
  text: text.min(1),
  tool: z.string().max(limits.nameMax).optional(),
  agentPath: path,
})
export type Delta = z.infer<typeof Delta>

/** What has changed about the agent itself: the log shows it as `session.changed`, with the session as it is then. */
const AgentChanged = z.strictObject({
  type: z.literal('session.changed'),
  /** The mode in force. */
  mode: z.string().min(1).max(limits.nameMax).optional(),
  /** The model that was chosen for it; null where it chooses itself. */
  model: z.string().min(1).max(limits.nameMax).nullable().optional(),
  /** The agent's own id of the conversation, by which another session can go on with it. */
  conversationId: z.string().min(1).max(limits.nameMax).optional(),
  process: AgentProcess.optional(),
  /** It has begun to work without a message; `turn.finished` ends that. */
  state: z.literal('working').optional(),
})

/** What an agent may say: its own words, and what has become of it. People's words are commands, which only people send. */
export const AgentEvent = z.discriminatedUnion('type', [
  MessageAdded.extend({
    role: z.literal('agent', 'must be agent: what people say comes from them, as messages').default('agent'),
  }),
  ToolStarted,
  ToolFinished,
  TurnFinished,
  ErrorRaised,
  AgentChanged,
  Delta,
])
export type AgentEvent = z.input<typeof AgentEvent>

const requestMoved = { request: RequestId, delivery: Delivery }
const EventBody = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session.opened'), value: Session }),
  z.object({ type: z.literal('session.changed'), value: Session }),
  z.object({ type: z.literal('session.ended'), value: Session }),
  z.object({ type: z.literal('session.deleted') }),
  MessageAdded,
  ToolStarted,
  ToolFinished,
  TurnFinished,
  ErrorRaised,
  z.object({ type: z.literal('request.opened'), value: Request }),
  z.object({ type: z.literal('request.overdue'), request: RequestId }),
  z.object({
    type: z.literal('request.resolved'),
    request: RequestId,
    digest: z.string(),
    resolution: Resolution,
    delivery: Delivery,
  }),
  z.object({ type: z.literal('request.handed'), ...requestMoved }),
  z.object({ type: z.literal('request.taken'), ...requestMoved }),
  z.object({ type: z.literal('request.unknown'), ...requestMoved }),
  z.object({ type: z.literal('request.undeliverable'), ...requestMoved }),
  z.object({ type: z.literal('command.added'), value: Command }),
  z.object({ type: z.literal('command.taken'), command: CommandId }),
  z.object({ type: z.literal('command.done'), command: CommandId, outcome: CommandOutcome }),
  z.object({ type: z.literal('rule.added'), value: Rule }),
  z.object({ type: z.literal('rule.changed'), value: Rule }),
  z.object({ type: z.literal('rule.removed'), rule: RuleId }),
  z.object({ type: z.literal('token.added'), token: TokenId, role: z.string(), name: z.string() }),
  z.object({ type: z.literal('token.removed'), token: TokenId }),
  z.object({ type: z.literal('attempt.refused'), what: z.string(), code: z.string(), by: z.string() }),
  /** The body is gone (a deleted session); the row and its hashes stay, so that the chain still verifies. */
  z.object({ type: z.literal('purged') }),
])
export type EventBody = z.infer<typeof EventBody>
export type EventType = EventBody['type']

export const Event = z.intersection(z.object({ cursor: Cursor, at: z.int(), session: SessionId.nullable() }), EventBody)
export type Event = { readonly cursor: Cursor; readonly at: number; readonly session: SessionId | null } & EventBody

/** A block under way: what has streamed of it so far. */
export const StreamingBlock = z.object({
  session: SessionId,
  block: z.string(),
  type: z.enum(['message.delta', 'tool.delta']),
  offset: z.int(),
  text: z.string(),
  tool: z.string().optional(),
  agentPath: path,
})
export type StreamingBlock = z.infer<typeof StreamingBlock>

/** The first frame of every stream: after it a client is right, whatever it had missed. */
export const Hello = z.object({
  cursor: Cursor,
  epoch: z.string(),
  now: z.int(),
  resume: z.enum(['ok', 'gap']),
  /** Only with a gap: the first page of what there is; `more` says that the rest is to be had by GET. */
  sessions: z.array(Session),
  requests: z.array(Request),
  pending: z.int(),
  more: z.boolean(),
  blocks: z.array(StreamingBlock),
})
export type Hello = z.infer<typeof Hello>

/** Frames of the stream. Only events have a cursor; the others are of the moment. */
export type Frame =
  | { readonly frame: 'hello'; readonly hello: Hello }
  | { readonly frame: 'event'; readonly event: Event }
  | { readonly frame: 'delta'; readonly delta: Delta & { readonly session: SessionId } }
  | { readonly frame: 'answering'; readonly request: RequestId; readonly person: string; readonly active: boolean }
