/** The tool with which Claude Code sets variables of its session. Claude Code gets it only if a file with watchers declares a variable as the agent's. */
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import { Fault, type Variable, VariableName, VariableValue } from '@holdpoint/protocol'
import { variableTexts } from '../messages.ts'
import type { Sdk } from '../setup/sdk.ts'

export interface VariableToolOptions {
  /** The variables that the agent may set. */
  readonly variables: readonly Variable[]
  readonly setVariable: (name: string, value: VariableValue) => Promise<VariableValue>
}

const server = 'holdpoint-session'
const name = 'set_variable'
/** Claude Code's own name of the tool. */
export const variableToolName = `mcp__${server}__${name}`

export function variableServers(sdk: Sdk, options: VariableToolOptions): NonNullable<Options['mcpServers']> {
  const { variables, setVariable } = options
  if (variables.length === 0) return {}
  const shape = { name: VariableName, value: VariableValue }
  const tool = sdk.tool(name, variableTexts.description(variables), shape, async args => {
    try {
      return result(variableTexts.isSet(args.name, await setVariable(args.name, args.value)), false)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return result(error.message, true)
    }
  })
  return { [server]: sdk.createSdkMcpServer({ name: server, tools: [tool], alwaysLoad: true }) }
}

/** Whether the tool would set the same variables. Their values do not matter. */
export function areSameVariables(a: readonly Variable[], b: readonly Variable[]): boolean {
  return variableTexts.description(a) === variableTexts.description(b)
}

function result(text: string, isError: boolean) {
  return { content: [{ type: 'text' as const, text }], isError }
}
