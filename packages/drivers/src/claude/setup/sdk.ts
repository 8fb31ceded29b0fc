/** Where Claude Code comes from: the SDK, loaded only when it is wanted, and the executable that it starts. What is missing becomes a sentence that says what to do. */
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

export type Sdk = typeof import('@anthropic-ai/claude-agent-sdk')
export type Environment = Readonly<Record<string, string | undefined>>

/** What is on this machine. Without `executable` the SDK starts the one that came with it. */
export interface Location {
  readonly version: string
  readonly executable?: string
}
export interface Installation extends Location {
  readonly sdk: Sdk
}
export type Found = { readonly found: Location } | { readonly missing: string }

/** Looks, and loads nothing: a runner whose agents are others pays nothing for this one. */
export function findClaude(env: Environment, executable?: string): Found {
  const entry = entryOf(createRequire(import.meta.url))
  if (entry === null)
    return {
      missing:
        'The Claude Agent SDK is not installed; run `npm install @anthropic-ai/claude-agent-sdk` beside Holdpoint',
    }
  const version = versionBeside(entry)
  const named = executable ?? env.HOLDPOINT_CLAUDE
  if (named)
    return runnable(named)
      ? { found: { version: `${version} ${named}`, executable: named } }
      : {
          missing: `${named} is not a program that can be run; name the \`claude\` to use in HOLDPOINT_CLAUDE, or leave it out`,
        }
  if (hasOwnBinary(entry)) return { found: { version } }
  const onPath = search(env.PATH ?? '')
  if (onPath) return { found: { version: `${version} ${onPath}`, executable: onPath } }
  return {
    missing:
      'Claude Code is not installed for this machine; install it (`npm install -g @anthropic-ai/claude-code`), or name its executable in HOLDPOINT_CLAUDE',
  }
}

export async function install(location: Location): Promise<Installation> {
  return { ...location, sdk: await import('@anthropic-ai/claude-agent-sdk') }
}

function entryOf(require: NodeJS.Require): string | null {
  try {
    return require.resolve('@anthropic-ai/claude-agent-sdk')
  } catch {
    return null
  }
}

/** Where Claude Code keeps what is the person's: settings, sign-in, transcripts. */
export function configFolder(env: Environment): string {
  return env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), '.claude')
}

const signIns = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
]

/** A hint, not a verdict: what looks like no sign-in here may still be one, and is tried. */
export function signInMissing(env: Environment): string | null {
  if (signIns.some(name => env[name]) || process.platform === 'darwin') return null
  const folder = configFolder(env)
  if (existsSync(join(folder, '.credentials.json')) || mentions(join(folder, 'settings.json'), 'apiKeyHelper'))
    return null
  return 'Nobody seems to be signed in to Claude Code here; run `claude` once and sign in, or set ANTHROPIC_API_KEY'
}

function mentions(file: string, word: string): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').includes(word)
}

function versionBeside(entry: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(entry, '..', 'package.json'), 'utf8'))
  return String(Object(manifest).version)
}

/** The SDK's executable is a package of its own for each platform, which an installation may have left out. */
function hasOwnBinary(entry: string): boolean {
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

function search(path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map(folder => join(folder, 'claude'))
    .find(runnable)
}

function runnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
