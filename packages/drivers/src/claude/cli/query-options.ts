/** The options with which one process of Claude Code is started through the SDK. */
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import type { Session } from '@holdpoint/protocol'
import type { Mode } from '../approvals/modes.ts'
import type { Environment, Installation } from '../setup/sdk.ts'
import { parseSessionOptions } from '../setup/session-options.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'
import { type VariableToolOptions, variableServers, variableToolName } from './variable-tool.ts'

export interface QuerySettings extends VariableToolOptions {
  readonly info: Session
  readonly installation: Installation
  readonly transcript: TranscriptStore
  readonly env: Environment
  /** Options that the session's own options override. */
  readonly sdkOptions: Partial<Options>
  /** Rules of Claude Code that deny calls in every mode. */
  readonly denyRules: readonly string[]
  readonly mode: Mode
  readonly model: string | null
  /** Whether this process can enter bypassPermissions. */
  readonly mayBypass: boolean
  /** A rule that makes the CLI ask for the resumed call even if its settings allow the call; null if no call is resumed. */
  readonly askRule: string | null
}

export function queryOptions(settings: QuerySettings): Options {
  const { info, installation, transcript, env, mode, model } = settings
  const resume = transcript.sessionId
  const chosen = chosenOptions(settings)
  return {
    cwd: info.cwd,
    ...chosen,
    mcpServers: { ...chosen.mcpServers, ...variableServers(installation.sdk, settings) },
    env: { ...env },
    permissionMode: mode,
    includePartialMessages: true,
    forwardSubagentText: true,
    sessionStore: transcript.sdkStore,
    sessionStoreFlush: 'eager',
    ...(resume === undefined ? resumeOptions(info, transcript) : { resume }),
    ...(model === null ? {} : { model }),
    settings: { permissions: permissionRules(settings) },
    ...(installation.executable ? { pathToClaudeCodeExecutable: installation.executable } : {}),
  }
}

export function permissionRules({ denyRules, askRule, variables }: QuerySettings) {
  return {
    deny: [...denyRules],
    ask: askRule === null ? [] : [askRule],
    // The agent may set its own variables without asking, unless a rule or a watcher says otherwise.
    allow: variables.length === 0 ? [] : [variableToolName],
  }
}

/** Returns all servers that run in this process. The SDK replaces them together. */
export function inProcessServers(settings: QuerySettings): NonNullable<Options['mcpServers']> {
  const chosen = Object.entries(chosenOptions(settings).mcpServers ?? {}).filter(([, { type }]) => type === 'sdk')
  return { ...Object.fromEntries(chosen), ...variableServers(settings.installation.sdk, settings) }
}

function chosenOptions({ info, sdkOptions, mayBypass }: QuerySettings): Partial<Options> {
  return { ...sdkOptions, ...sessionSdkOptions(info, mayBypass) }
}

function sessionSdkOptions(info: Session, mayBypass: boolean): Partial<Options> {
  const { mcpServers, agents, additionalDirectories } = parseSessionOptions(info)
  return {
    ...(mcpServers === undefined ? {} : { mcpServers }),
    ...(agents === undefined ? {} : { agents }),
    ...(additionalDirectories === undefined ? {} : { additionalDirectories }),
    ...(mayBypass ? { allowDangerouslySkipPermissions: true } : {}),
  }
}

/** Returns the options that continue or fork the conversation that the person chose when they started the session. */
function resumeOptions({ conversationId, options }: Session, transcript: TranscriptStore): Partial<Options> {
  // If the id is this session's own conversation, its transcript contains no message, so there is nothing to resume.
  if (conversationId === null || conversationId === transcript.meta.key?.sessionId) return {}
  return { resume: conversationId, ...(options.fork === true ? { forkSession: true } : {}) }
}
