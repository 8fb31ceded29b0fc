/** What can be read off the rows of a transcript without keeping them: which messages it holds, which calls have no result, what it has cost. The rows' shape is the CLI's own affair, so everything is looked at twice before it is believed. */
import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk'
import type { JsonObject } from '@holdpoint/protocol'

/** A tool use of the main agent that has no result on record. */
export interface ToolCall {
  readonly id: string
  readonly tool: string
  readonly input: JsonObject
  /** The row that holds it, without the message. */
  readonly row: SessionStoreEntry
}

export class TranscriptIndex {
  readonly #messages = new Set<string>()
  readonly #open = new Map<string, ToolCall>()
  #assistant: unknown
  #calls = 0
  #deferred: string | null = null
  #bytes = 0
  #cost: number | null = null
  #lastUuid: string | null = null

  /** Calls of the newest message of the model that have no result, in order. */
  get open(): readonly ToolCall[] {
    return [...this.#open.values()]
  }
  /** Whether the newest message of the model makes one call and no other. */
  get single(): boolean {
    return this.#calls === 1
  }
  /** The call that the CLI has put off by itself: on its next start it asks for it again. */
  get deferred(): string | null {
    return this.#deferred
  }
  /** How much has been written since the first of them. */
  get bytesSince(): number {
    return this.#bytes
  }
  /** The running total of the conversation, as the CLI noted it last. */
  get cost(): number | null {
    return this.#cost
  }
  get lastUuid(): string | null {
    return this.#lastUuid
  }
  get hasMessages(): boolean {
    return this.#messages.size > 0
  }
  hasMessage(uuid: string): boolean {
    return this.#messages.has(uuid)
  }

  add(entry: SessionStoreEntry): void {
    if (entry.isSidechain === true) return
    if (entry.uuid) this.#lastUuid = entry.uuid
    if (this.#open.size > 0) this.#bytes += JSON.stringify(entry).length
    if (entry.type === 'assistant') this.#addAssistant(entry)
    else if (entry.type === 'user') this.#addUser(entry)
    else if (entry.type === 'attachment') this.#addAttachment(Object(entry.attachment))
    else if (entry.type === 'cost-state' && typeof entry.totalCostUSD === 'number') this.#cost = entry.totalCostUSD
  }

  #addAssistant(entry: SessionStoreEntry): void {
    const { message, ...row } = entry
    const { id } = Object(message)
    // A new message of the model: what the one before had left open it will not come back to.
    if (id !== this.#assistant) this.#forget()
    this.#assistant = id
    for (const block of contentOf(message))
      if (block.type === 'tool_use' && typeof block.id === 'string' && typeof block.name === 'string') {
        this.#calls++
        this.#open.set(block.id, { id: block.id, tool: block.name, input: Object(block.input), row })
      }
  }

  #addAttachment({ type, toolUseID }: { readonly type?: unknown; readonly toolUseID?: unknown }): void {
    if (type === 'hook_deferred_tool' && typeof toolUseID === 'string') this.#deferred = toolUseID
  }

  #addUser(entry: SessionStoreEntry): void {
    const results = contentOf(entry.message).filter(block => block.type === 'tool_result')
    for (const { tool_use_id: id } of results) this.#open.delete(String(id))
    if (results.length > 0 || entry.isMeta === true) return
    this.#forget()
    if (entry.uuid) this.#messages.add(entry.uuid)
  }

  #forget(): void {
    this.#open.clear()
    this.#calls = 0
    this.#deferred = null
    this.#bytes = 0
  }
}

function contentOf(message: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { content } = Object(message)
  return Array.isArray(content) ? content.map(block => Object(block)) : []
}
