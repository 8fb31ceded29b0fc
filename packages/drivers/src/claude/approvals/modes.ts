/** A table of what the CLI does with each kind of call in each permission mode. The values are measured, and a test checks every row against the real CLI. */
import type { PermissionMode } from '@anthropic-ai/claude-agent-sdk'

/** What the CLI does with a call: it calls canUseTool (`asks`), runs the call without asking (`runs`), or refuses the call without asking (`refuses`). */
export type Behavior = 'asks' | 'runs' | 'refuses'
/** Kinds of call that the modes treat differently. `write` and `read` are shell commands, `edit` is a file edit, `exitPlan` leaves plan mode. */
export type CallKind = 'question' | 'write' | 'read' | 'edit' | 'destructive' | 'exitPlan'
export type Mode = Exclude<PermissionMode, 'auto'>

export const modes: Readonly<Record<Mode, Readonly<Record<CallKind, Behavior>>>> = {
  default: { question: 'asks', write: 'asks', read: 'runs', edit: 'asks', destructive: 'asks', exitPlan: 'refuses' },
  acceptEdits: {
    question: 'asks',
    write: 'runs',
    read: 'runs',
    edit: 'runs',
    destructive: 'asks',
    exitPlan: 'refuses',
  },
  bypassPermissions: {
    question: 'asks',
    write: 'runs',
    read: 'runs',
    edit: 'runs',
    destructive: 'asks',
    exitPlan: 'refuses',
  },
  plan: { question: 'asks', write: 'refuses', read: 'runs', edit: 'asks', destructive: 'refuses', exitPlan: 'asks' },
  dontAsk: {
    question: 'refuses',
    write: 'refuses',
    read: 'runs',
    edit: 'refuses',
    destructive: 'refuses',
    exitPlan: 'refuses',
  },
}

export const modeNames = Object.keys(modes) as readonly Mode[] // `modes` is a literal, so it has no other keys

export function isMode(name: unknown): name is Mode {
  return typeof name === 'string' && Object.hasOwn(modes, name)
}

/** Returns the modes that a session can enter. */
export function availableModes(mayBypass: boolean): readonly Mode[] {
  return modeNames.filter(mode => mayBypass || mode !== 'bypassPermissions')
}

/** Returns the mode in which to resume a session: the session's current mode if it is available, otherwise the last mode of the CLI if that is available, otherwise `default`. */
export function resumeMode(current: string, last: string | undefined, mayBypass: boolean): Mode {
  const available = availableModes(mayBypass)
  return available.find(mode => mode === current) ?? available.find(mode => mode === last) ?? 'default'
}
