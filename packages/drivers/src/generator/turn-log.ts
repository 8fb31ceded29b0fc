/** Reads a session's log for the conversation so far and for what the current turn has already recorded. Every turn starts by reading the log, so a replay needs no special code path. */
import { type Command, type CommandId, type Cursor, type Event, isGatewayRequest } from '@holdpoint/protocol'
import type { StepRecord } from './step.ts'

export interface SpokenBlock {
  readonly role: 'agent' | 'person'
  readonly text: string
}

/** The blocks and asks of one turn that the log already contains, by block id and ask key. */
export interface RecordedTurn {
  readonly command: CommandId
  readonly seq: number
  readonly mode: string | null
  readonly model: string | null
  readonly history: readonly SpokenBlock[]
  readonly texts: Map<string, { readonly partial: boolean }>
  readonly started: Set<string>
  readonly finished: Map<string, StepRecord>
  readonly asked: Set<string>
  errors: number
}

export class TurnLog {
  /** Cursor of the last event that was read. */
  cursor: Cursor | undefined
  turn: RecordedTurn | null = null
  #mode: string | null = null
  #model: string | null = null
  readonly #blocks = new Map<string, SpokenBlock>()
  readonly #messages = new Map<CommandId, Pick<Command, 'seq'> & { readonly text: string }>()

  fold(event: Event): void {
    this.cursor = event.cursor
    switch (event.type) {
      case 'session.opened':
      case 'session.changed':
        this.#mode = event.value.mode
        this.#model = event.value.model
        return
      case 'command.added':
        if (event.value.body.kind === 'message')
          this.#messages.set(event.value.id, { seq: event.value.seq, text: event.value.body.text })
        return
      case 'command.taken':
        this.#begin(event.command)
        return
      case 'message.added':
        this.#blocks.set(event.block, { role: event.role, text: event.text })
        this.turn?.texts.set(event.block, { partial: event.partial ?? false })
        return
      case 'tool.started':
        this.turn?.started.add(event.block)
        return
      case 'tool.finished':
        this.turn?.finished.set(event.block, { ok: event.ok, output: event.output })
        return
      case 'request.opened':
        if (!isGatewayRequest(event.value)) this.turn?.asked.add(event.value.key)
        return
      case 'error.raised':
        if (this.turn) this.turn.errors++
    }
  }

  #begin(command: CommandId): void {
    const message = this.#messages.get(command)
    if (!message) return
    this.turn = {
      command,
      seq: message.seq,
      mode: this.#mode,
      model: this.#model,
      history: [...this.#blocks.values()],
      texts: new Map(),
      started: new Set(),
      finished: new Map(),
      asked: new Set(),
      errors: 0,
    }
    this.#blocks.set(`t${message.seq}`, { role: 'person', text: message.text })
    this.#messages.delete(command)
  }
}
