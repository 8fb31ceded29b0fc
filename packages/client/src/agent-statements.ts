/** Collects what the agent says about its request: the title, the description, and a command's own description. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import { type AskView, informativeTitle } from './ask-view.ts'

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
