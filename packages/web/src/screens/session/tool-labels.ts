/** The one-line summary of a tool call, and its result as text. */
import { type AskSummary, singleLineCut, type ToolEntry, viewOf } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'

/** Input properties that describe a call, most descriptive first. */
const descriptiveKeys = ['query', 'pattern', 'url', 'path', 'prompt', 'name']
const summaryMax = 300

/** Returns a one-line summary of a tool call. It is not escaped, so show it with `SummaryText`. */
export function toolSummary({ title, input, inputText }: Pick<ToolEntry, 'title' | 'input' | 'inputText'>): AskSummary {
  if (title) return { ...singleLineCut(title, summaryMax), isCode: false }
  const { text, isCode } = input ? inputSummary(input) : { text: inputText, isCode: true }
  return { ...singleLineCut(text, summaryMax), isCode }
}

function inputSummary(input: JsonObject): { readonly text: string; readonly isCode: boolean } {
  const view = viewOf({ input })
  if (view.kind === 'command') return { text: view.command, isCode: true }
  if (view.kind === 'change') return { text: view.path, isCode: true }
  if (typeof input.file_path === 'string') return { text: input.file_path, isCode: true }
  if (typeof input.description === 'string') return { text: input.description, isCode: false }
  const named = descriptiveKeys.map(name => input[name]).find(value => typeof value === 'string')
  return { text: named ?? Object.values(input).find(value => typeof value === 'string') ?? '', isCode: true }
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
