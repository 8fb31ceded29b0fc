/** Operations of people: sessions, requests, answers, drafts. */
import { z } from 'zod'
import { Answer } from './answer.ts'
import { Event } from './event.ts'
import { RequestId, RunnerId, SessionId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import {
  afterXorBefore,
  emptyObject,
  everyone,
  limitParam,
  logPageParams,
  type Operation,
  pageOf,
  people,
  waitParam,
} from './operation.ts'
import { Draft, deadlineFields, Request } from './request.ts'
import { Attachment, Command, DriverInfo, Session, SessionState } from './session.ts'

const sessionFields = {
  mode: z.string().min(1).max(limits.nameMax).optional(),
  model: z.string().min(1).max(limits.nameMax).optional(),
  title: z.string().min(1).max(limits.titleMax).optional(),
  /** null: never let go while waiting. */
  parkAfterMs: z.int().min(0).max(limits.deadlineMaxMs).nullable().optional(),
}
const attachments = z.array(Attachment).max(limits.attachmentsMax).optional()
const words = z.string().max(limits.textMax)
/** What is attached can speak for itself. */
function withWords<T extends z.ZodObject>(input: T, name: 'text' | 'prompt'): T {
  return input.refine(said => said[name] !== '' || Object(said.attachments).length > 0, {
    path: [name],
    message: 'must not be empty, unless something is attached',
  })
}
const answerFields = { digest: z.string().max(limits.keyMax), answer: Answer }
const BatchResult = z.object({
  id: RequestId,
  status: z.int(),
  request: Request.optional(),
  error: z.object({ code: z.string(), message: z.string(), detail: z.unknown().optional() }).optional(),
})

export const peopleOps = {
  listDrivers: {
    method: 'GET',
    path: '/drivers',
    roles: everyone,
    summary: 'What can run, and where',
    input: z.strictObject({}),
    output: pageOf(DriverInfo.extend({ runner: RunnerId.nullable() })),
  },
  startSession: {
    method: 'POST',
    path: '/sessions',
    roles: ['person', 'agent'],
    status: 201,
    allowsLargeBody: true,
    summary: 'Start a session',
    input: withWords(
      z.strictObject({
        driver: z.string().min(1).max(limits.nameMax),
        cwd: z.string().min(1).max(limits.pathMax).optional(),
        prompt: words.optional(),
        attachments,
        conversationId: z.string().min(1).max(limits.nameMax).optional(),
        options: JsonObject.optional(),
        ...sessionFields,
        ...deadlineFields,
      }),
      'prompt',
    ),
    output: Session,
  },
  listSessions: {
    method: 'GET',
    path: '/sessions',
    roles: everyone,
    summary: 'Sessions, newest first',
    input: z.strictObject({
      state: SessionState.optional(),
      q: z.string().max(limits.nameMax).optional(),
      limit: limitParam,
      before: SessionId.optional(),
    }),
    output: pageOf(Session),
  },
  getSession: {
    method: 'GET',
    path: '/sessions/:id',
    roles: everyone,
    summary: 'One session',
    input: z.strictObject({ id: SessionId }),
    output: Session,
  },
  patchSession: {
    method: 'PATCH',
    path: '/sessions/:id',
    roles: people,
    summary: 'Change title, mode, model or warm window',
    input: z.strictObject({ id: SessionId, ...sessionFields }),
    output: Session,
  },
  sendMessage: {
    method: 'POST',
    path: '/sessions/:id/messages',
    roles: people,
    status: 202,
    allowsLargeBody: true,
    summary: 'Say something to the agent',
    input: withWords(z.strictObject({ id: SessionId, text: words, attachments }), 'text'),
    output: Command,
  },
  interruptSession: {
    method: 'POST',
    path: '/sessions/:id/interrupt',
    roles: people,
    status: 202,
    summary: 'Stop the turn',
    input: z.strictObject({ id: SessionId }),
    output: Session,
  },
  endSession: {
    method: 'POST',
    path: '/sessions/:id/end',
    roles: people,
    status: 202,
    summary: 'End the session',
    input: z.strictObject({ id: SessionId }),
    output: Session,
  },
  deleteSession: {
    method: 'DELETE',
    path: '/sessions/:id',
    roles: people,
    summary: 'Delete an ended session with its history',
    input: z.strictObject({ id: SessionId }),
    output: emptyObject,
  },
  stopEverything: {
    method: 'POST',
    path: '/stop',
    roles: people,
    status: 202,
    summary: 'Interrupt every session',
    input: z.strictObject({}),
    output: z.object({ interrupted: z.array(SessionId) }),
  },
  listEvents: {
    method: 'GET',
    path: '/sessions/:id/events',
    roles: everyone,
    summary: 'A page of a session’s log, from its start or from its end',
    input: afterXorBefore(z.strictObject({ id: SessionId, ...logPageParams })),
    output: pageOf(Event),
  },
  listRequests: {
    method: 'GET',
    path: '/requests',
    roles: everyone,
    summary: 'Requests across all sessions, oldest first',
    input: z.strictObject({
      status: z.enum(['pending', 'resolved']).optional(),
      session: SessionId.optional(),
      limit: limitParam,
      after: RequestId.optional(),
    }),
    output: pageOf(Request),
  },
  getRequest: {
    method: 'GET',
    path: '/requests/:id',
    roles: everyone,
    summary: 'One request; with wait, returns when it is resolved or the wait is over',
    input: z.strictObject({ id: RequestId, wait: waitParam }),
    output: Request,
  },
  answerRequest: {
    method: 'POST',
    path: '/requests/:id/answer',
    roles: people,
    summary: 'Answer a request',
    input: z.strictObject({ id: RequestId, ...answerFields }),
    output: Request,
  },
  answerRequests: {
    method: 'POST',
    path: '/requests/answer',
    roles: people,
    summary: 'Answer several; one failing fails no other',
    input: z.strictObject({
      items: z
        .array(z.strictObject({ id: RequestId, ...answerFields }))
        .min(1)
        .max(limits.batchAnswersMax),
    }),
    output: z.object({ items: z.array(BatchResult) }),
  },
  putDraft: {
    method: 'PUT',
    path: '/requests/:id/draft',
    roles: people,
    summary: 'Keep an unfinished answer',
    input: z.strictObject({ id: RequestId, draft: z.unknown() }),
    output: Draft,
  },
  getDraft: {
    method: 'GET',
    path: '/requests/:id/draft',
    roles: people,
    summary: 'The unfinished answer of the caller, and who else is answering',
    input: z.strictObject({ id: RequestId }),
    output: z.object({ draft: Draft.nullable(), others: z.array(z.string()) }),
  },
  deleteDraft: {
    method: 'DELETE',
    path: '/requests/:id/draft',
    roles: people,
    summary: 'Drop the unfinished answer',
    input: z.strictObject({ id: RequestId }),
    output: emptyObject,
  },
} as const satisfies Record<string, Operation>
