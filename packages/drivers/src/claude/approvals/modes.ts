/** The modes of Claude Code as data: what each means to a person, and what the CLI asks in it. Measured, and held by a test row by row. */
import type { PermissionMode } from '@anthropic-ai/claude-agent-sdk'

/** `asks`: it comes here; `runs`: the CLI lets it through; `refuses`: the CLI says no by itself. */
export type Behavior = 'asks' | 'runs' | 'refuses'
/** The kinds of call that modes tell apart; `leave`: of the mode itself, with a plan. */
export type CallKind = 'question' | 'change' | 'look' | 'edit' | 'ruin' | 'leave'
export type Mode = Exclude<PermissionMode, 'auto'>

export const modes: Readonly<Record<Mode, Readonly<Record<CallKind, Behavior>>>> = {
  default: { question: 'asks', change: 'asks', look: 'runs', edit: 'asks', ruin: 'asks', leave: 'refuses' },
  acceptEdits: { question: 'asks', change: 'runs', look: 'runs', edit: 'runs', ruin: 'asks', leave: 'refuses' },
  bypassPermissions: { question: 'asks', change: 'runs', look: 'runs', edit: 'runs', ruin: 'asks', leave: 'refuses' },
  plan: { question: 'asks', change: 'refuses', look: 'runs', edit: 'asks', ruin: 'refuses', leave: 'asks' },
  dontAsk: { question: 'refuses', change: 'refuses', look: 'runs', edit: 'refuses', ruin: 'refuses', leave: 'refuses' },
}

export const modeNames = Object.keys(modes) as readonly Mode[] // the keys of a literal are its keyof

export function isMode(name: unknown): name is Mode {
  return typeof name === 'string' && Object.hasOwn(modes, name)
}

/** Why bypassPermissions cannot be entered, and what to do. */
export const noBypass =
  'bypassPermissions is only for a session that was started in it, or with the option allowBypass; start such a one'

/** Those that a session can be in. */
export function availableModes(mayBypass: boolean): readonly Mode[] {
  return modeNames.filter(mode => mayBypass || mode !== 'bypassPermissions')
}

/** The mode that a session goes on in: the one that it shows, where it can; else the one that it was in last. */
export function resumeMode(shown: string, last: string | undefined, mayBypass: boolean): Mode {
  const open = availableModes(mayBypass)
  return open.find(mode => mode === shown) ?? open.find(mode => mode === last) ?? 'default'
}
