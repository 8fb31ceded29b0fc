/** Collects what the agent says about its request: the title, the description, and a command's own description. */
import { type AskView, actionLabel } from '@holdpoint/client'
import type { ApprovalAsk } from '@holdpoint/protocol'

/** Returns the agent's title, or null if the title only repeats what the card shows anyway, such as "Bash: npm test" above `npm test`. */
export function informativeTitle(ask: ApprovalAsk): string | null {
  if (ask.plan !== undefined) return null
  const title = ask.title.replace(/…$/, '').trim()
  const bare = title.startsWith(`${ask.tool}: `) ? title.slice(ask.tool.length + 2) : title
  const values = Object.values(ask.input).filter(value => typeof value === 'string')
  const shown = [actionLabel(ask), ask.tool, JSON.stringify(ask.input), ...values]
  const repeatsTitle = (line: string) => line.startsWith(bare) || line.endsWith(`/${bare}`)
  return shown.some(text => repeatsTitle(firstLine(text))) ? null : ask.title
}

export interface SplitDescription {
  /** The agent's statements, without duplicates. */
  readonly statements: readonly string[]
  /** The view of the request's content, without the statements. */
  readonly view: AskView
}

/** Separates the agent's statements from the content. A command's `description` parameter counts as a statement, because the shell runs only the command. */
export function splitDescription(ask: ApprovalAsk, view: AskView): SplitDescription {
  const description = view.kind === 'command' ? view.rest.description : undefined
  const isStatement = typeof description === 'string' && description.trim() !== ''
  const statements = [informativeTitle(ask), ask.description, isStatement ? description : null]
  const unique = [...new Set(statements.filter(text => text != null))]
  if (!isStatement || view.kind !== 'command') return { statements: unique, view }
  const { description: _, ...rest } = view.rest
  return { statements: unique, view: { ...view, rest } }
}

function firstLine(text: string): string {
  const trimmed = text.trimStart()
  const end = trimmed.indexOf('\n')
  return (end === -1 ? trimmed : trimmed.slice(0, end)).trimEnd()
}
