/** Reads the content blocks of messages that the CLI wrote. The format is not guaranteed, so every field is checked. */

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function blocksIn(content: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(content) ? content.filter(isRecord) : []
}

export interface ToolResult {
  readonly id: string
  readonly failed: boolean
  readonly content: unknown
}
export function toolResultsIn(content: unknown): readonly ToolResult[] {
  return blocksIn(content).flatMap(block =>
    block.type === 'tool_result' && typeof block.tool_use_id === 'string'
      ? [{ id: block.tool_use_id, failed: block.is_error === true, content: block.content }]
      : [],
  )
}
