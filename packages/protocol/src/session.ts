/** Sessions, the commands that people send to them, and the runners and drivers that run their agents. */
import { z } from 'zod'
import { AttachmentId, CommandId, PersonId, RunnerId, SessionId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { OnDeadline } from './request.ts'

export const SessionState = z
  .enum(['starting', 'working', 'idle', 'parked', 'disconnected', 'ended'])
  .describe(
    '"starting": the session is waiting for a runner. "working": a turn is running. "idle": the agent is waiting for a message. "parked": the agent has no process, and an answer or a message starts it again. "disconnected": the agent runs outside Holdpoint and has not called for a while; its requests wait until it calls again. "ended": the session has ended.',
  )
export type SessionState = z.infer<typeof SessionState>

export const TurnEnding = z.enum(['done', 'interrupted', 'cancelled', 'failed']).describe('How a turn ended.')

export const Ending = z
  .object({
    reason: z
      .enum(['done', 'stopped', 'failed', 'lost'])
      .describe(
        '"done": the agent finished. "stopped": a person ended the session. "failed": an error ended the session. "lost": the agent’s process disappeared.',
      ),
    detail: z.string().optional().describe('A longer explanation for people.'),
  })
  .describe('Why a session ended.')
export type Ending = z.infer<typeof Ending>

export const Capability = z
  .enum([
    'approvals',
    'questions',
    'forms',
    'concurrentRequests',
    'denyAndContinue',
    'editInput',
    'note',
    'resumable',
    'portable',
    'parkable',
    'sharedTerminal',
    'checksEveryTool',
    'messages',
    'attachments',
    'interrupt',
  ])
  .describe(
    'What the agents of a driver can do. "approvals": ask whether they may do something. "questions": ask questions. "forms": show forms. "concurrentRequests": wait for several requests at once. "denyAndContinue": continue the turn after a denial; other agents end it. "editInput": run an edited input. "note": read the note of an allow. "resumable": continue after a restart. "portable": move to another runner. "parkable": be parked. "sharedTerminal": share the session with the agent’s own terminal program; `process.attach` has its command line. "checksEveryTool": check every tool call against the rules; for other agents, rules see only what the agent asks. "messages": receive messages. "attachments": receive attachments. "interrupt": be interrupted.',
  )
export type Capability = z.infer<typeof Capability>

export const AgentProcess = z
  .strictObject({
    state: z
      .enum(['live', 'parked', 'idle', 'done', 'stopped', 'lost'])
      .describe(
        '"live": the process is running. "parked": the process was stopped while a request is pending. "idle": the process was stopped because the agent had nothing to do. "done": the process exited after the agent finished. "stopped": a person or the runner ended the process. "lost": the process ended unexpectedly.',
      ),
    pid: z.int().min(1).optional().describe('The process id on the runner’s machine.'),
    memoryMb: z.int().min(0).optional().describe('The memory that the process uses, in MiB.'),
    note: z
      .string()
      .min(1)
      .max(limits.reasonMax)
      .optional()
      .describe('Why the process cannot be parked, or how the process ended.'),
    attach: z
      .string()
      .min(1)
      .max(limits.pathMax)
      .optional()
      .describe(
        'The command line that opens the conversation in the agent’s own terminal program. It works on the runner’s machine while the process is running.',
      ),
  })
  .describe('The agent’s own process, as the driver last reported it.')
export type AgentProcess = z.infer<typeof AgentProcess>

export const Repository = z
  .strictObject({
    root: z.string().min(1).max(limits.pathMax).describe('The folder of the repository or of its work tree.'),
    branch: z
      .string()
      .min(1)
      .max(limits.nameMax)
      .nullable()
      .describe('The branch that is checked out; null if a commit is checked out instead.'),
    commit: z
      .string()
      .min(1)
      .max(limits.nameMax)
      .nullable()
      .describe('The commit that is checked out; null if a branch is checked out.'),
  })
  .describe('The Git repository that contains the working folder, as the driver last reported it.')
export type Repository = z.infer<typeof Repository>

export const Session = z
  .object({
    id: SessionId,
    driver: z.string().describe('The driver that runs the agent, for example "claude".'),
    title: z.string().describe('The title that people see.'),
    cwd: z.string().describe('The working folder of the agent.'),
    mode: z.string().nullable().describe('The current mode; null if no mode was chosen.'),
    model: z.string().nullable().describe('The chosen model; null if the agent uses its default.'),
    state: SessionState,
    stateChangedAt: z.int().describe('When the state last changed, in epoch milliseconds.'),
    startedAt: z.int().describe('When the session was started, in epoch milliseconds.'),
    endedAt: z.int().nullable().describe('When the session ended, in epoch milliseconds; null if it has not ended.'),
    ending: Ending.nullable().describe('Why the session ended; null if it has not ended.'),
    pending: z.int().describe('The number of pending requests.'),
    cost: z.number().nullable().describe('The cost so far in US dollars; null if the agent does not report it.'),
    waitedMs: z
      .int()
      .optional()
      .describe(
        'How long the session has waited for people, in milliseconds: all past times in which at least one of its requests was pending. Missing in events that an older version stored.',
      ),
    waitingSince: z
      .int()
      .optional()
      .describe(
        'Since when at least one request of the session has been pending, in epoch milliseconds. Missing if none is.',
      ),
    lastMessage: z.string().describe('The beginning of the agent’s last message.'),
    lastMessageAt: z
      .int()
      .optional()
      .describe(
        'When the agent wrote its last message, in epoch milliseconds. Missing until it has written one, or if an older version stored the message.',
      ),
    lastTurn: z
      .object({
        ending: TurnEnding,
        problem: z.string().optional().describe('The beginning of the error that ended the turn.'),
        at: z
          .int()
          .optional()
          .describe('When the turn ended, in epoch milliseconds. Missing if an older version stored the turn.'),
      })
      .optional()
      .describe('How the last turn ended. Missing until a turn has ended.'),
    runner: RunnerId.nullable().describe(
      'The runner that drives the session or was the last to drive it; null if no runner has driven it yet.',
    ),
    capabilities: z.array(Capability).describe('What the agent of this session can do.'),
    conversationId: z
      .string()
      .nullable()
      .describe('The agent’s own id for the conversation. Another session can continue the conversation.'),
    deadlineMs: z
      .int()
      .nullable()
      .describe('How long people have to answer each request, in milliseconds; null if there is no deadline.'),
    onDeadline: OnDeadline,
    parkAfterMs: z
      .int()
      .nullable()
      .describe('How long the agent’s process may wait before it is parked, in milliseconds; null to never park it.'),
    options: JsonObject.describe('Options for the driver.'),
    process: AgentProcess.extend({
      changedAt: z.int().describe('When the driver reported this state, in epoch milliseconds.'),
    })
      .nullable()
      .describe('The agent’s own process, as the driver last reported it; null if the driver has reported none.'),
    repository: Repository.optional().describe(
      'The Git repository that contains the working folder. Missing if there is none, or the driver has not reported it.',
    ),
  })
  .describe('One conversation with one agent in one working folder.')
export type Session = z.infer<typeof Session>

export const attachmentFields = {
  type: z.enum(['image', 'document']).describe('The kind of file.'),
  mediaType: z.string().min(1).max(limits.nameMax).describe('The media type, for example "image/png".'),
  name: z.string().max(limits.nameMax).optional().describe('The file name.'),
}
/** A file with its content in base64, before it is sent in parts. */
export const AttachmentFile = z.strictObject({
  ...attachmentFields,
  data: z.base64().max(Math.ceil(limits.attachmentMaxBytes / 3) * 4),
})
export type AttachmentFile = z.infer<typeof AttachmentFile>
export const AttachmentPart = z
  .base64()
  .min(1)
  .max((limits.attachmentPartMaxBytes * 4) / 3, `is longer than ${limits.attachmentPartMaxBytes} bytes before encoding`)
  .describe(
    `A part of a file in base64. Every part but the last has ${limits.attachmentPartMaxBytes} bytes before encoding.`,
  )
export const Attachment = z
  .object({
    id: AttachmentId.optional().describe(
      'The id to read the content with. Missing if Holdpoint 0.1 stored the message.',
    ),
    ...attachmentFields,
    bytes: z.int().optional().describe('The size of the file. Missing if Holdpoint 0.1 stored the message.'),
    digest: z
      .string()
      .optional()
      .describe(
        'The SHA-256 of the SHA-256 digests of all parts, each in hex and followed by a line feed. Missing if Holdpoint 0.1 stored the message.',
      ),
    data: z.string().optional().describe('The content in base64. Present only if Holdpoint 0.1 stored the message.'),
  })
  .describe('A file that is sent with a message. `getAttachmentPart` returns its content.')
export type Attachment = z.infer<typeof Attachment>

export const CommandBody = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('message').describe('A message to the agent.'),
      text: z.string().describe('The text of the message.'),
      attachments: z.array(Attachment).optional().describe('Files that are attached to the message.'),
    }),
    z.object({ kind: z.literal('interrupt').describe('Stop the current turn.') }),
    z.object({
      kind: z.literal('mode').describe('Change how the agent runs.'),
      mode: z.string().optional().describe('The new mode.'),
      model: z.string().optional().describe('The new model.'),
      parkAfterMs: z
        .int()
        .nullable()
        .optional()
        .describe('The new time before the process is parked, in milliseconds; null to never park it.'),
    }),
    z.object({ kind: z.literal('end').describe('End the session.') }),
  ])
  .describe('What a person wants from a session.')
export type CommandBody = z.infer<typeof CommandBody>

export const CommandOutcome = z
  .object({
    ok: z.boolean().describe('Whether the command was carried out.'),
    reason: z.string().optional().describe('Why the command failed.'),
  })
  .describe('The result of a command.')
export type CommandOutcome = z.infer<typeof CommandOutcome>

export const Command = z
  .object({
    id: CommandId,
    session: SessionId,
    seq: z.int().describe('The sequence number of the command. Runners carry out commands in this order.'),
    body: CommandBody,
    madeBy: z.string().describe('The name of the person who sent the command.'),
    madeById: PersonId.optional().describe(
      'The id of the person who sent the command. Missing if an agent opened the session with a prompt, or if Holdpoint 0.1 stored the command.',
    ),
    madeAt: z.int().describe('When the command was sent, in epoch milliseconds.'),
    state: z
      .enum(['waiting', 'taken', 'done'])
      .describe(
        '"waiting": no runner has started the command. "taken": a runner is carrying out the command. "done": the command is finished.',
      ),
    outcome: CommandOutcome.nullable().describe('The result; null until the command is done.'),
  })
  .describe('A person’s command to a session. Holdpoint stores it until the runner has carried it out.')
export type Command = z.infer<typeof Command>

export const DriverInfo = z
  .object({
    name: z.string().min(1).max(limits.nameMax).describe('The name of the driver, for example "claude".'),
    title: z.string().max(limits.titleMax).describe('The name that people see.'),
    capabilities: z.array(Capability).describe('What the agents of this driver can do.'),
    modes: z
      .array(z.string().max(limits.nameMax))
      .max(limits.optionsMax)
      .describe('The modes in which the agents can run. Empty if the driver has no modes.'),
    ready: z.boolean().describe('Whether the driver can start a session now.'),
    installed: z
      .boolean()
      .optional()
      .describe(
        'False if the agent is not installed on the runner’s machine and no setting names it, which is not a problem.',
      ),
    missing: z
      .string()
      .max(limits.reasonMax)
      .optional()
      .describe('What is missing, not signed in or not tested, and what to do about it.'),
  })
  .describe('A driver, which is the adapter that runs one kind of agent.')
export type DriverInfo = z.infer<typeof DriverInfo>

/** The driver of agents that run outside Holdpoint and connect over the API. No runner offers this driver. */
export const externalInfo: DriverInfo = {
  name: 'external',
  title: 'External agent',
  capabilities: [
    'approvals',
    'questions',
    'forms',
    'concurrentRequests',
    'denyAndContinue',
    'editInput',
    'note',
    'messages',
    'interrupt',
  ],
  modes: [],
  ready: true,
}

export const Runner = z
  .object({
    id: RunnerId,
    incarnation: z.int().describe('How often this runner has been started. Leases from an earlier start are void.'),
    name: z.string().describe('The name of the runner, usually its machine.'),
    drivers: z.array(DriverInfo).describe('The drivers that the runner offers.'),
    startedAt: z.int().describe('When the runner was announced, in epoch milliseconds.'),
    expiresAt: z.int().describe('When the runner’s leases expire unless it renews them, in epoch milliseconds.'),
    live: z.boolean().describe('Whether the runner has renewed its leases in time.'),
  })
  .describe('A process that runs agents.')
export type Runner = z.infer<typeof Runner>
