/** Remembers which tools a server has declared as read-only in its last list of tools. */
import type { JSONRPCRequest, RequestId } from '@modelcontextprotocol/sdk/types.js'

export class ToolAnnotations {
  /** The ids of requests for the list, and whether each asks for its first page. */
  readonly #lists = new Map<RequestId, boolean>()
  #readOnly = new Set<string>()

  noteRequest({ id, method, params }: JSONRPCRequest): void {
    if (method === 'tools/list') this.#lists.set(id, params?.cursor === undefined)
  }

  noteReply(id: RequestId, result: { readonly [name: string]: unknown }): void {
    const isFirst = this.#lists.get(id)
    if (isFirst === undefined) return
    this.#lists.delete(id)
    if (isFirst) this.#readOnly = new Set()
    for (const tool of Array.isArray(result.tools) ? result.tools : [])
      if (tool?.annotations?.readOnlyHint === true) this.#readOnly.add(String(tool.name))
  }

  isReadOnly(tool: string): boolean {
    return this.#readOnly.has(tool)
  }
}
