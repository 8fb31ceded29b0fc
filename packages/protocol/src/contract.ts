/** Every operation, once: the server mounts this table, the client is typed from it, OpenAPI is printed from it. */
import { z } from 'zod'
import { Answer } from './answer.ts'
import { Ask } from './ask.ts'
import { Event, Saying } from './event.ts'
import { CommandId, Cursor, RequestId, RuleId, RunnerId, SessionId, TokenId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { AgentPath, DeliveryState, Draft, deadlineFields, Request, RequestKey } from './request.ts'
import { Rule, RuleDraft, Verdict } from './rule.ts'
import { Attachment, Command, CommandOutcome, DriverInfo, Ending, Runner, Session, SessionState } from './session.ts'

/** Who may call: a person, a runner, an agent; `anyone` needs no credential. */
export const Role = z.enum(['person', 'runner', 'agent'])
export type Role = z.infer<typeof Role>

export interface Op {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /api/v1; `:name` is a member of the input. */
  readonly path: string
  readonly roles: readonly (Role | 'anyone')[]
  /** Path, query and body members, together. Strict: an unknown member is an error. */
  readonly input: z.ZodObject
  readonly output: z.ZodType
  /** Of success, where it is not 200; an operation may answer 200 or 202 instead where the design says so. */
  readonly status?: number
  readonly summary: string
  /** The body may be as large as attachments need. */
  readonly large?: boolean
}

const people = ['person'] as const
/** The agent's side. A person's credential may stand in for an agent that lives elsewhere; the desk decides by the session. */
const agents = ['person', 'runner', 'agent'] as const
const all = ['person', 'runner', 'agent'] as const
const fence = z.int().min(0).optional()
const wait = z.coerce.number().int().min(0).max(limits.waitMaxMs).optional()
const limit = z.coerce.number().int().min(1).max(limits.pageMax).optional()
const page = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), next: z.string().nullable() })
const nothing = z.object({})
const sessionFields = {
  mode: z.string().min(1).max(limits.nameMax).optional(),
  model: z.string().min(1).max(limits.nameMax).optional(),
  title: z.string().min(1).max(limits.titleMax).optional(),
  /** null: never let go while waiting. */
  warmMs: z.int().min(0).max(limits.deadlineMaxMs).nullable().optional(),
}
const message = {
  text: z.string().min(1).max(limits.textMax),
  attachments: z.array(Attachment).max(limits.attachmentsMax).optional(),
}
const answerFields = { digest: z.string().max(limits.keyMax), answer: Answer }
export const BatchResult = z.object({
  id: RequestId,
  status: z.int(),
  request: Request.optional(),
  error: z.object({ code: z.string(), message: z.string(), detail: z.unknown().optional() }).optional(),
})
export const Token = z.object({
  id: TokenId,
  role: Role,
  name: z.string(),
  madeAt: z.int(),
  expiresAt: z.int().nullable(),
})
export type Token = z.infer<typeof Token>
/** A line of the record: a resolution with what it resolved. */
export const AuditLine = z.object({ cursor: Cursor, at: z.int(), request: RequestId, session: SessionId, event: Event })

export const contract = {
  listDrivers: {
    method: 'GET',
    path: '/drivers',
    roles: all,
    summary: 'What can run, and where',
    input: z.strictObject({}),
    output: page(DriverInfo.extend({ runner: RunnerId.nullable() })),
  },
  startSession: {
    method: 'POST',
    path: '/sessions',
    roles: ['person', 'agent'],
    status: 201,
    large: true,
    summary: 'Start a session',
    input: z.strictObject({
      driver: z.string().min(1).max(limits.nameMax),
      cwd: z.string().min(1).max(limits.pathMax).optional(),
      prompt: message.text.optional(),
      attachments: message.attachments,
      resume: z.string().min(1).max(limits.nameMax).optional(),
      options: JsonObject.optional(),
      ...sessionFields,
      ...deadlineFields,
    }),
    output: Session,
  },
  listSessions: {
    method: 'GET',
    path: '/sessions',
    roles: all,
    summary: 'Sessions, newest first',
    input: z.strictObject({
      state: SessionState.optional(),
      q: z.string().max(limits.nameMax).optional(),
      limit,
      before: SessionId.optional(),
    }),
    output: page(Session),
  },
  getSession: {
    method: 'GET',
    path: '/sessions/:id',
    roles: all,
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
    large: true,
    summary: 'Say something to the agent',
    input: z.strictObject({ id: SessionId, ...message }),
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
    output: nothing,
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
    roles: all,
    summary: 'A page of a session’s log',
    input: z.strictObject({ id: SessionId, after: Cursor.optional(), limit }),
    output: page(Event),
  },
  listRequests: {
    method: 'GET',
    path: '/requests',
    roles: all,
    summary: 'Requests across all sessions, oldest first',
    input: z.strictObject({
      status: z.enum(['pending', 'resolved']).optional(),
      session: SessionId.optional(),
      limit,
      after: RequestId.optional(),
    }),
    output: page(Request),
  },
  getRequest: {
    method: 'GET',
    path: '/requests/:id',
    roles: all,
    summary: 'One request; with wait, returns when it is resolved or the wait is over',
    input: z.strictObject({ id: RequestId, wait }),
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
    output: nothing,
  },
  openRequest: {
    method: 'POST',
    path: '/sessions/:id/requests',
    roles: agents,
    status: 201,
    summary: 'Ask; 200 for the same key and ask',
    input: z.strictObject({
      id: SessionId,
      key: RequestKey,
      ask: Ask,
      agentPath: AgentPath.optional(),
      fence,
      ...deadlineFields,
    }),
    output: Request,
  },
  say: {
    method: 'POST',
    path: '/sessions/:id/events',
    roles: agents,
    summary: 'What the agent says',
    input: z.strictObject({ id: SessionId, items: z.array(Saying).min(1).max(limits.eventsPerPostMax), fence }),
    output: z.object({ cursor: Cursor.nullable() }),
  },
  checkTool: {
    method: 'POST',
    path: '/sessions/:id/check',
    roles: agents,
    summary: 'What the rules say of a tool that the agent would run unasked',
    input: z.strictObject({ id: SessionId, tool: z.string().min(1).max(limits.nameMax), input: JsonObject, fence }),
    output: Verdict,
  },
  withdrawRequest: {
    method: 'POST',
    path: '/requests/:id/withdraw',
    roles: agents,
    summary: 'The agent no longer asks',
    input: z.strictObject({ id: RequestId, fence }),
    output: Request,
  },
  reportDelivery: {
    method: 'POST',
    path: '/requests/:id/delivery',
    roles: agents,
    summary: 'What became of the resolution on the agent’s side',
    input: z.strictObject({
      id: RequestId,
      state: DeliveryState.exclude(['waiting']),
      reason: z.string().max(limits.reasonMax).optional(),
      fence,
    }),
    output: Request,
  },
  attachSession: {
    method: 'POST',
    path: '/sessions/:id/attach',
    roles: agents,
    summary: 'Take the lease of a session; the fence goes with every write',
    input: z.strictObject({ id: SessionId, runner: RunnerId.optional(), incarnation: z.int().optional() }),
    output: z.object({ fence: z.int(), ttlMs: z.int(), session: Session, turnOpen: z.boolean() }),
  },
  detachSession: {
    method: 'POST',
    path: '/sessions/:id/detach',
    roles: agents,
    summary: 'Give the lease back: the session parks, or has ended',
    input: z.strictObject({ id: SessionId, fence, ending: Ending.optional() }),
    output: Session,
  },
  listCommands: {
    method: 'GET',
    path: '/sessions/:id/commands',
    roles: agents,
    summary: 'Commands that are not done, in order; with wait, returns when there is a new one',
    input: z.strictObject({ id: SessionId, wait, after: z.coerce.number().int().min(0).optional() }),
    output: page(Command),
  },
  takeCommand: {
    method: 'POST',
    path: '/commands/:id/take',
    roles: agents,
    summary: 'The runner begins to carry a command out',
    input: z.strictObject({ id: CommandId, fence }),
    output: Command,
  },
  finishCommand: {
    method: 'POST',
    path: '/commands/:id/done',
    roles: agents,
    summary: 'A command has been carried out',
    input: z.strictObject({ id: CommandId, fence, outcome: CommandOutcome.optional() }),
    output: Command,
  },
  announceRunner: {
    method: 'POST',
    path: '/runners',
    roles: ['runner'],
    status: 201,
    summary: 'A runner begins; leases of its earlier incarnation are void',
    input: z.strictObject({
      id: RunnerId,
      name: z.string().max(limits.nameMax),
      drivers: z.array(DriverInfo).max(limits.optionsMax),
    }),
    output: Runner,
  },
  renewRunner: {
    method: 'POST',
    path: '/runners/:id/renew',
    roles: ['runner'],
    summary: 'Keep every lease of the runner for another while',
    input: z.strictObject({ id: RunnerId, incarnation: z.int() }),
    output: Runner,
  },
  retireRunner: {
    method: 'POST',
    path: '/runners/:id/retire',
    roles: ['runner', 'person'],
    summary: 'The runner is gone; its leases are void',
    input: z.strictObject({ id: RunnerId, incarnation: z.int().optional() }),
    output: Runner,
  },
  listWork: {
    method: 'GET',
    path: '/runners/:id/work',
    roles: ['runner'],
    summary: 'Sessions that wait for a runner with these drivers; with wait, returns when there are some',
    input: z.strictObject({ id: RunnerId, incarnation: z.coerce.number().int(), wait }),
    output: page(Session),
  },
  listRunners: {
    method: 'GET',
    path: '/runners',
    roles: ['person', 'runner'],
    summary: 'Runners, live and lately gone',
    input: z.strictObject({}),
    output: page(Runner),
  },
  listRules: {
    method: 'GET',
    path: '/rules',
    roles: people,
    summary: 'Standing answers',
    input: z.strictObject({}),
    output: page(Rule),
  },
  addRule: {
    method: 'POST',
    path: '/rules',
    roles: people,
    status: 201,
    summary: 'Keep a standing answer',
    input: RuleDraft,
    output: Rule,
  },
  removeRule: {
    method: 'DELETE',
    path: '/rules/:id',
    roles: people,
    summary: 'Revoke a standing answer',
    input: z.strictObject({ id: RuleId }),
    output: nothing,
  },
  checkRules: {
    method: 'POST',
    path: '/rules/check',
    roles: people,
    summary: 'What the rules say of an ask; decides nothing',
    input: z.strictObject({
      ask: Ask,
      driver: z.string().optional(),
      rules: z.array(RuleDraft).max(limits.rulesMax).optional(),
    }),
    output: Verdict,
  },
  listAudit: {
    method: 'GET',
    path: '/audit',
    roles: people,
    summary: 'The record of resolutions',
    input: z.strictObject({ after: Cursor.optional(), limit, session: SessionId.optional() }),
    output: page(Event),
  },
  listTokens: {
    method: 'GET',
    path: '/tokens',
    roles: people,
    summary: 'Credentials, without their secrets',
    input: z.strictObject({}),
    output: page(Token),
  },
  addToken: {
    method: 'POST',
    path: '/tokens',
    roles: people,
    status: 201,
    summary: 'Make a credential; its secret is shown once',
    input: z.strictObject({
      role: z.enum(['person', 'agent']),
      name: z.string().min(1).max(limits.nameMax),
      expiresAt: z.int().optional(),
    }),
    output: Token.extend({ secret: z.string() }),
  },
  removeToken: {
    method: 'DELETE',
    path: '/tokens/:id',
    roles: people,
    summary: 'Revoke a credential',
    input: z.strictObject({ id: TokenId }),
    output: nothing,
  },
  signIn: {
    method: 'POST',
    path: '/sign-in',
    roles: ['anyone'],
    summary: 'Turn a one-use code into a cookie',
    input: z.strictObject({ code: z.string().min(1).max(limits.keyMax) }),
    output: z.object({ person: z.string() }),
  },
  signOut: {
    method: 'POST',
    path: '/sign-out',
    roles: people,
    summary: 'End the cookie’s session',
    input: z.strictObject({}),
    output: nothing,
  },
  makeLink: {
    method: 'POST',
    path: '/links',
    roles: people,
    status: 201,
    summary: 'A one-use code for another browser',
    input: z.strictObject({}),
    output: z.object({ code: z.string(), expiresAt: z.int() }),
  },
  whoAmI: {
    method: 'GET',
    path: '/me',
    roles: all,
    summary: 'Who the credential is',
    input: z.strictObject({}),
    output: z.object({ person: z.string(), role: Role, now: z.int() }),
  },
  backup: {
    method: 'POST',
    path: '/backup',
    roles: people,
    summary: 'Copy the whole archive into a new file on the gateway’s machine',
    input: z.strictObject({ file: z.string().min(1).max(limits.pathMax) }),
    output: z.object({ file: z.string(), bytes: z.int(), cursor: Cursor }),
  },
} as const satisfies Record<string, Op>

export type Contract = typeof contract
export type OpName = keyof Contract
export type Input<K extends OpName> = z.input<Contract[K]['input']>
export type Parsed<K extends OpName> = z.output<Contract[K]['input']>
export type Output<K extends OpName> = z.output<Contract[K]['output']>

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly idempotencyKey?: string
}
/** One operation, whatever carries it: in process, HTTP or a socket. Rejects with a Fault. */
export type Call = <K extends OpName>(op: K, input: Input<K>, options?: CallOptions) => Promise<Output<K>>

export const apiRoot = '/api/v1'
