/** Operations of the agent's side: asking, saying, delivery, leases, commands; and of the runners that carry them. */
import { z } from 'zod'
import { Ask } from './ask.ts'
import { AgentEvent } from './event.ts'
import { CommandId, Cursor, RequestId, RunnerId, SessionId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { everyone, type Operation, pageOf, waitParam } from './operation.ts'
import { AgentPath, DeliveryState, deadlineFields, Request, RequestKey } from './request.ts'
import { Verdict } from './rule.ts'
import { Command, CommandOutcome, DriverInfo, Ending, Runner, Session } from './session.ts'

/** A person's credential may stand in for an agent that lives elsewhere; the gateway decides by the session. */
const agents = everyone
const fence = z.int().min(0).optional()

export const agentOps = {
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
  appendEvents: {
    method: 'POST',
    path: '/sessions/:id/events',
    roles: agents,
    summary: 'What the agent says',
    input: z.strictObject({ id: SessionId, items: z.array(AgentEvent).min(1).max(limits.eventsPerPostMax), fence }),
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
    input: z.strictObject({ id: SessionId, wait: waitParam, after: z.coerce.number().int().min(0).optional() }),
    output: pageOf(Command),
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
    summary: 'Keep every lease of the runner for another while; with drivers, what it can run has changed',
    input: z.strictObject({
      id: RunnerId,
      incarnation: z.int(),
      drivers: z.array(DriverInfo).max(limits.optionsMax).optional(),
    }),
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
    input: z.strictObject({ id: RunnerId, incarnation: z.coerce.number().int(), wait: waitParam }),
    output: pageOf(Session),
  },
  listRunners: {
    method: 'GET',
    path: '/runners',
    roles: ['person', 'runner'],
    summary: 'Runners, live and lately gone',
    input: z.strictObject({}),
    output: pageOf(Runner),
  },
} as const satisfies Record<string, Operation>
