/** The types of transcript entries. A transcript has one entry per message, tool call, request, turn, error or note. */
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
  /** Set while the message is streamed if its beginning is not known, because it was written before the client connected. An ellipsis stands for it. */
  readonly missesStart?: true
  /** Whether a request, an interrupt or the end of the session cut off the message. */
  readonly partial: boolean
  readonly agentPath: readonly string[]
  /** The name of the person who wrote the message; not set for messages of the agent. */
  readonly by?: string
  /** The id of the person who wrote the message, if known. */
  readonly byId?: string
  readonly attachments?: readonly Attachment[]
  /** Whether the agent has received the message; not set for messages of the agent. */
  readonly state?: 'waiting' | 'taken' | 'done' | 'failed'
  readonly problem?: string
}
export interface ToolEntry extends EntryBase {
  readonly kind: 'tool'
  readonly tool: string
  readonly title?: string
  /** The input of the tool. While the agent is still writing the input, `input` is null and `inputText` has the text so far. */
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
/** A note by Holdpoint, for example about a change of mode or the end of the session. */
export interface NoteEntry extends EntryBase {
  readonly kind: 'note'
  readonly text: string
  /** The name of the person with which the text begins, if it does. */
  readonly by?: string
  readonly byId?: string
}
export type Entry = MessageEntry | ToolEntry | RequestEntry | TurnEntry | ErrorEntry | NoteEntry
