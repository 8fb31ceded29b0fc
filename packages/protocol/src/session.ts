/** Sessions, what people want of them (commands), and who drives them (runners and their drivers). */
import { z } from 'zod'
import { CommandId, RunnerId, SessionId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { OnDeadline } from './request.ts'

export const SessionState = z.enum(['starting', 'working', 'idle', 'parked', 'ended'])
export type SessionState = z.infer<typeof SessionState>

export const Ending = z.object({ reason: z.enum(['done', 'stopped', 'failed', 'lost']), detail: z.string().optional() })
export type Ending = z.infer<typeof Ending>

/** What an agent of a driver can do; surfaces show it, the gateway decides by it. */
export const Capability = z.enum([
  'resumable',
  'portable',
  'parkable',
  'checksEveryTool',
  'messages',
  'attachments',
  'interrupt',
])
export type Capability = z.infer<typeof Capability>

/** The agent's process, where it has one of its own, as its driver last saw it. */
export const AgentProcess = z.strictObject({
  /** It lives; or it was let go while a request waits (`parked`), while nothing was asked of it (`idle`), once it had done what it was brought back for (`done`); a person or the runner ended it (`stopped`); it ended by itself, or with its runner (`lost`). */
  state: z.enum(['live', 'parked', 'idle', 'done', 'stopped', 'lost']),
  pid: z.int().min(1).optional(),
  memoryMb: z.int().min(0).optional(),
  /** Of one that lives: why it is kept although it only waits. Of one that is gone: how it ended. */
  note: z.string().min(1).max(limits.reasonMax).optional(),
})
export type AgentProcess = z.infer<typeof AgentProcess>

export const Session = z.object({
  id: SessionId,
  driver: z.string(),
  title: z.string(),
  cwd: z.string(),
  mode: z.string().nullable(),
  model: z.string().nullable(),
  state: SessionState,
  stateChangedAt: z.int(),
  startedAt: z.int(),
  endedAt: z.int().nullable(),
  ending: Ending.nullable(),
  pending: z.int(),
  cost: z.number().nullable(),
  lastMessage: z.string(),
  runner: RunnerId.nullable(),
  capabilities: z.array(Capability),
  conversationId: z.string().nullable(),
  deadlineMs: z.int().nullable(),
  onDeadline: OnDeadline,
  parkAfterMs: z.int().nullable(),
  options: JsonObject,
  process: AgentProcess.extend({ changedAt: z.int() }).nullable(),
})
export type Session = z.infer<typeof Session>

export const Attachment = z.strictObject({
  type: z.enum(['image', 'document']),
  mediaType: z.string().min(1).max(limits.nameMax),
  data: z.base64().max(Math.ceil((limits.attachmentMaxBytes * 4) / 3) + 4, 'is larger than 5 MiB'),
  name: z.string().max(limits.nameMax).optional(),
})
export type Attachment = z.infer<typeof Attachment>

export const CommandBody = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), text: z.string(), attachments: z.array(Attachment).optional() }),
  z.object({ kind: z.literal('interrupt') }),
  z.object({
    kind: z.literal('mode'),
    mode: z.string().optional(),
    model: z.string().optional(),
    parkAfterMs: z.int().nullable().optional(),
  }),
  z.object({ kind: z.literal('end') }),
])
export type CommandBody = z.infer<typeof CommandBody>

export const CommandOutcome = z.object({ ok: z.boolean(), reason: z.string().optional() })
export type CommandOutcome = z.infer<typeof CommandOutcome>

export const Command = z.object({
  id: CommandId,
  session: SessionId,
  seq: z.int(),
  body: CommandBody,
  madeBy: z.string(),
  madeAt: z.int(),
  state: z.enum(['waiting', 'taken', 'done']),
  outcome: CommandOutcome.nullable(),
})
export type Command = z.infer<typeof Command>

export const DriverInfo = z.object({
  name: z.string().min(1).max(limits.nameMax),
  title: z.string().max(limits.titleMax),
  capabilities: z.array(Capability),
  modes: z.array(z.string().max(limits.nameMax)).max(limits.optionsMax),
  ready: z.boolean(),
  /** Where it is not ready: what is missing and what to do. */
  missing: z.string().max(limits.reasonMax).optional(),
})
export type DriverInfo = z.infer<typeof DriverInfo>

/** The driver of agents that run outside Holdpoint and connect over the API. No runner offers it. */
export const externalInfo: DriverInfo = {
  name: 'external',
  title: 'External agent',
  capabilities: ['messages', 'interrupt'],
  modes: [],
  ready: true,
}

export const Runner = z.object({
  id: RunnerId,
  /** Counts the starts of this runner; a lower one is a predecessor whose leases are void. */
  incarnation: z.int(),
  name: z.string(),
  drivers: z.array(DriverInfo),
  startedAt: z.int(),
  expiresAt: z.int(),
  live: z.boolean(),
})
export type Runner = z.infer<typeof Runner>
