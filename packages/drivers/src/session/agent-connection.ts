/** The interface between the shared session loop and one kind of agent. A driver implements `AgentProtocol` and `AgentConnection`; the loop does everything that is the same for all agents. docs/drivers.md explains how to write a driver with it. */

import type { AskOutcome, CheckedCall, FinishedCall } from '@holdpoint/client'
import type { AgentEvent, Ask, AttachmentFile, OnDeadline, Resolution, Session, Verdict } from '@holdpoint/protocol'

/** One kind of agent, for one session. */
export interface AgentProtocol {
  /** The name of the agent in sentences for people, such as "Codex". */
  readonly title: string
  /**
   * The state that a new connection still has after the process of the earlier connection was lost:
   * - `calls`: the agent continues its turn and asks again, under the same ids, for the calls that wait.
   * - `conversation`: the agent knows its conversation, but not its open calls. The loop tells the agent what was decided, and answers an equal call from the log, once.
   * - `nothing`: the session ends as lost, and its requests are resolved with the reason `lost`.
   *
   * The driver has the capability `resumable` unless this is `nothing`.
   */
  readonly keepsAfterLoss: 'calls' | 'conversation' | 'nothing'
  /** Starts the agent's process, or connects to it. Must return at once: report a failure with the output `exited`. */
  connect(options: ConnectionOptions): AgentConnection
  /** Decides how to continue a turn that an earlier process left open. Without this method, the loop decides by `keepsAfterLoss`. */
  planResume?(turn: InterruptedTurn, message: AgentMessage | null): ResumePlan | Promise<ResumePlan>
  /** Called before every turn, before `connect` and `send`. */
  prepareTurn?(): Promise<void>
  /** Returns a sentence for people that says why no turn can start now, for example because the folder is missing; null if a turn can start. */
  startProblem?(): string | null
  /** Returns a sentence for people that says why the agent cannot have this mode or model; null if the agent decides. */
  settingsProblem?(change: SettingsChange): string | null
  /** Set if the agent runs inside the runner, so that there is no process to show to people. */
  readonly hasNoProcess?: boolean
  /** Advice for people if the agent does not start, such as "run `codex` in a terminal to check that it works". */
  readonly startHint?: string
}

export interface ConnectionOptions {
  /** The session when its runner attached to it: folder, options, id. Mode, model and conversation may have changed since. */
  readonly info: Session
  readonly mode: string | null
  readonly model: string | null
  /** The conversation to continue, or null to start a new one. */
  readonly conversationId: string | null
  /** Set if the connection continues an open turn without a new message. `call` is the id of the call at which the turn continues, if the resume plan named one. */
  readonly resume: { readonly call: string | null } | null
  /** Returns how long a call may wait before its process is parked; null means that the process is never parked. The loop itself parks the process of a call that it knows, so only an agent that parks itself needs this function. */
  readonly parkAfterMs: () => number | null
  /** Returns whether a person interrupted the turn that runs. An agent that makes calls without asking must then refuse them. */
  readonly isInterrupted: () => boolean
  /** Reports what the agent does. Await the promise before you report the agent's next output, so that the log has the right order. The promise rejects when nothing more can be written; then end the process. */
  readonly emit: (output: AgentOutput) => Promise<void>
  /** Returns what the rules and the watchers say about a call that the agent would make without asking. */
  readonly check: (call: CheckedCall) => Promise<Verdict>
  /** Reports the result of a call before the agent reads the result, and returns the texts that the agent must read with it. An agent that cannot read texts at this point does not need this function: `tool.finished` in the log reports the result too. */
  readonly reportResult: (call: FinishedCall) => Promise<readonly string[]>
}

/** A live connection to the agent: its process, socket or server. */
export interface AgentConnection {
  /** Sends a message, which starts a turn. The loop may call this before the agent is ready, and never while a turn runs that another message started. */
  send(message: AgentMessage): void
  /** Gives the agent the answer to a call. Called once for each call that was opened, and again with the same answer if the agent opens the call again. An answer of kind `agent` says that the loop no longer waits, for example after an interrupt: let the agent refuse the call. Rejects if the agent could not be reached; the answer then counts as not delivered. */
  answer(call: string, answer: CallAnswer): Promise<AnswerEffects>
  /** Asks the agent to stop its turn. The loop answers every waiting call first. If the turn has not ended after some seconds, the loop closes the connection. */
  interrupt(): Promise<void>
  /** Changes mode and model, or neither. Rejects with a reason for people if the agent refuses. */
  changeSettings(change: SettingsChange): Promise<void>
  /** Ends the process and everything that it started, or only leaves a server that others use too. `waiting` lists the calls that wait for an answer. Resolves after `exited` was reported. */
  close(reason: CloseReason, waiting: readonly string[]): Promise<void>
  /** Adds a text to the conversation of the agent, which reads the text with the next message. Without this method, the loop puts the text before the next message. */
  tell?(text: string): Promise<void>
  /** Returns the process id and the memory of the process, to show to people. */
  status?(): ProcessStatus
  /** Present if the process can be stopped while a call waits, because the agent asks for the call again. */
  readonly parking?: CallParking
  /** Set if nothing is lost when the connection is closed in the middle of a turn, for example because a server continues it. */
  readonly isDurable?: boolean
  /** Returns false if the agent has certainly not received this message, so that the message can be sent again after a restart. */
  hasReceived?(message: string): boolean
  /** Called when the agent aborts a call. Resolves to true if the agent aborts the call only because the agent's process ends: the request then stays open. */
  isExiting?(): Promise<boolean>
  /** Called when a turn is over and nothing else runs. Returns true if the process must not be used for another turn. */
  mustEndAfterTurn?(): Promise<boolean>
}

/** The outputs of the agent, in the order in which they happen. */
export type AgentOutput =
  /** The agent can take messages. Report this once for each connection. Without `canContinue`, another process can continue the conversation; if it is false, the loop keeps the process of an idle session. */
  | ({ readonly type: 'ready'; readonly canContinue?: boolean } & AgentSettings)
  /** Mode, model or conversation changed, because the agent or an answer changed them. */
  | ({ readonly type: 'settingsChanged' } & AgentSettings)
  /** The agent started to work, for a message or by itself. */
  | { readonly type: 'turnStarted' }
  /** The agent finished its work. Calls that still wait are then withdrawn, unless background tasks run. */
  | AgentTurnEnd
  /** Text of the agent, as it streams. The loop numbers the blocks, and ends a block before a tool call, a request and the end of the turn. */
  | { readonly type: 'text'; readonly text: string; readonly agentPath?: readonly string[] }
  /** Other events for the log, such as tool calls. The loop finishes tool calls that are left open when their turn ends and no background task runs. */
  | { readonly type: 'events'; readonly events: readonly AgentEvent[] }
  /** The agent asks and waits. */
  | { readonly type: 'callOpened'; readonly call: AgentCall }
  /** The agent's next step shows that it has received the answer. */
  | { readonly type: 'callTaken'; readonly id: string }
  /** The agent no longer waits, although the loop has not answered: the call was answered elsewhere or withdrawn. Do not report this for a process that died. */
  | { readonly type: 'callAborted'; readonly id: string }
  /** `CallParking.whyNot` may return something else for a call that waits, for example because the call is in the agent's transcript now. */
  | { readonly type: 'parkingChanged' }
  /** The number of background tasks, which would end with the process, has changed. */
  | { readonly type: 'backgroundChanged'; readonly tasks: number }
  /** The process ended or the connection was lost, for any reason. This is the last output. */
  | AgentExit

export interface AgentSettings {
  readonly mode?: string
  readonly model?: string
  readonly conversationId?: string
}
export type SettingsChange = Omit<AgentSettings, 'conversationId'>

export interface AgentExit {
  readonly type: 'exited'
  /** How the process ended, without a full stop: "Codex exited with code 1". */
  readonly how: string
  /** The last lines that the process wrote for people, such as its stderr. */
  readonly lastOutput?: string
  /** Set if the agent ended its process on purpose in the middle of a turn, because requests that it opened itself still wait. The session is then parked, and an answer resumes the turn. */
  readonly isParked?: boolean
}

type TurnFinished = Extract<AgentEvent, { readonly type: 'turn.finished' }>

/** The tokens that a turn has used so far. */
export interface TurnUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface AgentTurnEnd {
  readonly type: 'turnEnded'
  /** How the turn ended. If a person interrupted the turn, or an answer ended it, the loop reports that instead. */
  readonly ending: TurnFinished['ending']
  readonly usage?: TurnFinished['usage']
  /** The cost of this turn alone, in US dollars. */
  readonly cost?: number
  /** A sentence for people that says why the turn failed or was canceled. */
  readonly reason?: string
  /** Events that belong to the end of the turn, such as the error behind a failure. They are written together with the end. Errors are left out if a person ended the turn. */
  readonly events?: readonly AgentEvent[]
  /** The ids of the messages that this turn carried out. Leave it out if the agent works on one thing at a time: the turn then belongs to the message or turn that the loop waits for. */
  readonly messages?: readonly string[]
}

export interface AgentMessage {
  /** The id of the command, or a new id for a message of the loop itself. */
  readonly id: string
  readonly text: string
  readonly attachments: readonly AttachmentFile[]
}

/** A question of the agent: a permission, a question for the person, or a form. */
export interface AgentCall {
  /** The agent's own id of the call. It must be the same when the agent asks again, also in a new process, and unique in the session. A JSON-RPC id alone is not: it starts again at 0 in the next process. */
  readonly id: string
  readonly ask: Ask
  readonly agentPath?: readonly string[]
  readonly deadlineMs?: number
  readonly onDeadline?: OnDeadline
  /** The part of the agent that asks. Calls of `background` work outlive the turn. Only a call of `main` can be parked. The default is `main`. */
  readonly origin?: 'main' | 'background'
  /** Returns whether this call, asked again by a new process, asks for the same as before. The default compares tool and input, or the whole ask if it is not an approval. */
  readonly repeats?: (earlier: Ask) => boolean
}

/** The request could not be opened, so the call must not run. `problem` says why. */
interface NotAsked {
  readonly kind: 'notAsked'
  readonly problem: string
}

/** The answer to a call, after it was committed as handed. */
export type CallAnswer = (AskOutcome | NotAsked) & {
  /** The key of the request. It differs from the id of the call if the call repeats a request of an earlier process. */
  readonly key: string
  /** The ask that the person answered. */
  readonly ask: Ask
  /** True if the agent had already taken this answer, so that an allowed action may have run. Do not let it run again. */
  readonly replayed: boolean
}

/** The effects of an answer in addition to the answer itself. */
export interface AnswerEffects {
  /** Set if this answer ends the turn, because the person wanted it or because the agent always ends its turn after a denial. */
  readonly turnEnding?: 'cancelled' | 'interrupted'
  /** A text that the agent must read next, because its protocol has no field for it, such as the reason of a denial. */
  readonly tellAgent?: string
  /** A sentence for the person that says which part of the answer could not be applied. */
  readonly problem?: string
}

/** The reason why the loop closes a connection: a call waits too long, the session is idle, the process must not be reused, or a person or the runner stops it. */
export type CloseReason = 'parked' | 'idle' | 'done' | 'stopped'

export interface ProcessStatus {
  readonly pid?: number
  readonly memoryMb?: number
  /** The command line that opens the conversation in the agent's own terminal program. */
  readonly attach?: string
}

export interface CallParking {
  /** Called when a call starts to wait. Resolves when `whyNot` is able to decide. */
  prepare(): Promise<unknown>
  /** Returns why this call, the only one that waits, could not be asked again in a new process; null if it could. */
  whyNot(call: string): string | null
}

/** A request that an earlier process left open. */
export interface CarriedRequest {
  readonly key: string
  readonly ask: Ask
  readonly resolution: Resolution | null
  /** Whether the process was lost after the answer was handed, so that it is not known whether the call ran. */
  readonly outcomeUnknown: boolean
}

/** The turn that was open when the process was lost, as read from the log. */
export interface InterruptedTurn {
  /** Requests by key that are pending, or resolved but not taken. */
  readonly requests: ReadonlyMap<string, CarriedRequest>
  /** Whether a person interrupted the turn while a request was pending. */
  readonly interrupted: boolean
  /** Whether a message started the turn. If not, the agent started the turn by itself. */
  readonly startedByMessage: boolean
}

export type ResumePlan =
  /** Connect, and let the agent continue its turn. If `call` is set, the turn continues at that call. */
  | { readonly kind: 'continue'; readonly call?: string }
  /** Send the message again, because the agent never received it. An equal call gets the recorded answer, once. */
  | { readonly kind: 'message' }
  /** Send the message again to an agent that repeats its turn from the start and opens its requests under the same keys. */
  | { readonly kind: 'replay' }
  /** Tell the agent in a message what was decided. An equal call gets the recorded answer, once. */
  | { readonly kind: 'summary' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly reason: string }
