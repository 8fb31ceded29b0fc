/** Tells the session loop how to run one session of Claude Code: how its processes are started, and how an open turn continues after a process was lost. */
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import type { AgentSession } from '@holdpoint/client'
import type { AgentEvent, Variable } from '@holdpoint/protocol'
import { findProjectSettings, type ProjectSettings } from '../folder-settings/project-settings.ts'
import type {
  AgentConnection,
  AgentMessage,
  AgentProtocol,
  ConnectionOptions,
  InterruptedTurn,
  ResumePlan,
  SettingsChange,
} from '../session/agent-connection.ts'
import { isMode, type Mode, resumeMode } from './approvals/modes.ts'
import { messageUuid } from './cli/message.ts'
import type { QuerySettings } from './cli/query-options.ts'
import { ClaudeConnection } from './connection.ts'
import { errorEvent } from './error-events.ts'
import { bypassUnavailable, settings, startHint, untrustedSettings } from './messages.ts'
import type { ParkingProbe } from './parking/parking-method.ts'
import { askRuleFor } from './resuming/ask-rule.ts'
import { planResume } from './resuming/resume-plan.ts'
import { cwdProblem } from './setup/cwd-check.ts'
import { mayBypass } from './setup/session-options.ts'
import { TranscriptStore } from './transcript/transcript-store.ts'

export interface ClaudeProtocolOptions
  extends Pick<QuerySettings, 'installation' | 'env' | 'sdkOptions' | 'denyRules'> {
  readonly session: AgentSession
  /** The folder for the session's transcript and state. */
  readonly folder: string
  readonly configFolder: string
  readonly parkingProbe: ParkingProbe
  readonly trustsProjectSettings: (settings: ProjectSettings) => boolean
}

export class ClaudeProtocol implements AgentProtocol {
  readonly title = 'Claude Code'
  readonly keepsAfterLoss = 'calls'
  readonly startHint = startHint
  /** The mode in which the first process starts; null if the CLI chooses it. */
  readonly startMode: Mode | null
  readonly #options: ClaudeProtocolOptions
  readonly #session: AgentSession
  readonly #transcript: TranscriptStore
  readonly #mayBypass: boolean
  /** The keys of requests that the next process may ask for again. */
  #carriedKeys: ReadonlySet<string> = new Set()
  /** The variables that the agent may set. */
  #variables: readonly Variable[] = []
  #connection: ClaudeConnection | null = null
  /** The hash of the settings that the person was told about last; undefined before that. */
  #toldAbout: string | null | undefined

  constructor(options: ClaudeProtocolOptions) {
    this.#options = options
    this.#session = options.session
    const { info } = this.#session
    this.#transcript = new TranscriptStore(options.folder, options.configFolder)
    this.#mayBypass = mayBypass(this.#transcript, info)
    this.startMode = info.mode === null ? null : resumeMode(info.mode, this.#transcript.meta.mode, this.#mayBypass)
  }

  /** Returns events that report damaged session state, and a mode that the session cannot be in. */
  problems(): readonly AgentEvent[] {
    const { problem } = this.#transcript
    const { mode } = this.#session.info
    const damaged = problem === null ? [] : [errorEvent('damaged', problem)]
    if (this.startMode === null || this.startMode === mode) return damaged
    const why = isMode(mode) ? bypassUnavailable : settings.noSuchMode
    const replaced = errorEvent('mode', settings.modeReplaced(mode, why, this.startMode))
    return [...damaged, replaced, { type: 'session.changed', mode: this.startMode }]
  }

  connect(connection: ConnectionOptions): AgentConnection {
    const { installation, env, folder, denyRules, parkingProbe, sdkOptions } = this.#options
    const transcript = this.#transcript
    const mode = isMode(connection.mode) ? connection.mode : 'default'
    const call = transcript.index.openCalls.find(({ id }) => id === connection.resume?.call) ?? null
    if (call && transcript.index.deferredCallId !== call.id) transcript.resumeAtCall(call, mode)
    const carriedKeys = this.#carriedKeys
    this.#carriedKeys = new Set()
    this.#connection = new ClaudeConnection({
      ...connection,
      ...{ installation, env, folder, denyRules, parkingProbe, transcript, mode, carriedKeys },
      sdkOptions: { ...this.#settingSources(), ...sdkOptions },
      mayBypass: this.#mayBypass,
      askRule: call ? askRuleFor(call) : null,
      variables: this.#variables,
      setVariable: (name, value) => this.#session.setVariable(name, value),
    })
    return this.#connection
  }

  async prepareTurn(): Promise<void> {
    this.#variables = await this.#session.ownVariables()
    await this.#connection?.offerVariables(this.#variables)
  }

  planResume(turn: InterruptedTurn, message: AgentMessage | null): Promise<ResumePlan> {
    this.#carriedKeys = new Set(turn.requests.keys())
    return planResume(turn, this.#transcript, message && messageUuid(message.id), this.#options.parkingProbe)
  }

  startProblem(): string | null {
    return cwdProblem(this.#session.info.cwd)
  }

  settingsProblem({ mode }: SettingsChange): string | null {
    if (mode !== undefined && !isMode(mode)) return settings.unknownMode(mode)
    return mode === 'bypassPermissions' && !this.#mayBypass ? settings.bypassDenied : null
  }

  /** Leaves out the settings of the folder unless the person trusts them. They are checked for every process, because they can change between two processes. Without `project`, Claude Code reads nothing of the folder by itself, not even a CLAUDE.md. */
  #settingSources(): Partial<Options> {
    const { configFolder, sdkOptions, trustsProjectSettings } = this.#options
    if (sdkOptions.settingSources !== undefined) return {}
    const found = findProjectSettings('claude', this.#session.info.cwd, [configFolder])
    if (found === null || (found.sha256 !== null && trustsProjectSettings(found))) return {}
    if (this.#toldAbout !== found.sha256)
      this.#session.sayQuietly(errorEvent('untrusted_settings', untrustedSettings(found)))
    this.#toldAbout = found.sha256
    return { settingSources: ['user'] }
  }
}
