/** The operations for agents, and for the runners that act for agents: requests, events, deliveries, leases and commands. */
import { z } from 'zod'
import { Action } from './action.ts'
import { AnswerKind } from './answer.ts'
import { AskInput } from './ask.ts'
import { AgentEvent, StoredAgentEvent } from './event.ts'
import { CommandId, Cursor, RequestId, RunnerId, SessionId } from './ids.ts'
import { JsonObject } from './json.ts'
import { limits } from './limits.ts'
import { agentFaults, type Operation, pageOf, waitParam } from './operation.ts'
import { AgentPath, AgentReason, DeliveryState, deadlineFields, Effective, Request, RequestKey } from './request.ts'
import { Verdict } from './rule.ts'
import { Command, CommandOutcome, Ending, Session } from './session.ts'
import { MomentReply, VariableName, VariableValue } from './watcher.ts'

const fence = z
  .int()
  .min(0)
  .optional()
  .describe('The fence from `attachSession`. Required unless the session’s driver is "external".')

const wait = z
  .int()
  .min(0)
  .max(limits.waitMaxMs)
  .optional()
  .describe('How long to wait for the answer, in milliseconds. By default, the call returns at once.')

export const agentOps = {
  openRequest: {
    method: 'POST',
    path: '/sessions/:id/requests',
    status: 201,
    summary:
      'Open a request: ask people. If the session already has a request with the same key and ask, the reply is that request with status 200.',
    faults: [...agentFaults, 'key_conflict'],
    input: z.strictObject({
      id: SessionId,
      key: RequestKey,
      ask: AskInput,
      agentPath: AgentPath.optional(),
      events: z
        .array(StoredAgentEvent)
        .max(limits.eventsPerPostMax)
        .optional()
        .describe(
          'Events that happened before the request. They are stored together with it, which is quicker than a call of `appendEvents` before this one. If the call fails, they are not stored.',
        ),
      fence,
      ...deadlineFields,
    }),
    output: Request,
  },
  appendEvents: {
    method: 'POST',
    path: '/sessions/:id/events',
    summary: 'Append events of the agent to the session’s log.',
    faults: agentFaults,
    input: z.strictObject({
      id: SessionId,
      items: z.array(AgentEvent).min(1).max(limits.eventsPerPostMax).describe('The events, in order.'),
      fence,
    }),
    output: z.object({
      cursor: Cursor.nullable().describe(
        'The cursor of the last stored event; null if the call contained only deltas.',
      ),
    }),
  },
  checkTool: {
    method: 'POST',
    path: '/sessions/:id/check',
    summary: 'Check a tool call against the rules, for a tool that the agent would run without asking.',
    faults: agentFaults,
    input: z.strictObject({
      id: SessionId,
      tool: z.string().min(1).max(limits.nameMax).describe('The name of the tool.'),
      input: JsonObject.describe('The input of the tool.'),
      cwd: z
        .string()
        .max(limits.pathMax)
        .optional()
        .describe('The folder in which the tool would run. Default: the folder of the session.'),
      action: Action.optional().describe('What the call does, as in an approval.'),
      agentPath: AgentPath.optional(),
      key: RequestKey.optional().describe(
        'The agent’s own id of the call. With it, watchers see the call once, even if the agent also asks about it.',
      ),
      fence,
    }),
    output: Verdict,
  },
  reportMoment: {
    method: 'POST',
    path: '/sessions/:id/moments',
    summary:
      'Report a moment of a session, and get what its watchers say. A moment that is reported again with the same key gets the same reply and has no second effect. `appendEvents` also evaluates the moments "after" (at `tool.finished`) and "stop" (at `turn.finished`) if the agent has not reported them.',
    faults: agentFaults,
    input: z.strictObject({
      id: SessionId,
      moment: z.enum(['prompt', 'after', 'stop']).describe('The moment.'),
      key: RequestKey.describe(
        'The agent’s own id of the moment: the id of the message, of the tool call (the same as in `tool.started`) or of the turn.',
      ),
      text: z.string().max(limits.textMax).optional().describe('The text of the message, at "prompt".'),
      result: z
        .strictObject({
          ok: z
            .boolean()
            .optional()
            .describe(
              'Whether the call succeeded. Leave it out if the agent does not report it; `result.ok` of watchers is then false.',
            ),
          exitCode: z.int().optional().describe('The exit code of the command.'),
          text: z.string().max(limits.resultTextMax).optional().describe('The beginning of the output.'),
        })
        .optional()
        .describe('The result of the call, at "after".'),
      call: z
        .strictObject({
          tool: z.string().min(1).max(limits.nameMax).describe('The name of the tool.'),
          input: JsonObject.describe('The input of the tool.'),
          cwd: z.string().max(limits.pathMax).optional().describe('The folder in which the tool ran.'),
          action: Action.optional().describe('What the call did, as in an approval.'),
        })
        .optional()
        .describe('The call, at "after". Not needed if the call was checked or asked about with the same key.'),
      agentPath: AgentPath.optional(),
      fence,
    }),
    output: MomentReply,
  },
  setAgentVariable: {
    method: 'POST',
    path: '/sessions/:id/variables',
    summary:
      'Set a variable of the session that a file declares as the agent’s. If several files declare it, it is set in each of them.',
    faults: [...agentFaults, 'unsupported'],
    input: z.strictObject({ id: SessionId, name: VariableName, value: VariableValue, fence }),
    output: z.object({ value: VariableValue }),
  },
  withdrawRequest: {
    method: 'POST',
    path: '/requests/:id/withdraw',
    summary: 'Withdraw a request that no longer needs an answer.',
    faults: agentFaults,
    input: z.strictObject({ id: RequestId, fence }),
    output: Request,
  },
  handOverRequest: {
    method: 'POST',
    path: '/requests/:id/handover',
    summary:
      'Wait for the answer, and record in the same step that the agent has it. Act on an allow only after this call: of two calls, only one gets it, and the other gets `already_resolved`. A call that is repeated with the same Idempotency-Key gets the same answer. Afterwards, report `taken` with `reportDelivery`, or end the session as done. If the agent does neither, people are told that the outcome is unknown.',
    faults: [...agentFaults, 'already_resolved', 'gone'],
    input: z.strictObject({ id: RequestId, wait, fence }),
    output: z.object({
      outcome: z
        .enum([...AnswerKind.options, 'nobody', ...AgentReason.options, 'pending'])
        .describe(
          'The kind of the answer. "nobody": nobody answered before the deadline. "withdrawn", "interrupted", "session_ended" or "lost": the request no longer needs an answer. "pending": there is no answer yet, so call again.',
        ),
      effective: Effective.optional().describe(
        'What you may act on: the input to run, the answers or the values. Present only with the outcomes "allow", "answers" and "submit".',
      ),
      reason: z
        .string()
        .optional()
        .describe(
          'Present only with the outcomes "deny", "decline" and "nobody": the reason, with the person’s comments, or what the person asks before answering. Missing if no reason was given.',
        ),
      note: z
        .string()
        .optional()
        .describe('What the person says with an allow: the note and the comments. Missing if the person said nothing.'),
      request: Request,
    }),
  },
  reportDelivery: {
    method: 'POST',
    path: '/requests/:id/delivery',
    summary: 'Report whether the resolution has reached the agent.',
    faults: [...agentFaults, 'not_resolved', 'already_resolved', 'gone'],
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
    summary: 'Take the lease of a session. Every later write of the agent carries the returned fence.',
    faults: [...agentFaults, 'lease_held', 'no_runner'],
    input: z.strictObject({
      id: SessionId,
      runner: RunnerId.optional().describe('The runner that takes the lease. Not needed for the driver "external".'),
      incarnation: z.int().optional().describe('The incarnation of the runner, from `announceRunner`.'),
    }),
    output: z.object({
      fence: z
        .int()
        .describe('The fence: a number that grows with every attach. A write with an older fence is refused.'),
      ttlMs: z.int().describe('How long the lease is valid without a renewal, in milliseconds.'),
      session: Session,
      turnOpen: z
        .boolean()
        .describe('Whether a turn was still running when the previous runner lost or returned the lease.'),
    }),
  },
  detachSession: {
    method: 'POST',
    path: '/sessions/:id/detach',
    summary:
      'Return the lease of a session. With `ending`, the session ends; otherwise it is parked, or disconnected if the agent is external. If the agent ends it as "done", the answers that were handed to it count as taken.',
    faults: ['not_found', 'fenced'],
    input: z.strictObject({ id: SessionId, fence, ending: Ending.optional() }),
    output: Session,
  },
  renewSession: {
    method: 'POST',
    path: '/sessions/:id/renew',
    summary:
      'Show that an external agent is still there. Every other call of the agent does the same, also while it waits, so this call is only for an agent that works without calling. After `ttlMs` without any call, the session is disconnected until the agent calls again.',
    faults: agentFaults,
    input: z.strictObject({ id: SessionId, fence }),
    output: z.object({ ttlMs: z.int().describe('How long the agent may stay silent, in milliseconds.') }),
  },
  listCommands: {
    method: 'GET',
    path: '/sessions/:id/commands',
    summary:
      'List the unfinished commands of a session, in order. With `wait`, the call waits until there is a new command.',
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
    summary: 'Mark a command as started.',
    faults: agentFaults,
    input: z.strictObject({ id: CommandId, fence }),
    output: Command,
  },
  finishCommand: {
    method: 'POST',
    path: '/commands/:id/done',
    summary: 'Mark a command as done.',
    faults: agentFaults,
    input: z.strictObject({
      id: CommandId,
      fence,
      outcome: CommandOutcome.optional().describe('The result of the command. By default, the command succeeded.'),
    }),
    output: Command,
  },
} as const satisfies Record<string, Operation>
