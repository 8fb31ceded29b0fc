/** What a tool call is about, in a line, and what came of it as text. */
import { singleLine, type ToolEntry, viewOf } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'

/** Members that say what a call is about, in the order in which they say it best. */
const telling = ['description', 'query', 'pattern', 'url', 'path', 'prompt', 'name']
const aboutMax = 300

/** In one line of the agent's words: not yet shown. */
export function aboutTool({ title, input, inputText }: Pick<ToolEntry, 'title' | 'input' | 'inputText'>): string {
  const text = title || (input ? aboutInput(input) : inputText)
  const line = singleLine(text.slice(0, aboutMax).toWellFormed())
  return text.length > aboutMax ? `${line}…` : line
}

function aboutInput(input: JsonObject): string {
  const picture = viewOf({ input })
  if (picture.kind === 'command') return picture.command
  if (picture.kind === 'change') return picture.path
  if (typeof input.file_path === 'string') return input.file_path
  const named = telling.map(name => input[name]).find(value => typeof value === 'string')
  return named ?? Object.values(input).find(value => typeof value === 'string') ?? ''
}

/** A result as one text: agents give it as text, as a list of texts, or as JSON. Null: JSON. */
export function outputText(output: unknown): string | null {
  if (typeof output === 'string') return output
  if (!Array.isArray(output) || output.length === 0) return null
  const texts = output.map(textOf)
  return texts.every(text => text !== null) ? texts.join('\n') : null
}

function textOf(part: unknown): string | null {
  const { type, text, ...rest } = Object(part) as { readonly type?: unknown; readonly text?: unknown } // any value has members, or not
  return type === 'text' && typeof text === 'string' && Object.keys(rest).length === 0 ? text : null
}
