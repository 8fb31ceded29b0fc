/** Extracts from transcript rows which messages were received, which calls have no result, and what the conversation has cost, so that the rows need not stay in memory. The row format belongs to the CLI, so every field is checked. */
import type { SessionStoreEntry } from '@anthropic-ai/claude-agent-sdk'
import type { JsonObject } from '@holdpoint/protocol'
import { blocksIn, isRecord } from '../cli/content-blocks.ts'

/** A tool call of the main agent that has no result in the transcript. */
export interface ToolCall {
  readonly id: string
  readonly tool: string
  readonly input: JsonObject
  /** The transcript row that contains the call, without the row's message. */
  readonly row: SessionStoreEntry
}

export class TranscriptIndex {
  readonly #messages = new Set<string>()
  readonly #openCalls = new Map<string, ToolCall>()
  #assistantId: unknown
  #callCount = 0
  #deferredCallId: string | null = null
  #bytesSinceCall = 0
  #totalCost: number | null = null
  #lastRowUuid: string | null = null

  /** Calls in the model's latest message that have no result, in order. */
  get openCalls(): readonly ToolCall[] {
    return [...this.#openCalls.values()]
  }
  /** Whether the model's latest message contains exactly one call. */
  get hasSingleCall(): boolean {
    return this.#callCount === 1
  }
  /** The call that the CLI has recorded as deferred. On its next start, the CLI asks for that call again. */
  get deferredCallId(): string | null {
    return this.#deferredCallId
  }
  /** The approximate number of bytes written to the transcript since the first open call. */
  get bytesSinceCall(): number {
    return this.#bytesSinceCall
  }
  /** The total cost of the conversation in US dollars, as last recorded by the CLI. */
  get totalCost(): number | null {
    return this.#totalCost
  }
  get lastRowUuid(): string | null {
    return this.#lastRowUuid
  }
  get hasMessages(): boolean {
    return this.#messages.size > 0
  }
  hasMessage(uuid: string): boolean {
    return this.#messages.has(uuid)
  }

  add(entry: SessionStoreEntry): void {
    if (entry.isSidechain === true) return
    if (entry.uuid) this.#lastRowUuid = entry.uuid
    if (this.#openCalls.size > 0) this.#bytesSinceCall += JSON.stringify(entry).length
    if (entry.type === 'assistant') this.#addAssistant(entry)
    else if (entry.type === 'user') this.#addUser(entry)
    else if (entry.type === 'attachment') this.#addAttachment(entry.attachment)
    else if (entry.type === 'cost-state' && typeof entry.totalCostUSD === 'number') this.#totalCost = entry.totalCostUSD
  }

  #addAssistant(entry: SessionStoreEntry): void {
    const { message, ...row } = entry
    const { id, content } = isRecord(message) ? message : {}
    // This is a new message of the model, so open calls of the previous message will never get a result.
    if (id !== this.#assistantId) this.#reset()
    this.#assistantId = id
    for (const block of blocksIn(content))
      if (block.type === 'tool_use' && typeof block.id === 'string' && typeof block.name === 'string') {
        this.#callCount++
        const input = isRecord(block.input) ? (block.input as JsonObject) : {} // rows are parsed JSON, so an object in a row is a JSON object
        this.#openCalls.set(block.id, { id: block.id, tool: block.name, input, row })
      }
  }

  #addAttachment(attachment: unknown): void {
    if (!isRecord(attachment) || attachment.type !== 'hook_deferred_tool') return
    if (typeof attachment.toolUseID === 'string') this.#deferredCallId = attachment.toolUseID
  }

  #addUser(entry: SessionStoreEntry): void {
    const content = isRecord(entry.message) ? entry.message.content : undefined
    const results = blocksIn(content).filter(block => block.type === 'tool_result')
    for (const { tool_use_id: id } of results) this.#openCalls.delete(String(id))
    if (results.length > 0 || entry.isMeta === true) return
    this.#reset()
    if (entry.uuid) this.#messages.add(entry.uuid)
  }

  #reset(): void {
    this.#openCalls.clear()
    this.#callCount = 0
    this.#deferredCallId = null
    this.#bytesSinceCall = 0
  }
}
