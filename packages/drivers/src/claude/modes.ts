/** The modes of Claude Code as data: what each means to a person, and what the CLI asks in it. Measured, and held by a test row by row. */
import type { PermissionMode } from '@anthropic-ai/claude-agent-sdk'

/** `asks`: it comes here; `runs`: the CLI lets it through; `refuses`: the CLI says no by itself. */
export type Conduct = 'asks' | 'runs' | 'refuses'
/** The kinds of call that modes tell apart. */
export type Deed = 'question' | 'change' | 'look' | 'edit' | 'ruin'
export type Mode = Exclude<PermissionMode, 'auto'>

export const modes: Readonly<Record<Mode, Readonly<Record<Deed, Conduct>>>> = {
  default: { question: 'asks', change: 'asks', look: 'runs', edit: 'asks', ruin: 'asks' },
  acceptEdits: { question: 'asks', change: 'runs', look: 'runs', edit: 'runs', ruin: 'asks' },
  bypassPermissions: { question: 'asks', change: 'runs', look: 'runs', edit: 'runs', ruin: 'asks' },
  plan: { question: 'asks', change: 'refuses', look: 'runs', edit: 'asks', ruin: 'refuses' },
  dontAsk: { question: 'refuses', change: 'refuses', look: 'runs', edit: 'refuses', ruin: 'refuses' },
}

export const modeNames = Object.keys(modes) as readonly Mode[] // the keys of a literal are its keyof

export function isMode(name: unknown): name is Mode {
  return typeof name === 'string' && Object.hasOwn(modes, name)
}
