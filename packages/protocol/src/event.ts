/** The schemas of events, of the events that agents may append, and of the frames of the event stream. */
import { z } from 'zod'
import { Action } from './action.ts'
import { AnswerKind } from './answer.ts'
import { CommandId, Cursor, PersonId, RequestId, RuleId, SessionId, TokenId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { AgentPath, Delivery, Person, Request, Resolution } from './request.ts'
import { Rule } from './rule.ts'
import { AgentProcess, Command, CommandOutcome, Repository, Session, TurnEnding } from './session.ts'
import { VariableChanged, WatchFired } from './watcher-events.ts'

const block = z
  .string()
  .min(1)
  .max(limits.keyMax)
  .describe(
    'The id of the block, which is one text or one tool call. A later event with the same id replaces a partial block.',
  )
const agentPath = AgentPath.optional()
const text = z.string().max(limits.blockMaxBytes)

export const Usage = z
  .strictObject({
    inputTokens: z.int().min(0).optional().describe('The number of tokens that the model read.'),
    outputTokens: z.int().min(0).optional().describe('The number of tokens that the model wrote.'),
  })
  .describe('The tokens that a turn used.')

export const MessageAdded = z
  .strictObject({
    type: z.literal('message.added').describe('The agent or a person wrote a message.'),
    block,
    role: z.enum(['agent', 'person']).default('agent').describe('Who wrote the text.'),
    text: text.describe('The text of the message.'),
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
    action: Action.optional().describe('What the call does, as in an approval.'),
    agentPath,
  })
  .describe('A tool call started.')
export const ToolFinished = z
  .strictObject({
    type: z.literal('tool.finished').describe('A tool call finished.'),
    block,
    ok: z.boolean().describe('Whether the call succeeded.'),
    output: z.unknown().optional().describe('The output of the tool.'),
    exitCode: z.int().optional().describe('The exit code of a shell command, if the agent reports it.'),
    agentPath,
  })
  .describe('A tool call finished.')
export const TurnFinished = z
  .strictObject({
    type: z.literal('turn.finished').describe('A turn of the agent finished.'),
    ending: TurnEnding,
    usage: Usage.optional(),
    cost: z.number().min(0).optional().describe('The cost of the turn in US dollars.'),
  })
  .describe('A turn of the agent finished.')
export const ErrorRaised = z
  .strictObject({
    type: z.literal('error.raised').describe('The agent or its driver reported an error.'),
    message: z.string().min(1).max(limits.reasonMax).describe('The error message, for people.'),
    code: z.string().max(limits.nameMax).optional().describe('The error code, for programs.'),
  })
  .describe('The agent or its driver reported an error.')
export const Delta = z
  .strictObject({
    type: z
      .enum(['message.delta', 'tool.delta'])
      .describe('Whether the text belongs to a message or to the input of a tool call.'),
    block,
    offset: z.int().min(0).describe('The length of the text that was already sent for this block.'),
    text: text.min(1).describe('The new text.'),
    tool: z.string().max(limits.nameMax).optional().describe('The name of the tool.'),
    agentPath,
  })
  .describe(
    'New text of a message or tool input that is being streamed. Subscribers receive deltas; Holdpoint does not store them.',
  )
export type Delta = z.infer<typeof Delta>

const AgentChanged = z
  .strictObject({
    type: z
      .literal('session.changed')
      .describe('The agent’s mode, model, conversation or process changed, or the agent started to work.'),
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
    repository: Repository.optional(),
    turnUsage: Usage.extend({
      cost: z.number().min(0).optional().describe('The cost in US dollars. Missing if it is not known yet.'),
    })
      .optional()
      .describe(
        'What the running turn has used so far. Watchers count it until `turn.finished` says what the whole turn has used.',
      ),
    state: z
      .literal('working')
      .optional()
      .describe('Reports that the agent started a turn by itself, without a message. `turn.finished` ends the turn.'),
  })
  .describe(
    'The agent’s mode, model, conversation, process or branch changed. The log stores a `session.changed` event with the whole session.',
  )

export const StoredAgentEvent = z
  .discriminatedUnion('type', [
    MessageAdded.extend({
      type: z.literal('message.added').describe('The agent wrote a message.'),
      role: z
        .literal('agent', 'must be agent, because people send their messages with sendMessage')
        .default('agent')
        .describe('Always "agent". People send their messages with `sendMessage`.'),
    }),
    ToolStarted,
    ToolFinished,
    TurnFinished,
    ErrorRaised,
    AgentChanged,
  ])
  .describe('An event of an agent that is stored.')
export type StoredAgentEvent = z.input<typeof StoredAgentEvent>

export const AgentEvent = z
  .discriminatedUnion('type', [...StoredAgentEvent.options, Delta])
  .describe('An event that an agent may append.')
export type AgentEvent = z.input<typeof AgentEvent>

/** The part of a decision that the log keeps after its session was deleted. */
export const KeptDecision = z
  .object({
    request: RequestId,
    digest: z.string().describe('The digest of the request.'),
    ...Resolution.pick({
      at: true,
      by: true,
      person: true,
      personId: true,
      via: true,
      rule: true,
      watcher: true,
      editedDigest: true,
      editedRisk: true,
    }).shape,
    answer: AnswerKind.optional().describe('The kind of the answer.'),
  })
  .describe('A decision of a deleted session: who decided what and when, without the content.')
export type KeptDecision = z.infer<typeof KeptDecision>

const SessionDeleted = z.object({
  type: z.literal('session.deleted').describe('A session and its history were deleted.'),
  by: z
    .enum(['person', 'retention'])
    .optional()
    .describe('Whether a person deleted the session, or the gateway because its retention time was over.'),
  person: z.string().optional().describe('The name of the person who deleted the session.'),
  personId: PersonId.optional().describe('The id of the person who deleted the session.'),
  via: z.string().optional().describe('The client that the person used.'),
  first: z.int().optional().describe('The first position in the log from which events of this session were removed.'),
  last: z.int().optional().describe('The last position in the log from which events of this session were removed.'),
  decisions: z
    .array(KeptDecision)
    .optional()
    .describe('The decisions of the session. If there are many, several of these events follow each other.'),
})
const fenceStep = z
  .int()
  .optional()
  .describe('By how much the fences of all sessions were raised, because later fences may be lost.')
const StoreRestored = z.object({
  type: z.literal('store.restored').describe('The store was replaced with a backup.'),
  seq: z.int().describe('The last position of the log in the backup.'),
  lostEvents: z
    .int()
    .nullable()
    .describe('How many later events of the previous store were lost; null if the previous store could not be read.'),
  tokens: z.int().describe('How many credentials were revoked.'),
  unknown: z.int().describe('How many answers became unknown, because the agent may have used them since the backup.'),
  fenceStep,
})
const StoreLost = z.object({
  type: z.literal('store.lost').describe('The store had lost events, and the owner started the gateway anyway.'),
  lastSeq: z.int().describe('The last position of the log that the gateway had noted.'),
  lastAt: z.int().describe('When the event at that position was written, in epoch milliseconds.'),
  seq: z.int().describe('The last position of the log that was found.'),
  tokens: z.int().describe('How many credentials were revoked.'),
  unknown: z.int().describe('How many answers became unknown, because the agent may have used them.'),
  fenceStep,
})

const deliveryChanged = { request: RequestId, delivery: Delivery }
const digest = z.string().describe('The digest of the request.')
const EventBody = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('session.opened').describe('A session was started.'),
    value: Session,
    fence: z.int().optional().describe('The first fence.'),
    agent: z.string().nullable().optional().describe('The credential of the agent of an external session, or null.'),
    openedBy: Person.nullable().optional().describe('The person who opened an external session, or null.'),
  }),
  z.object({
    type: z.literal('session.changed').describe('The state, title, mode, model or another field of a session changed.'),
    value: Session,
    fence: z.int().optional().describe('The new fence. Present only if the agent attached to the session.'),
  }),
  z.object({ type: z.literal('session.ended').describe('A session ended.'), value: Session }),
  SessionDeleted,
  MessageAdded,
  ToolStarted,
  ToolFinished,
  TurnFinished,
  ErrorRaised,
  z.object({ type: z.literal('request.opened').describe('An agent opened a request.'), value: Request }),
  z.object({
    type: z.literal('request.overdue').describe('The deadline of a request passed, and the request stays pending.'),
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
    type: z.literal('request.unknown').describe('The agent was lost, and nobody knows whether it used the answer.'),
    ...deliveryChanged,
  }),
  z.object({
    type: z
      .literal('request.undeliverable')
      .describe('The answer cannot be delivered because the agent no longer exists.'),
    ...deliveryChanged,
  }),
  z.object({ type: z.literal('command.added').describe('A person sent a command.'), value: Command }),
  z.object({
    type: z.literal('command.taken').describe('The runner started to carry out a command.'),
    command: CommandId,
  }),
  z.object({
    type: z.literal('command.done').describe('A command was finished.'),
    command: CommandId,
    outcome: CommandOutcome,
  }),
  z.object({ type: z.literal('rule.added').describe('A rule was added.'), value: Rule }),
  z.object({ type: z.literal('rule.changed').describe('A rule was changed.'), value: Rule }),
  z.object({ type: z.literal('rule.removed').describe('A rule was removed.'), rule: RuleId }),
  WatchFired,
  VariableChanged,
  z.object({
    type: z.literal('token.added').describe('A token was created.'),
    token: TokenId,
    role: z.string().describe('Who the token is for.'),
    name: z.string().describe('The name of the person or program that uses the token.'),
    personId: PersonId.optional().describe('The id of the person whom the token belongs to.'),
    by: TokenId.optional().describe('The token that created this one. Missing for the tokens in the data folder.'),
    kind: z.enum(['bearer', 'cookie', 'link']).optional().describe('Whether this is a token, a cookie or a link.'),
    rowDigest: z.string().optional().describe('The SHA-256 of the stored token, to find out whether it was changed.'),
  }),
  z.object({
    type: z.literal('token.removed').describe('A token was revoked or has expired, or a browser signed out.'),
    token: TokenId,
    by: TokenId.optional().describe(
      'The token that revoked this one. Missing if this token expired, or if the token in the data folder was replaced.',
    ),
  }),
  z.object({
    type: z
      .literal('token.exposed')
      .describe('An agent sent one of Holdpoint’s credentials. The credential was masked, but the agent has it.'),
    token: TokenId.optional().describe('The id of the token. Missing if no token of this gateway matches.'),
    role: z.string().optional().describe('Who the token is for.'),
    name: z.string().optional().describe('The name of the person or program that uses the token.'),
    in: SessionId.nullable().describe('The session in which the credential appeared; null if it is not known.'),
    operation: z.string().describe('The operation in whose input the credential appeared.'),
    by: z.string().describe('The name of the caller.'),
  }),
  z.object({
    type: z
      .literal('attempt.refused')
      .describe(
        'A caller tried what its credential may not do, used a revoked credential, or sent too many wrong tokens or codes.',
      ),
    what: z.string().describe('The operation that was attempted.'),
    code: z.string().describe('The fault code.'),
    by: z.string().describe('The name of the caller; the address if the caller has no credential.'),
    role: z.string().optional().describe('The role of the caller. Missing if the caller has no credential.'),
    token: z.string().optional().describe('The id of the caller’s token. Missing if the caller has no credential.'),
    via: z.string().optional().describe('How the call reached the gateway: "page", "cli" or "api".'),
    request: RequestId.optional().describe('The request that the caller tried to answer.'),
    omitted: z
      .int()
      .optional()
      .describe('How many further attempts of this caller in the last minute have no entry of their own.'),
  }),
  z.object({
    type: z.literal('clock.jumped').describe('The clock of the gateway’s machine, or of its database, was changed.'),
    ms: z.int().describe('By how many milliseconds; negative if the clock was set back.'),
  }),
  StoreRestored,
  StoreLost,
  z.object({
    type: z
      .literal('purged')
      .describe(
        'This event belonged to a deleted session. Holdpoint keeps only the hashes of the event, so that the hash chain can still be verified.',
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
      session: SessionId.nullable().describe('The session of the event; null for an event that belongs to no session.'),
    }),
    EventBody,
  )
  .describe('One event of the log. The other fields depend on `type`.')
export type Event = { readonly cursor: Cursor; readonly at: number; readonly session: SessionId | null } & EventBody

export const StreamingBlock = z
  .object({
    session: SessionId,
    block: z.string().describe('The id of the block.'),
    type: z
      .enum(['message.delta', 'tool.delta'])
      .describe('Whether the block is a message or the input of a tool call.'),
    offset: z.int().describe('The length of the missing part at the beginning of the block.'),
    text: z.string().describe('The text so far, without the missing part.'),
    tool: z.string().optional().describe('The name of the tool.'),
    agentPath,
  })
  .describe('A block that is being streamed.')
export type StreamingBlock = z.infer<typeof StreamingBlock>

export const Hello = z
  .object({
    cursor: Cursor.describe('The position at which the stream starts.'),
    epoch: z.string().describe('The epoch of the store. Restoring a backup changes the epoch.'),
    now: z.int().describe('The gateway’s time in epoch milliseconds.'),
    resume: z
      .enum(['ok', 'gap'])
      .describe(
        '"ok": all missed events follow. "gap": the client missed too many events and must replace its state with this snapshot.',
      ),
    sessions: z.array(Session).describe('After a gap, the first page of sessions; otherwise empty.'),
    requests: z.array(Request).describe('After a gap, the first page of pending requests; otherwise empty.'),
    pending: z.int().describe('The number of all pending requests.'),
    more: z
      .boolean()
      .describe('Whether more sessions or pending requests exist. Read them with `listSessions` and `listRequests`.'),
    blocks: z.array(StreamingBlock).describe('The blocks that are being streamed now.'),
  })
  .describe('The first frame of every event stream. It brings the client up to date.')
export type Hello = z.infer<typeof Hello>

/** Tells clients that a person has started or stopped writing an answer. */
export interface Answering {
  readonly frame: 'answering'
  readonly request: RequestId
  readonly person: string
  readonly personId: PersonId
  readonly active: boolean
}

/** A frame of the event stream. Holdpoint stores only the events, not the other frames. */
export type Frame =
  | { readonly frame: 'hello'; readonly hello: Hello }
  | { readonly frame: 'event'; readonly event: Event }
  | { readonly frame: 'delta'; readonly delta: Delta & { readonly session: SessionId } }
  | Answering
