/** Finds `codex` on this machine, and explains what to do if it is missing, untested or not signed in. */
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findAgent, type InstallableAgent, versionHint } from '../installed-agent.ts'
import { codexInstallation } from './messages.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The tested version matters, because the protocol of the app-server changes between versions. */
const codex: InstallableAgent = {
  name: 'codex',
  title: 'Codex',
  command: 'codex',
  install: '`npm install -g @openai/codex`',
  testedVersions: ['0.166.0'],
}

export function findCodex(env: Environment, configured?: string): ReturnType<typeof findAgent> {
  if (process.platform === 'win32') return { missing: codexInstallation.notOnWindows, installed: false }
  return findAgent(codex, env, configured)
}

/** Returns a hint for people, or null if the version was tested and Codex seems to be signed in. */
export async function codexHint(executable: string, env: Environment): Promise<string | null> {
  const version = await versionHint(codex, executable, env)
  const hints = [...(version === null ? [] : [version]), ...(isSignedIn(env) ? [] : [codexInstallation.notSignedIn])]
  return hints.length > 0 ? hints.join('. ') : null
}

const signInVariables = ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_ACCESS_TOKEN']
/** Settings with which Codex may need no sign-in file: another provider of models, or credentials in a keyring. */
const signInSettings = ['model_provider', 'cli_auth_credentials_store']

/** This is only a hint: sessions start anyway, because this check does not know every way to sign in. */
function isSignedIn(env: Environment): boolean {
  const folder = env.CODEX_HOME ?? join(env.HOME ?? homedir(), '.codex')
  if (signInVariables.some(name => env[name]) || existsSync(join(folder, 'auth.json'))) return true
  try {
    const lines = readFileSync(join(folder, 'config.toml'), 'utf8').split('\n')
    return lines.some(line => signInSettings.includes(line.split('=')[0]?.trim() ?? ''))
  } catch {
    // Without this file, Codex has no settings of its own.
    return false
  }
}
