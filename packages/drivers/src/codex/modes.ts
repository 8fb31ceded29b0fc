/** The modes of Codex: how often it asks, and what its sandbox allows commands that run without a question. */
import { canonicalJson } from '@holdpoint/protocol'
import type { ThreadSettings } from './wire.ts'

const workspaceProfile = 'holdpoint-workspace'
/** A conversation must start with this profile. If it starts with one that can write, Codex notes in the person's settings that the folder is trusted, and runs the hooks and MCP servers that the folder names. */
export const startProfile = 'holdpoint-read-only'

/**
 * Returns the arguments of the app-server that define the profiles of its sandbox. Commands in the sandbox have no
 * network, and therefore cannot reach the socket over which people answer. They can read all files but those in the
 * protected folder.
 */
export function profileArguments(protectedFolder: string | undefined): readonly string[] {
  const filesystem =
    protectedFolder === undefined ? '' : `, filesystem = { ${JSON.stringify(protectedFolder)} = "deny" }`
  const profiles = [
    [workspaceProfile, ':workspace'],
    [startProfile, ':read-only'],
  ].map(([name, base]) => `${name} = { extends = "${base}"${filesystem} }`)
  return ['-c', `default_permissions = "${startProfile}"`, '-c', `permissions = { ${profiles.join(', ')} }`]
}

/**
 * - `ask`: asks before every command and every change of a file
 * - `auto`: commands and changes inside the folder run in the sandbox without a question; Codex asks before it leaves the sandbox
 * - `read-only`: like `auto`, but the sandbox can change nothing
 * - `full-access`: never asks, and has no sandbox
 */
const modes = {
  ask: { approvalPolicy: 'untrusted', permissions: workspaceProfile },
  auto: { approvalPolicy: 'on-request', permissions: workspaceProfile },
  'read-only': { approvalPolicy: 'on-request', permissions: startProfile },
  'full-access': { approvalPolicy: 'never', permissions: ':danger-full-access' },
} as const

export type CodexMode = keyof typeof modes
export const codexModes = Object.keys(modes) as readonly CodexMode[] // `modes` has exactly these keys
export const defaultCodexMode: CodexMode = 'ask'
/** The mode that is shown if somebody chose settings in a terminal that belong to no mode. */
const customMode = 'custom'

export function isCodexMode(mode: string | null | undefined): mode is CodexMode {
  return typeof mode === 'string' && Object.hasOwn(modes, mode)
}

/** Returns the settings of a mode for Codex. Approvals always go to people, even if the person's settings of Codex name another reviewer. */
export function modeSettings(mode: CodexMode) {
  return { ...modes[mode], approvalsReviewer: 'user' } as const
}

/** Returns the mode that has exactly these settings. */
export function modeOf({ approvalPolicy, activePermissionProfile, approvalsReviewer }: ThreadSettings): string {
  const settings = canonicalJson({ approvalPolicy, permissions: activePermissionProfile?.id, approvalsReviewer })
  return codexModes.find(mode => canonicalJson(modeSettings(mode)) === settings) ?? customMode
}
