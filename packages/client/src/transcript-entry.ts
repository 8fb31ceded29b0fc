/** The entries of a transcript: one per message, tool call, request, turn, error or note. */
import type { Attachment, Event, JsonObject, Request, RequestId } from '@holdpoint/protocol'

interface EntryBase {
  readonly id: string
  readonly at: number
}
export interface MessageEntry extends EntryBase {
  readonly kind: 'message'
  readonly role: 'agent' | 'person'
  readonly text: string
  readonly streaming: boolean
  /** The message was cut off by a request, an interrupt or the end of the session. */
  readonly partial: boolean
  readonly agentPath: readonly string[]
  /** Who wrote it, for messages of people. */
  readonly by?: string
  readonly attachments?: readonly Attachment[]
  /** For messages of people: whether the agent has received it. */
  readonly state?: 'waiting' | 'taken' | 'done' | 'failed'
  readonly problem?: string
}
export interface ToolEntry extends EntryBase {
  readonly kind: 'tool'
  readonly tool: string
  readonly title?: string
  /** Null while the agent is still writing it; `inputText` has the text so far. */
  readonly input: JsonObject | null
  readonly inputText: string
  readonly state: 'preparing' | 'running' | 'ok' | 'failed'
  readonly endedAt?: number
  readonly output?: unknown
  readonly agentPath: readonly string[]
}
export interface RequestEntry extends EntryBase {
  readonly kind: 'request'
  readonly id: RequestId
  readonly request: Request
  readonly agentPath: readonly string[]
}
type TurnFinished = Extract<Event, { type: 'turn.finished' }>
export interface TurnEntry extends EntryBase {
  readonly kind: 'turn'
  readonly ending: TurnFinished['ending']
  readonly usage?: TurnFinished['usage']
  readonly cost?: TurnFinished['cost']
}
export interface ErrorEntry extends EntryBase {
  readonly kind: 'error'
  readonly message: string
  readonly code?: string
}
/** Holdpoint's own note, such as a change of mode or the end of the session. */
export interface NoteEntry extends EntryBase {
  readonly kind: 'note'
  readonly text: string
}
export type Entry = MessageEntry | ToolEntry | RequestEntry | TurnEntry | ErrorEntry | NoteEntry
