/** The one-line summary of a tool call, and its result as text. */
import { singleLine, type ToolEntry, viewOf } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'

/** Input properties that describe a call, most descriptive first. */
const descriptiveKeys = ['description', 'query', 'pattern', 'url', 'path', 'prompt', 'name']
const summaryMax = 300

/** Returns a one-line summary of a tool call. The summary is untrusted text, so display it with `InlineAgentText`. */
export function toolSummary({ title, input, inputText }: Pick<ToolEntry, 'title' | 'input' | 'inputText'>): string {
  const text = title || (input ? inputSummary(input) : inputText)
  const line = singleLine(text.slice(0, summaryMax).toWellFormed())
  return text.length > summaryMax ? `${line}…` : line
}

function inputSummary(input: JsonObject): string {
  const view = viewOf({ input })
  if (view.kind === 'command') return view.command
  if (view.kind === 'change') return view.path
  if (typeof input.file_path === 'string') return input.file_path
  const named = descriptiveKeys.map(name => input[name]).find(value => typeof value === 'string')
  return named ?? Object.values(input).find(value => typeof value === 'string') ?? ''
}

/** Returns a tool's output as one string if it is a string or an array of text blocks, otherwise null. */
export function outputText(output: unknown): string | null {
  if (typeof output === 'string') return output
  if (!Array.isArray(output) || output.length === 0) return null
  const texts = output.map(textOf)
  return texts.every(text => text !== null) ? texts.join('\n') : null
}

function textOf(part: unknown): string | null {
  const { type, text, ...rest } = Object(part) as { readonly type?: unknown; readonly text?: unknown } // Object() accepts any value; the properties are checked below
  return type === 'text' && typeof text === 'string' && Object.keys(rest).length === 0 ? text : null
}
