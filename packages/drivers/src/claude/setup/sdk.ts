/** Finds the Claude Agent SDK and the `claude` executable on this machine, and explains what to do if either is missing. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { findOnPath, isExecutable } from '../../agent-executable.ts'
import { installation } from '../messages.ts'

export type Sdk = typeof import('@anthropic-ai/claude-agent-sdk')
export type Environment = Readonly<Record<string, string | undefined>>

/** The location of Claude Code. If `executable` is missing, the SDK starts its bundled binary. */
export interface ClaudeLocation {
  readonly version: string
  readonly executable?: string
}
export interface Installation extends ClaudeLocation {
  readonly sdk: Sdk
}
export type ClaudeSearch = { readonly found: ClaudeLocation } | { readonly missing: string; readonly installed?: false }

/** Finds Claude Code without loading the SDK, because loading it would slow down runners that never start Claude Code. */
export function findClaude(env: Environment, executable?: string): ClaudeSearch {
  const entry = sdkEntry(createRequire(import.meta.url))
  const configured = executable ?? env.HOLDPOINT_CLAUDE
  if (entry === null) return { missing: installation.sdkMissing, ...(configured ? {} : { installed: false }) }
  const version = sdkVersion(entry)
  if (configured)
    return isExecutable(configured)
      ? { found: { version: `${version} ${configured}`, executable: configured } }
      : { missing: installation.notExecutable(configured) }
  if (hasBundledBinary(entry)) return { found: { version } }
  const onPath = findOnPath('claude', env)
  if (onPath) return { found: { version: `${version} ${onPath}`, executable: onPath } }
  return { missing: installation.claudeMissing, installed: false }
}

export async function loadSdk(location: ClaudeLocation): Promise<Installation> {
  return { ...location, sdk: await import('@anthropic-ai/claude-agent-sdk') }
}

function sdkEntry(require: NodeJS.Require): string | null {
  try {
    return require.resolve('@anthropic-ai/claude-agent-sdk')
  } catch {
    return null
  }
}

/** Returns the folder with Claude Code's settings, credentials and transcripts. */
export function configFolder(env: Environment): string {
  return env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), '.claude')
}

const signInVariables = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
]

/** Returns a hint for the person if no credentials are found. Sessions start anyway, because this check does not know every way to sign in. */
export function signInHint(env: Environment): string | null {
  if (signInVariables.some(name => env[name]) || process.platform === 'darwin') return null
  const folder = configFolder(env)
  if (existsSync(join(folder, '.credentials.json')) || fileContains(join(folder, 'settings.json'), 'apiKeyHelper'))
    return null
  return installation.notSignedIn
}

function fileContains(file: string, text: string): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').includes(text)
}

function sdkVersion(entry: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(entry, '..', 'package.json'), 'utf8'))
  return z.object({ version: z.string() }).parse(manifest).version
}

/** Returns whether the SDK's own binary is installed. It is in an optional package for each platform. */
function hasBundledBinary(entry: string): boolean {
  const require = createRequire(entry)
  const name = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`
  return [name, `${name}-musl`].some(candidate => {
    try {
      return existsSync(require.resolve(`${candidate}/package.json`))
    } catch {
      return false
    }
  })
}
