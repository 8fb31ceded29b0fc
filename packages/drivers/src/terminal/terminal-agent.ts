/** What the hooks of an agent report and can reply, in words that are the same for every agent. Each agent has a file beside this one that converts its own shapes. */
import type { Ask, Capability, JsonObject, ToolCall } from '@holdpoint/protocol'

interface EventBase {
  /** The agent's own id of the conversation. */
  readonly conversation: string
  readonly cwd: string
  readonly mode?: string | undefined
  /** The names of the subagents down to the one that makes the call. */
  readonly agentPath: readonly string[]
}
export interface CallEvent extends EventBase {
  readonly tool: string
  readonly input: JsonObject
}
export type TerminalEvent =
  | (EventBase & {
      readonly kind: 'prompt'
      readonly text: string
      /** The agent's name of the event. */
      readonly name: string
    })
  /** A call is about to run. `id` is null if the agent gives its calls no ids. */
  | (CallEvent & { readonly kind: 'before'; readonly id: string | null })
  /** The agent asks for a permission, and the hook can answer. */
  | (CallEvent & {
      readonly kind: 'permission'
      readonly description?: string | undefined
      /** What the agent could remember with an answer, in its own form. */
      readonly suggestions: readonly unknown[]
    })
  /** The agent asks in its terminal, and no hook can answer. */
  | (EventBase & { readonly kind: 'asking'; readonly message: string })
  | (CallEvent & {
      readonly kind: 'after'
      readonly id: string | null
      /** Null if the agent does not tell its hooks whether the call succeeded. */
      readonly ok: boolean | null
      readonly output: unknown
      /** The agent's name of the event. */
      readonly name: string
    })
  | (EventBase & { readonly kind: 'stop'; readonly text: string })
  /** The turn of the main agent or of a subagent ended with an error. */
  | (EventBase & { readonly kind: 'failed'; readonly code: string; readonly message: string })
  | (EventBase & { readonly kind: 'interrupt' })
  | (EventBase & { readonly kind: 'end' })
export type TerminalEventOf<K extends TerminalEvent['kind']> = Extract<TerminalEvent, { readonly kind: K }>

/** The same as the type of Claude Code's SDK. The SDK is optional, and a program without the SDK must compile, too. */
export type PermissionResult =
  | {
      readonly behavior: 'allow'
      readonly updatedInput?: Readonly<Record<string, unknown>>
      readonly updatedPermissions?: readonly unknown[]
    }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean }

/** What a hook tells its agent. Without a reply, the agent continues as usual. */
export type TerminalReply =
  | { readonly kind: 'deny'; readonly reason: string }
  /** The agent must ask the person in its terminal. */
  | { readonly kind: 'ask'; readonly reason: string }
  /** The call runs with the input that the person edited. */
  | { readonly kind: 'edit'; readonly input: JsonObject }
  /** The answer to a permission, in the form of Claude Code's SDK. */
  | { readonly kind: 'permission'; readonly result: PermissionResult }
  /** Text that the model reads beside a message or the result of a call. `event` is the agent's name of the event. */
  | { readonly kind: 'context'; readonly event: string; readonly text: string }
  /** The message is refused, or the agent may not stop and continues with the reason as its next message. */
  | { readonly kind: 'block'; readonly reason: string }

/** An agent that a person runs in their own terminal. */
export interface TerminalAgent {
  readonly title: string
  /** What a person can do in a session of this agent. Nobody can give it messages or interrupt it. */
  readonly capabilities: readonly Capability[]
  /** The hooks that `holdpoint hook install` adds: the agent's name of each event, and the fields of the entry in its settings. */
  readonly hooks: Readonly<Record<string, JsonObject>>
  /** The agent's name of the event before a call. */
  readonly beforeHook: string
  /** Whether a hook can answer what the agent asks in its terminal. */
  readonly canAnswer: boolean
  /** Whether a hook before a call can make the agent ask in its terminal. */
  readonly canMakeAsk: boolean
  /** Returns null for an input that is not that of a known hook. */
  parse(text: string): TerminalEvent | null
  /** Returns the JSON that the hook prints. */
  format(reply: TerminalReply): JsonObject
  /** Returns what a call does, as far as its input shows it. */
  describe(call: Pick<CallEvent, 'tool' | 'input' | 'cwd'>): ToolCall
  askFor(event: CallEvent & Partial<Pick<TerminalEventOf<'permission'>, 'description' | 'suggestions'>>): Ask
}

/** What every agent with hooks can do. */
export const hookCapabilities: readonly Capability[] = [
  'approvals',
  'concurrentRequests',
  'denyAndContinue',
  'note',
  'checksEveryTool',
]

/** The longest time, in seconds, that a hook waits for a person, who may answer days later. Node cannot wait longer than 24.8 days. */
export const waitingSeconds = 24 * 24 * 3600
/** The longest time, in seconds, that a hook may take if it only reports. */
export const reportingSeconds = 10
