/** What a person reads of a session: one entry for each thing that was said, done or asked. */
import type { Attachment, Event, JsonObject, Request, RequestId } from '@holdpoint/protocol'

interface Common {
  readonly id: string
  readonly at: number
}
export interface MessageEntry extends Common {
  readonly kind: 'message'
  readonly role: 'agent' | 'person'
  readonly text: string
  readonly streaming: boolean
  /** Cut off by an ask, an interrupt or an end. */
  readonly partial: boolean
  readonly agentPath: readonly string[]
  readonly by?: string
  readonly attachments?: readonly Attachment[]
  /** Of what a person says: how far it has come. */
  readonly fate?: 'waiting' | 'taken' | 'done' | 'failed'
  readonly problem?: string
}
export interface ToolEntry extends Common {
  readonly kind: 'tool'
  readonly tool: string
  readonly title?: string
  /** Null while it is still being written. */
  readonly input: JsonObject | null
  readonly inputText: string
  readonly state: 'preparing' | 'running' | 'ok' | 'failed'
  readonly endedAt?: number
  readonly output?: unknown
  readonly agentPath: readonly string[]
}
export interface RequestEntry extends Common {
  readonly kind: 'request'
  readonly id: RequestId
  readonly request: Request
  readonly agentPath: readonly string[]
}
type TurnFinished = Extract<Event, { type: 'turn.finished' }>
export interface TurnEntry extends Common {
  readonly kind: 'turn'
  readonly ending: TurnFinished['ending']
  readonly usage?: TurnFinished['usage']
  readonly cost?: TurnFinished['cost']
}
export interface ErrorEntry extends Common {
  readonly kind: 'error'
  readonly message: string
  readonly code?: string
}
/** Our own words: the session was opened, parked, brought back, ended, changed. */
export interface NoteEntry extends Common {
  readonly kind: 'note'
  readonly text: string
}
export type Entry = MessageEntry | ToolEntry | RequestEntry | TurnEntry | ErrorEntry | NoteEntry
