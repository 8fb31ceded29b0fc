/** The one-line summary of a tool call, and its result as text. */
import type { JsonObject } from '@holdpoint/protocol'
import type { AskSummary } from './ask-view.ts'
import { singleLineCut } from './display-text.ts'
import { toolView } from './tool-view.ts'
import type { ToolEntry } from './transcript-entry.ts'

/** Input properties that describe a call, most descriptive first. */
const descriptiveKeys = ['file_path', 'query', 'pattern', 'url', 'path', 'prompt', 'name']
const summaryMax = 300

/** Returns a one-line summary of a tool call. It is not escaped, so show it with `shownSummary` or with `SummaryText` of the page. */
export function toolSummary({
  tool,
  title,
  input,
  inputText,
}: Pick<ToolEntry, 'tool' | 'title' | 'input' | 'inputText'>): AskSummary {
  if (title) return { ...singleLineCut(title, summaryMax), isCode: false }
  const { text, isCode } = input ? inputSummary(tool, input) : { text: inputText, isCode: true }
  return { ...singleLineCut(text, summaryMax), isCode }
}

function inputSummary(tool: string, input: JsonObject): { readonly text: string; readonly isCode: boolean } {
  const view = toolView({ tool, input })
  switch (view.kind) {
    case 'command':
      return { text: view.command, isCode: true }
    case 'changes':
      return { text: view.files.map(({ path }) => path).join(', '), isCode: true }
    case 'todo': {
      const done = view.items.filter(({ state }) => state === 'done').length
      const active = view.items.find(({ state }) => state === 'active')
      return { text: `${done}/${view.items.length}${active ? ` · ${active.text}` : ''}`, isCode: false }
    }
    case 'read':
    case 'list':
    case 'notebook':
      return { text: view.path, isCode: true }
    case 'search':
      return { text: [view.pattern, view.path, view.files].filter(part => part !== null).join('  '), isCode: true }
    case 'task':
      return { text: view.description || view.prompt, isCode: false }
    case 'fetch':
      return { text: view.url, isCode: true }
    case 'webSearch':
      return { text: view.query, isCode: false }
    case 'fields':
      return fieldSummary(input)
  }
}

function fieldSummary(input: JsonObject): { readonly text: string; readonly isCode: boolean } {
  if (typeof input.description === 'string') return { text: input.description, isCode: false }
  const named = descriptiveKeys.map(name => input[name]).find(value => typeof value === 'string')
  return { text: named ?? Object.values(input).find(value => typeof value === 'string') ?? '', isCode: true }
}

/** The tools with which agents ask people. Page and terminal show the questions in the request that such a call opens. */
const questionTools: ReadonlySet<string> = new Set(['AskUserQuestion', 'question'])

/** Returns whether the request that follows a call shows all of it. A call that failed may not have opened a request. */
export function isShownByRequest({ tool, input, state }: Pick<ToolEntry, 'tool' | 'input' | 'state'>): boolean {
  return state !== 'failed' && questionTools.has(tool) && Array.isArray(input?.questions)
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
