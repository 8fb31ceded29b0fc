/** The operations for people: sessions, requests, answers and drafts. */
import { z } from 'zod'
import { Answer } from './answer.ts'
import { Event } from './event.ts'
import { FaultBody } from './fault.ts'
import { AttachmentId, RequestId, RunnerId, SessionId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import {
  afterXorBefore,
  emptyObject,
  limitParam,
  logPageParams,
  noInput,
  type Operation,
  pageOf,
  waitParam,
} from './operation.ts'
import { Draft, deadlineFields, Person, Request } from './request.ts'
import { Risk } from './risk.ts'
import {
  Attachment,
  AttachmentPart,
  attachmentFields,
  Capability,
  Command,
  DriverInfo,
  Session,
  SessionState,
} from './session.ts'
import { Variable, VariableName, VariableValue, Watcher } from './watcher.ts'

const sessionFields = {
  mode: z
    .string()
    .min(1)
    .max(limits.nameMax)
    .optional()
    .describe('The mode of the agent. `listDrivers` shows the modes of each driver.'),
  model: z.string().min(1).max(limits.nameMax).optional().describe('The model that the agent should use.'),
  title: z.string().min(1).max(limits.titleMax).optional().describe('The title that people see.'),
  parkAfterMs: z
    .int()
    .min(0)
    .max(limits.deadlineMaxMs)
    .nullable()
    .optional()
    .describe('How long the agent’s process may wait before it is parked, in milliseconds; null to never park it.'),
}
const messageText = z.string().max(limits.textMax)
const StoredAttachment = Attachment.omit({ data: true })
  .required({ id: true, bytes: true, digest: true })
  .describe('The file as it is stored so far.')
const answerFields = {
  digest: z
    .string()
    .max(limits.keyMax)
    .describe('The digest of the request as you read it. The digest proves that your answer is for what you saw.'),
  answer: Answer,
}
const BatchItem = z.strictObject({ id: RequestId, ...answerFields }).describe('An answer to one of several requests.')
export const BatchResult = z
  .object({
    id: RequestId,
    status: z.int().describe('The HTTP status that a single answer would have had.'),
    request: Request.optional().describe(
      'The request, if the answer was accepted. Missing once the reply has several mebibytes; then read it with `getRequest`.',
    ),
    error: FaultBody.shape.error.optional().describe('The error, if the answer was not accepted.'),
  })
  .describe('The result for one of several answers.')
export const AvailableDriver = DriverInfo.extend({
  runner: RunnerId.nullable().describe('The runner that offers the driver; null for the driver "external".'),
}).describe('A driver and the runner that offers it.')

export const peopleOps = {
  listDrivers: {
    method: 'GET',
    path: '/drivers',
    summary: 'List the drivers that can run agents, and the runners that offer them.',
    input: noInput,
    output: pageOf(AvailableDriver),
  },
  checkFolder: {
    method: 'POST',
    path: '/folders/check',
    summary: 'Check whether a session can start in a folder of a runner’s machine.',
    input: z.strictObject({
      runner: RunnerId.describe('The runner that would run the agent. `listDrivers` shows the runner of each driver.'),
      path: z.string().min(1).max(limits.pathMax).describe('The absolute path of the folder.'),
    }),
    output: z.object({
      state: z
        .enum(['folder', 'missing', 'other', 'relative', 'denied', 'unknown'])
        .describe(
          '"folder": the folder exists. "missing": nothing exists there. "other": something else exists there, such as a file. "relative": this is not an absolute path. "denied": the gateway may not look there. "unknown": the runner is on another machine.',
        ),
    }),
  },
  startSession: {
    method: 'POST',
    path: '/sessions',
    status: 201,
    summary: 'Start a session.',
    faults: ['no_runner', 'unsupported'],
    input: z.strictObject({
      driver: z
        .string()
        .min(1)
        .max(limits.nameMax)
        .describe('The driver, for example "claude". Use "external" for an agent that runs outside Holdpoint.'),
      cwd: z
        .string()
        .min(1)
        .max(limits.pathMax)
        .optional()
        .describe('The working folder on the runner’s machine. Default: the default folder of the gateway.'),
      prompt: messageText
        .min(1)
        .optional()
        .describe('The first message to the agent. To attach files, leave this out and use `sendMessage`.'),
      conversationId: z
        .string()
        .min(1)
        .max(limits.nameMax)
        .optional()
        .describe('The agent’s own id of an existing conversation that this session should continue.'),
      options: JsonObject.optional().describe('Options for the driver.'),
      capabilities: z
        .array(Capability)
        .optional()
        .describe(
          'What the agent of this session can do, with the driver "external": some of the capabilities of that driver, and "checksEveryTool" if the agent has each of its calls checked. Default: all capabilities of the driver.',
        ),
      ...sessionFields,
      ...deadlineFields,
    }),
    output: Session,
  },
  listSessions: {
    method: 'GET',
    path: '/sessions',
    summary: 'List sessions, newest first.',
    faults: ['not_found'],
    input: z.strictObject({
      state: SessionState.optional().describe('Only sessions in this state.'),
      q: z
        .string()
        .max(limits.nameMax)
        .optional()
        .describe('Only sessions whose title, folder or driver contains this text.'),
      limit: limitParam,
      before: SessionId.optional().describe(
        'Only sessions that are older than this session. Pass the `next` of the previous page.',
      ),
    }),
    output: pageOf(Session),
  },
  getSession: {
    method: 'GET',
    path: '/sessions/:id',
    summary: 'Get a session.',
    faults: ['not_found'],
    input: z.strictObject({ id: SessionId }),
    output: Session,
  },
  patchSession: {
    method: 'PATCH',
    path: '/sessions/:id',
    summary: 'Change the title, mode or model of a session, or the time before it is parked.',
    faults: ['not_found', 'session_ended', 'unsupported'],
    input: z.strictObject({ id: SessionId, ...sessionFields }),
    output: Session,
  },
  sendMessage: {
    method: 'POST',
    path: '/sessions/:id/messages',
    status: 202,
    summary:
      'Send a message to the agent. The message starts a parked session again, and reopens an ended session if the agent can resume.',
    faults: ['not_found', 'session_ended'],
    input: z
      .strictObject({
        id: SessionId,
        text: messageText.describe('The text of the message.'),
        attachments: z
          .array(AttachmentId)
          .max(limits.attachmentsMax)
          .refine(ids => new Set(ids).size === ids.length, 'contains the same attachment twice')
          .optional()
          .describe('Files for the agent that you added with `addAttachment`. Each can be sent once.'),
      })
      .refine(({ text, attachments }) => text !== '' || (attachments ?? []).length > 0, {
        path: ['text'],
        message: 'must not be empty unless a file is attached',
      }),
    output: Command,
  },
  addAttachment: {
    method: 'POST',
    path: '/sessions/:id/attachments',
    status: 201,
    summary:
      'Add a file for a later message to this session, with its first part. A file that is not sent within a day is deleted.',
    faults: ['not_found'],
    input: z.strictObject({ id: SessionId, ...attachmentFields, data: AttachmentPart }),
    output: StoredAttachment,
  },
  appendAttachment: {
    method: 'POST',
    path: '/attachments/:id/parts',
    summary: 'Append the next part to a file that you added and did not send yet.',
    faults: ['not_found'],
    input: z.strictObject({
      id: AttachmentId,
      part: z.int().min(1).describe('The number of the part. `addAttachment` sends part 0. Append others in order.'),
      data: AttachmentPart,
    }),
    output: StoredAttachment,
  },
  getAttachmentPart: {
    method: 'GET',
    path: '/attachments/:id/parts/:part',
    summary: 'Get a part of a file.',
    faults: ['not_found'],
    input: z.strictObject({
      id: AttachmentId,
      part: z.coerce.number().int().min(0).describe('The number of the part, counted from 0.'),
    }),
    output: z.object({
      data: AttachmentPart,
      parts: z.int().describe('The number of parts of the file.'),
    }),
  },
  interruptSession: {
    method: 'POST',
    path: '/sessions/:id/interrupt',
    status: 202,
    summary: 'Stop the current turn of a session.',
    faults: ['not_found', 'session_ended'],
    input: z.strictObject({ id: SessionId }),
    output: Session,
  },
  endSession: {
    method: 'POST',
    path: '/sessions/:id/end',
    status: 202,
    summary: 'End a session.',
    faults: ['not_found'],
    input: z.strictObject({ id: SessionId }),
    output: Session,
  },
  deleteSession: {
    method: 'DELETE',
    path: '/sessions/:id',
    summary: 'Delete an ended session and its history.',
    faults: ['not_found', 'session_live'],
    input: z.strictObject({ id: SessionId }),
    output: emptyObject,
  },
  stopEverything: {
    method: 'POST',
    path: '/stop',
    status: 202,
    summary: 'Interrupt every session.',
    input: noInput,
    output: z.object({ interrupted: z.array(SessionId).describe('The sessions that were interrupted.') }),
  },
  listEvents: {
    method: 'GET',
    path: '/sessions/:id/events',
    summary: 'Read a page of a session’s log, forward from the start or backward from the end.',
    faults: ['not_found', 'gone'],
    input: afterXorBefore(z.strictObject({ id: SessionId, ...logPageParams })),
    output: pageOf(Event),
  },
  listRequests: {
    method: 'GET',
    path: '/requests',
    summary: 'List requests, oldest first. Agents must pass `session`; for everyone else it is optional.',
    faults: ['not_found'],
    input: z.strictObject({
      status: Request.shape.status.optional().describe('Only pending or only resolved requests.'),
      session: SessionId.optional().describe('Only requests of this session.'),
      limit: limitParam,
      after: RequestId.optional().describe(
        'Only requests that were opened after this request. Pass the `next` of the previous page.',
      ),
    }),
    output: pageOf(Request),
  },
  getRequest: {
    method: 'GET',
    path: '/requests/:id',
    summary: 'Get a request. With `wait`, the call waits until the request is resolved or the time is over.',
    faults: ['not_found'],
    input: z.strictObject({ id: RequestId, wait: waitParam }),
    output: Request,
  },
  answerRequest: {
    method: 'POST',
    path: '/requests/:id/answer',
    summary: 'Answer a request. The first answer counts. Repeating the same answer as the same person is not an error.',
    faults: ['not_found', 'already_resolved', 'digest_mismatch', 'answer_mismatch', 'unsupported'],
    input: z.strictObject({ id: RequestId, ...answerFields }),
    output: Request,
  },
  answerRequests: {
    method: 'POST',
    path: '/requests/answer',
    summary:
      'Answer several requests. Each answer has its own result, and one failure does not affect the other answers.',
    faults: ['unsupported'],
    input: z.strictObject({
      items: z.array(BatchItem).min(1).max(limits.batchAnswersMax).describe('The answers.'),
    }),
    output: z.object({ items: z.array(BatchResult).describe('One result per answer, in the same order.') }),
  },
  checkInput: {
    method: 'POST',
    path: '/requests/:id/risk',
    summary:
      'Show what an approval would touch with another input, and how dangerous it would be, without answering. Clients need more than one key press to allow a dangerous input.',
    faults: ['not_found', 'answer_mismatch'],
    input: z.strictObject({ id: RequestId, input: JsonObject.describe('The edited input.') }),
    output: z.object({ risk: Risk }),
  },
  putDraft: {
    method: 'PUT',
    path: '/requests/:id/draft',
    summary: 'Store an unfinished answer, so that the person can continue on another device.',
    faults: ['not_found', 'already_resolved'],
    input: z.strictObject({ id: RequestId, draft: z.unknown().describe('The unfinished answer, in any format.') }),
    output: Draft,
  },
  getDraft: {
    method: 'GET',
    path: '/requests/:id/draft',
    summary: 'Get your unfinished answer and the other people who are answering.',
    faults: ['not_found'],
    input: z.strictObject({ id: RequestId }),
    output: z.object({
      draft: Draft.nullable().describe('Your unfinished answer; null if there is none.'),
      others: z.array(Person).describe('The other people with an unfinished answer.'),
    }),
  },
  deleteDraft: {
    method: 'DELETE',
    path: '/requests/:id/draft',
    summary: 'Delete your unfinished answer.',
    faults: ['not_found'],
    input: z.strictObject({ id: RequestId }),
    output: emptyObject,
  },
  listWatchers: {
    method: 'GET',
    path: '/watchers',
    summary:
      'List the watchers that are in force: all of them, or those for one session, with the effects that its agent does not support.',
    faults: ['not_found'],
    input: z.strictObject({ session: SessionId.optional().describe('Only the watchers that apply to this session.') }),
    output: z.object({ items: z.array(Watcher).describe('The watchers, in the order of their files.') }),
  },
  listVariables: {
    method: 'GET',
    path: '/sessions/:id/variables',
    summary: 'List the variables of a session, with their values.',
    faults: ['not_found'],
    input: z.strictObject({ id: SessionId }),
    output: z.object({ items: z.array(Variable).describe('The variables, in the order of their files.') }),
  },
  setVariable: {
    method: 'PUT',
    path: '/sessions/:id/variables/:name',
    summary: 'Set a variable of a session.',
    faults: ['not_found', 'unsupported'],
    input: z.strictObject({
      id: SessionId,
      name: VariableName,
      value: VariableValue,
      file: z
        .string()
        .max(limits.pathMax)
        .optional()
        .describe('The file that declares the variable. Needed only if several files do.'),
    }),
    output: Variable,
  },
} as const satisfies Record<string, Operation>
