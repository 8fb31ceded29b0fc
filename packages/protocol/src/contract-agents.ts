/** The operations for agents, and for runners that act for them: asking, appending events, delivery, leases, commands. */
import { z } from 'zod'
import { Ask } from './ask.ts'
import { AgentEvent } from './event.ts'
import { CommandId, Cursor, RequestId, RunnerId, SessionId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { agentFaults, everyone, type Operation, pageOf, waitParam } from './operation.ts'
import { AgentPath, DeliveryState, deadlineFields, Request, RequestKey } from './request.ts'
import { Verdict } from './rule.ts'
import { Command, CommandOutcome, Ending, Session } from './session.ts'

/** People may act for an external agent in a session of their own; the gateway checks that for each session. */
const agents = everyone
const fence = z
  .int()
  .min(0)
  .optional()
  .describe('The fence from `attachSession`. Required unless the session’s driver is "external".')

export const agentOps = {
  openRequest: {
    method: 'POST',
    path: '/sessions/:id/requests',
    roles: agents,
    status: 201,
    summary: 'Ask people. Returns 200 with the existing request for the same key and ask.',
    faults: [...agentFaults, 'key_conflict'],
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
    summary: 'Append events of the agent to the session’s log.',
    faults: agentFaults,
    input: z.strictObject({
      id: SessionId,
      items: z.array(AgentEvent).min(1).max(limits.eventsPerPostMax).describe('The events, in order.'),
      fence,
    }),
    output: z.object({
      cursor: Cursor.nullable().describe('The cursor of the last stored event; null if there were only deltas.'),
    }),
  },
  checkTool: {
    method: 'POST',
    path: '/sessions/:id/check',
    roles: agents,
    summary: 'Check a tool call against the rules before the agent runs it without asking.',
    faults: agentFaults,
    input: z.strictObject({
      id: SessionId,
      tool: z.string().min(1).max(limits.nameMax).describe('The name of the tool.'),
      input: JsonObject.describe('The input of the tool.'),
      fence,
    }),
    output: Verdict,
  },
  withdrawRequest: {
    method: 'POST',
    path: '/requests/:id/withdraw',
    roles: agents,
    summary: 'Withdraw a request that no longer needs an answer.',
    faults: agentFaults,
    input: z.strictObject({ id: RequestId, fence }),
    output: Request,
  },
  reportDelivery: {
    method: 'POST',
    path: '/requests/:id/delivery',
    roles: agents,
    summary: 'Report what happened to the resolution on the agent’s side.',
    faults: [...agentFaults, 'not_resolved', 'already_resolved'],
    input: z.strictObject({
      id: RequestId,
      state: DeliveryState.exclude(['waiting']).describe('The new state of the delivery.'),
      reason: z.string().max(limits.reasonMax).optional().describe('Why the delivery failed.'),
      fence,
    }),
    output: Request,
  },
  attachSession: {
    method: 'POST',
    path: '/sessions/:id/attach',
    roles: agents,
    summary: 'Take the lease of a session. Every later write of the agent carries the returned fence.',
    faults: [...agentFaults, 'lease_held', 'no_runner'],
    input: z.strictObject({
      id: SessionId,
      runner: RunnerId.optional().describe('The runner that takes the session. Not needed for the driver "external".'),
      incarnation: z.int().optional().describe('The incarnation of the runner, from `announceRunner`.'),
    }),
    output: z.object({
      fence: z.int().describe('The fencing number. It grows with every attach; a write with an older one is refused.'),
      ttlMs: z.int().describe('How long the lease lasts without a renewal, in milliseconds.'),
      session: Session,
      turnOpen: z.boolean().describe('Whether a turn was running when the session was last driven.'),
    }),
  },
  detachSession: {
    method: 'POST',
    path: '/sessions/:id/detach',
    roles: agents,
    summary: 'Return the lease of a session. The session is parked, or ends if `ending` is given.',
    faults: ['not_found', 'fenced'],
    input: z.strictObject({ id: SessionId, fence, ending: Ending.optional() }),
    output: Session,
  },
  listCommands: {
    method: 'GET',
    path: '/sessions/:id/commands',
    roles: agents,
    summary: 'List the commands that are not done, in order. With `wait`, the call returns when there is a new one.',
    faults: ['not_found'],
    input: z.strictObject({
      id: SessionId,
      wait: waitParam,
      after: z.coerce.number().int().min(0).optional().describe('Only commands with a higher `seq`.'),
    }),
    output: pageOf(Command),
  },
  takeCommand: {
    method: 'POST',
    path: '/commands/:id/take',
    roles: agents,
    summary: 'Mark a command as started.',
    faults: agentFaults,
    input: z.strictObject({ id: CommandId, fence }),
    output: Command,
  },
  finishCommand: {
    method: 'POST',
    path: '/commands/:id/done',
    roles: agents,
    summary: 'Mark a command as done.',
    faults: agentFaults,
    input: z.strictObject({
      id: CommandId,
      fence,
      outcome: CommandOutcome.optional().describe('The result. Without it, the command succeeded.'),
    }),
    output: Command,
  },
} as const satisfies Record<string, Operation>
