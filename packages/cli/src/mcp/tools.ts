/** The tools of `holdpoint mcp`: how the arguments of a call become an ask, and how the answer becomes the text of its result. */
import { type HandedAnswer, nobodyAnswered, promptToolAsk, promptToolReply, unknownOutcome } from '@holdpoint/drivers'
import type { Ask, JsonObject } from '@holdpoint/protocol'
import type { ListToolsResult } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import type { AnsweredCall } from './client-session.ts'
import { setVariableTool } from './set-variable.ts'
import { mcpTexts } from './texts.ts'

const AskPerson = z.object({
  question: z.string().min(1).describe('The question, in full sentences.'),
  header: z.string().optional().describe('A heading of a few words.'),
  options: z
    .array(z.object({ label: z.string().min(1), description: z.string().optional() }))
    .optional()
    .describe('Answers to choose from.'),
  multiple: z.boolean().optional().describe('Whether the person can choose several options.'),
})
const RequestApproval = z.object({
  tool_name: z.string().min(1).describe('The name of the tool, for example Bash.'),
  input: z.record(z.string(), z.unknown()).describe('The complete input of the tool.'),
  tool_use_id: z.string().optional().describe('Your id of the call.'),
  reason: z.string().optional().describe('Why you want to do this.'),
})

/** A call of a tool: the ask that its arguments become, and the text of its result. */
export interface PreparedCall {
  readonly ask: Ask
  reply(answered: AnsweredCall): string
}
interface Tool {
  readonly description: string
  readonly schema: z.ZodType
  /** Throws a ZodError if the arguments are not valid. */
  prepare(input: unknown, cwd: string): PreparedCall
}

function defineTool<A>(
  description: string,
  schema: z.ZodType<A>,
  prepare: (args: A, cwd: string) => PreparedCall,
): Tool {
  return { description, schema, prepare: (input, cwd) => prepare(schema.parse(input), cwd) }
}

const askPerson = defineTool(
  mcpTexts.askPerson,
  AskPerson,
  ({ question, header = '', options = [], multiple = false }) => {
    const choices = options.map(({ label, description }) => ({ label, ...(description ? { description } : {}) }))
    const only = { id: 'answer', header, question, options: choices, multiSelect: multiple }
    return {
      ask: { kind: 'questions', questions: [{ ...only, allowOther: true, secret: false }] },
      reply: ({ handed }) => answerText(handed),
    }
  },
)
const requestApproval = defineTool(
  mcpTexts.requestApproval,
  RequestApproval,
  ({ tool_name: tool, input, reason }, cwd) => {
    const prompted = { tool, input: input as JsonObject, cwd, reason } // the SDK has parsed it from JSON
    return {
      ask: promptToolAsk(prompted),
      reply: ({ handed, key }) => JSON.stringify(promptToolReply(handed, key, prompted)),
    }
  },
)
const tools: Readonly<Record<string, Tool>> = { ask_person: askPerson, request_approval: requestApproval }

function answerText(handed: HandedAnswer): string {
  if (handed.kind === 'nobody') return nobodyAnswered
  if (handed.kind === 'agent') return mcpTexts.notAnswered
  if (handed.kind === 'unknown') return unknownOutcome
  const { answer } = handed
  if (answer.kind === 'answers') {
    const { chosen = [], other } = answer.answers[0] ?? {}
    return [...chosen, ...(other === undefined ? [] : [other])].join('\n')
  }
  return answer.kind === 'decline' && answer.reason ? mcpTexts.declinedBecause(answer.reason) : mcpTexts.declined
}

/** Clients can call the tools that ask and wait, or ask for a task. */
export const toolList: ListToolsResult = {
  tools: [
    ...Object.entries(tools).map(([name, { description, schema }]) => ({
      name,
      description,
      inputSchema: z.toJSONSchema(schema, { io: 'input' }) as { type: 'object' }, // the schemas are objects
      execution: { taskSupport: 'optional' as const },
    })),
    setVariableTool,
  ],
}

/** Thrown if a call names no tool, or if its arguments are not valid. */
export class BadCall extends Error {
  override readonly name = 'BadCall'
}

export function prepareCall(name: string, input: JsonObject, cwd: string): PreparedCall {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
  if (!tool) throw new BadCall(mcpTexts.unknownTool(name))
  try {
    return tool.prepare(input, cwd)
  } catch (error) {
    if (error instanceof z.ZodError) throw new BadCall(mcpTexts.badArguments(z.prettifyError(error)))
    throw error
  }
}
