/** What an approval says beside its content: what is worth repeating of its title, and what an offer to remember would mean. */
import { type AskView, actionLabel, summary } from '@holdpoint/client'
import type { ApprovalAsk } from '@holdpoint/protocol'

/** Null where the title only repeats what stands above it: "Bash: npm test" over `npm test`. */
export function titleWorthSaying(ask: ApprovalAsk): string | null {
  const title = ask.title.replace(/…$/, '').trim()
  const bare = title.startsWith(`${ask.tool}: `) ? title.slice(ask.tool.length + 2) : title
  const values = Object.values(ask.input).filter(value => typeof value === 'string')
  const shown = [actionLabel(ask), summary(ask), ask.plan ?? '', ask.tool, JSON.stringify(ask.input), ...values]
  const repeats = (line: string) => line.startsWith(bare) || line.endsWith(`/${bare}`)
  return shown.some(text => repeats(firstLine(text))) ? null : ask.title
}

export interface SplitDescription {
  /** In the agent's own words, each once. */
  readonly said: readonly string[]
  /** Without what was said. */
  readonly picture: AskView
}

/** What the agent says of what it wants: beside the ask, and in a command's own description, which no shell reads. */
export function splitDescription(ask: ApprovalAsk, picture: AskView): SplitDescription {
  const own = picture.kind === 'command' ? picture.rest.description : undefined
  const isSaid = typeof own === 'string' && own.trim() !== ''
  const said = [titleWorthSaying(ask), ask.description, isSaid ? own : null].filter(text => text != null)
  if (!isSaid || picture.kind !== 'command') return { said: [...new Set(said)], picture }
  const { description: _said, ...rest } = picture.rest
  return { said: [...new Set(said)], picture: { ...picture, rest } }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? ''
}

const scopes: Readonly<Record<string, string>> = {
  session: 'Ends with this session.',
  localSettings: 'Kept in this folder’s own settings: it holds for you, there, until you take it back.',
  projectSettings: 'Kept in the project’s settings: it holds for everyone who works in it.',
  userSettings: 'Kept in your settings: it holds in every folder, until you take it back.',
}

/** The scope in a sentence; null where it is one that we do not know. */
export function scopeLabel(scope: string): string | null {
  return Object.hasOwn(scopes, scope) ? (scopes[scope] ?? null) : null
}

const modes: Readonly<Record<string, string>> = {
  default: 'asks before it changes anything',
  acceptEdits: 'changes files without asking',
  bypassPermissions: 'does everything without asking',
  plan: 'goes on planning',
  dontAsk: 'is refused what it would have to ask for',
}

/** What a mode means, where its name is one that we know. */
export function modeLabel(mode: string): string {
  return Object.hasOwn(modes, mode) ? `${mode}: ${modes[mode]}` : mode
}
