/** The events of the log, the events that agents append, and the frames of the stream. State and event commit together (G2). */
import { z } from 'zod'
import { CommandId, Cursor, RequestId, RuleId, SessionId, TokenId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { AgentPath, Delivery, Request, Resolution } from './request.ts'
import { Rule } from './rule.ts'
import { AgentProcess, Command, CommandOutcome, Session } from './session.ts'

const block = z
  .string()
  .min(1)
  .max(limits.keyMax)
  .describe('The id of the block: one text or one tool call. A later event with the same id replaces a partial one.')
const agentPath = AgentPath.optional()
const text = z.string().max(limits.blockMaxBytes)

export const Usage = z
  .strictObject({
    inputTokens: z.int().optional().describe('Tokens that the model read.'),
    outputTokens: z.int().optional().describe('Tokens that the model wrote.'),
  })
  .describe('The tokens that a turn used.')

export const MessageAdded = z
  .strictObject({
    type: z.literal('message.added').describe('A text of the agent, or a message of a person.'),
    block,
    role: z.enum(['agent', 'person']).default('agent').describe('Who wrote the text.'),
    text: text.describe('The text.'),
    partial: z.boolean().optional().describe('Whether the text was cut off, for example by an interrupt.'),
    agentPath,
  })
  .describe('A message was added.')
export const ToolStarted = z
  .strictObject({
    type: z.literal('tool.started').describe('A tool call started.'),
    block,
    tool: z.string().min(1).max(limits.nameMax).describe('The name of the tool.'),
    title: z.string().max(limits.titleMax).optional().describe('What the call does, in a few words.'),
    input: JsonObject.describe('The input of the tool.'),
    agentPath,
  })
  .describe('A tool call started.')
export const ToolFinished = z
  .strictObject({
    type: z.literal('tool.finished').describe('A tool call finished.'),
    block,
    ok: z.boolean().describe('Whether the call succeeded.'),
    output: z.unknown().optional().describe('The output of the tool.'),
    agentPath,
  })
  .describe('A tool call finished.')
export const TurnFinished = z
  .strictObject({
    type: z.literal('turn.finished').describe('A turn of the agent finished.'),
    ending: z.enum(['done', 'interrupted', 'cancelled', 'failed']).describe('How the turn ended.'),
    usage: Usage.optional(),
    cost: z.number().min(0).optional().describe('The cost of the turn in US dollars.'),
  })
  .describe('A turn of the agent finished.')
export const ErrorRaised = z
  .strictObject({
    type: z.literal('error.raised').describe('Something went wrong on the agent’s side.'),
    message: z.string().min(1).max(limits.reasonMax).describe('What went wrong, for people.'),
    code: z.string().max(limits.nameMax).optional().describe('A code for programs.'),
  })
  .describe('Something went wrong on the agent’s side.')
export const Delta = z
  .strictObject({
    type: z.enum(['message.delta', 'tool.delta']).describe('A part of a text, or of the input of a tool call.'),
    block,
    offset: z.int().min(0).describe('The length of the text of this block that was sent before.'),
    text: text.min(1).describe('The new text.'),
    tool: z.string().max(limits.nameMax).optional().describe('The name of the tool.'),
    agentPath,
  })
  .describe('Text or tool input while it streams. Subscribers see it; Holdpoint does not store it.')
export type Delta = z.infer<typeof Delta>

const AgentChanged = z
  .strictObject({
    type: z.literal('session.changed').describe('Something about the agent changed.'),
    mode: z.string().min(1).max(limits.nameMax).optional().describe('The mode in force.'),
    model: z
      .string()
      .min(1)
      .max(limits.nameMax)
      .nullable()
      .optional()
      .describe('The chosen model; null if the agent chooses.'),
    conversationId: z
      .string()
      .min(1)
      .max(limits.nameMax)
      .optional()
      .describe('The agent’s own id of the conversation. Another session can continue it.'),
    process: AgentProcess.optional(),
    state: z
      .literal('working')
      .optional()
      .describe('The agent started to work without a message. `turn.finished` ends that.'),
  })
  .describe('Something about the agent changed. The log has it as `session.changed` with the whole session.')

export const AgentEvent = z
  .discriminatedUnion('type', [
    MessageAdded.extend({
      type: z.literal('message.added').describe('A text of the agent.'),
      role: z
        .literal('agent', 'must be agent: people send their messages themselves')
        .default('agent')
        .describe('Always "agent": people send messages as commands.'),
    }),
    ToolStarted,
    ToolFinished,
    TurnFinished,
    ErrorRaised,
    AgentChanged,
    Delta,
  ])
  .describe('An event that an agent may append.')
export type AgentEvent = z.input<typeof AgentEvent>

const deliveryChanged = { request: RequestId, delivery: Delivery }
const digest = z.string().describe('The digest of the request.')
const EventBody = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session.opened').describe('A session was started.'), value: Session }),
  z.object({ type: z.literal('session.changed').describe('Something about a session changed.'), value: Session }),
  z.object({ type: z.literal('session.ended').describe('A session ended.'), value: Session }),
  z.object({ type: z.literal('session.deleted').describe('A session was deleted with its history.') }),
  MessageAdded,
  ToolStarted,
  ToolFinished,
  TurnFinished,
  ErrorRaised,
  z.object({ type: z.literal('request.opened').describe('An agent asked.'), value: Request }),
  z.object({
    type: z.literal('request.overdue').describe('The deadline of a request passed; it stays pending.'),
    request: RequestId,
  }),
  z.object({
    type: z.literal('request.resolved').describe('A request was resolved.'),
    request: RequestId,
    digest,
    resolution: Resolution,
    delivery: Delivery,
  }),
  z.object({ type: z.literal('request.handed').describe('The answer was given to the agent.'), ...deliveryChanged }),
  z.object({ type: z.literal('request.taken').describe('The agent used the answer.'), ...deliveryChanged }),
  z.object({
    type: z.literal('request.unknown').describe('The agent was lost; it may have used the answer or not.'),
    ...deliveryChanged,
  }),
  z.object({
    type: z.literal('request.undeliverable').describe('There is no agent to take the answer.'),
    ...deliveryChanged,
  }),
  z.object({ type: z.literal('command.added').describe('A person sent a command.'), value: Command }),
  z.object({ type: z.literal('command.taken').describe('The runner started on a command.'), command: CommandId }),
  z.object({
    type: z.literal('command.done').describe('A command is finished.'),
    command: CommandId,
    outcome: CommandOutcome,
  }),
  z.object({ type: z.literal('rule.added').describe('A rule was added.'), value: Rule }),
  z.object({ type: z.literal('rule.changed').describe('A rule was changed. Not sent in this version.'), value: Rule }),
  z.object({ type: z.literal('rule.removed').describe('A rule was removed.'), rule: RuleId }),
  z.object({
    type: z.literal('token.added').describe('A token was created.'),
    token: TokenId,
    role: z.string().describe('Who the token is for.'),
    name: z.string().describe('The name of its owner.'),
  }),
  z.object({ type: z.literal('token.removed').describe('A token was revoked.'), token: TokenId }),
  z.object({
    type: z
      .literal('attempt.refused')
      .describe('Someone tried something without permission. Not sent in this version.'),
    what: z.string().describe('What was tried.'),
    code: z.string().describe('The fault code.'),
    by: z.string().describe('Who tried it.'),
  }),
  z.object({
    type: z
      .literal('purged')
      .describe(
        'The event belonged to a deleted session. Only its hashes are left, so that the hash chain still verifies.',
      ),
  }),
])
export type EventBody = z.infer<typeof EventBody>
export type EventType = EventBody['type']

export const Event = z
  .intersection(
    z.object({
      cursor: Cursor,
      at: z.int().describe('When the event was written, in epoch milliseconds.'),
      session: SessionId.nullable().describe('The session of the event; null if it concerns the gateway.'),
    }),
    EventBody,
  )
  .describe('One event of the log. The fields depend on its type.')
export type Event = { readonly cursor: Cursor; readonly at: number; readonly session: SessionId | null } & EventBody

export const StreamingBlock = z
  .object({
    session: SessionId,
    block: z.string().describe('The id of the block.'),
    type: z.enum(['message.delta', 'tool.delta']).describe('Whether it is a text or the input of a tool call.'),
    offset: z.int().describe('The length of the part that is missing at the beginning.'),
    text: z.string().describe('What has been streamed so far.'),
    tool: z.string().optional().describe('The name of the tool.'),
    agentPath,
  })
  .describe('A block that is being streamed.')
export type StreamingBlock = z.infer<typeof StreamingBlock>

export const Hello = z
  .object({
    cursor: Cursor.describe('The position at which the stream starts.'),
    epoch: z.string().describe('The lineage of the store. It changes when a backup is restored.'),
    now: z.int().describe('The gateway’s time in epoch milliseconds.'),
    resume: z
      .enum(['ok', 'gap'])
      .describe(
        '"ok": every missed event follows. "gap": too much was missed; discard what you have and use this snapshot.',
      ),
    sessions: z.array(Session).describe('With a gap: the first page of sessions.'),
    requests: z.array(Request).describe('With a gap: the first page of pending requests.'),
    pending: z.int().describe('The number of all pending requests.'),
    more: z.boolean().describe('Whether there are more sessions or requests than these. Read them with GET.'),
    blocks: z.array(StreamingBlock).describe('The blocks that are being streamed now.'),
  })
  .describe('The first frame of every stream. After it a client is up to date.')
export type Hello = z.infer<typeof Hello>

/** A frame of the stream. Only events have a cursor; Holdpoint does not store the others. */
export type Frame =
  | { readonly frame: 'hello'; readonly hello: Hello }
  | { readonly frame: 'event'; readonly event: Event }
  | { readonly frame: 'delta'; readonly delta: Delta & { readonly session: SessionId } }
  | { readonly frame: 'answering'; readonly request: RequestId; readonly person: string; readonly active: boolean }
