/** The tool `set_variable` of `holdpoint mcp`, with which an agent sets a variable of its own session. It asks nobody. */
import { messageOf, VariableName, VariableValue } from '@holdpoint/protocol'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { mcpTexts } from './texts.ts'

const SetVariable = z.object({ name: VariableName, value: VariableValue })

export const setVariableTool = {
  name: 'set_variable',
  description: mcpTexts.setVariable,
  inputSchema: z.toJSONSchema(SetVariable, { io: 'input' }) as { type: 'object' }, // the schema is an object
}

/** Sets the variable with `set`, which returns the value as it was stored. */
export async function callSetVariable(
  input: unknown,
  set: (name: string, value: VariableValue) => Promise<VariableValue>,
): Promise<CallToolResult> {
  const parsed = SetVariable.safeParse(input)
  if (!parsed.success) return reply(mcpTexts.badArguments(z.prettifyError(parsed.error)), true)
  const { name, value } = parsed.data
  try {
    return reply(mcpTexts.variableIsSet(name, await set(name, value)), false)
  } catch (error) {
    return reply(mcpTexts.variableNotSet(name, messageOf(error)), true)
  }
}

function reply(text: string, isError: boolean): CallToolResult {
  return { content: [{ type: 'text', text }], isError }
}
