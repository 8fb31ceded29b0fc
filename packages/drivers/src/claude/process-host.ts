/** Owns the current process of a session: starts the process with the session's mode and model, applies changes of mode and model, and ends the process. */
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import { type Clock, type CommandBody, type CommandOutcome, messageOf, within } from '@holdpoint/protocol'
import type { AgentSession } from '../session/agent-session.ts'
import type { CarriedRequests } from '../session/carried-requests.ts'
import { isMode, type Mode, resumeMode } from './approvals/modes.ts'
import { isAlwaysAsked } from './approvals/permission.ts'
import { CliRun, type StopReason } from './cli/cli-run.ts'
import { errorEvent } from './error-events.ts'
import { bypassUnavailable, settings, untrustedSettings } from './messages.ts'
import { ClaudeParkTimer } from './parking/park-timer.ts'
import type { ParkingProbe } from './parking/parking-method.ts'
import { askRuleFor } from './resuming/ask-rule.ts'
import { resetAttempts } from './resuming/resume-plan.ts'
import { findProjectSettings, type ProjectSettings } from './setup/project-settings.ts'
import type { Environment, Installation } from './setup/sdk.ts'
import { mayBypass } from './setup/session-options.ts'
import type { ToolCall } from './transcript/transcript-index.ts'
import { TranscriptStore } from './transcript/transcript-store.ts'

export interface ProcessHostOptions {
  readonly session: AgentSession
  readonly installation: Installation
  /** The folder for the session's transcript and state. */
  readonly folder: string
  readonly configFolder: string
  readonly env: Environment
  readonly clock: Clock
  readonly sdkOptions: Partial<Options>
  /** Rules of Claude Code that deny calls in every mode. */
  readonly denyRules: readonly string[]
  readonly parkingProbe: ParkingProbe
  readonly trustsProjectSettings: (settings: ProjectSettings) => boolean
  /** Called when a turn starts, when a call starts to wait, and when the background tasks change. */
  readonly onActivity: () => void
  /** Called when the process exited without being stopped by the driver. `how` is a sentence that describes the exit. */
  readonly onLost: (cli: CliRun, how: string) => void
}

/** How long the CLI may take to change its mode or to check a model with the API. */
const changeMaxMs = 15_000

export class ProcessHost {
  readonly transcript: TranscriptStore
  readonly #options: ProcessHostOptions
  readonly #session: AgentSession
  readonly #mayBypass: boolean
  #cli: CliRun | null = null
  #parkTimer: ClaudeParkTimer | null = null
  #parkAfterMs: number | null
  /** The mode of the running process, or the mode in which the next process will start. */
  #mode: string | null
  #model: string | null
  /** The hash of the settings that the person was told about last; undefined before that. */
  #toldAbout: string | null | undefined

  constructor(options: ProcessHostOptions) {
    this.#options = options
    this.#session = options.session
    const { parkAfterMs, mode, model } = this.#session.info
    this.#parkAfterMs = parkAfterMs
    this.#model = model
    this.transcript = new TranscriptStore(options.folder, options.configFolder)
    this.#mayBypass = mayBypass(this.transcript, this.#session.info)
    this.#mode = mode === null ? null : resumeMode(mode, this.transcript.meta.mode, this.#mayBypass)
  }

  /** The running process, or null if there is none. */
  get cli(): CliRun | null {
    return this.#cli && !this.#cli.hasExited ? this.#cli : null
  }
  /** Returns why the pending call could not be resumed if the process ended now, or null if it could be resumed. */
  get whyNotParkable(): string | null {
    return this.#parkTimer?.whyNotParkable() ?? null
  }

  /** Reports damaged session state, and a mode that the session cannot be in. */
  reportProblems(): void {
    const { problem } = this.transcript
    const { mode } = this.#session.info
    if (problem !== null) this.#session.sayQuietly(errorEvent('damaged', problem))
    if (this.#mode === null || this.#mode === mode) return
    const why = isMode(mode) ? bypassUnavailable : settings.noSuchMode
    this.#session.sayQuietly(errorEvent('mode', settings.modeReplaced(mode, why, this.#mode)), {
      type: 'session.changed',
      mode: this.#mode,
    })
  }

  /** Returns the running process, or starts a process that continues the conversation (at the given call, if any). */
  start(carried: CarriedRequests, call: ToolCall | null): CliRun {
    if (this.cli) return this.cli
    const { session, installation, folder, env, clock, sdkOptions, denyRules, parkingProbe, onActivity } = this.#options
    const { transcript } = this
    const mode: Mode = isMode(this.#mode) ? this.#mode : 'default'
    if (call && transcript.index.deferredCallId !== call.id) transcript.resumeAtCall(call, mode)
    const cli: CliRun = new CliRun({
      ...{ installation, session, transcript, folder, env, clock, mode, carried, denyRules, parkingProbe, onActivity },
      model: this.#model,
      sdkOptions: {
        ...this.#settingSources(),
        ...sdkOptions,
        ...(transcript.sessionId === undefined ? this.#resumeOptions() : {}),
      },
      askRule: call ? askRuleFor(call) : null,
      mayBypass: this.#mayBypass,
      mayDefer: tool => this.#parkAfterMs !== null && isAlwaysAsked(tool, this.#mode ?? mode),
      onCallsChanged: () => parkTimer.onCallsChanged(),
      onModeChange: entered => this.#onModeEntered(entered),
      onProcessChange: process => {
        if (process.state !== 'live' && process.state !== 'lost') resetAttempts(transcript)
        session.sayQuietly({ type: 'session.changed', process })
        if (process.state === 'lost') this.#options.onLost(cli, process.note ?? '')
      },
    })
    const parkTimer = new ClaudeParkTimer(cli, {
      ...{ clock, parkingProbe, index: transcript.index },
      parkAfterMs: () => this.#parkAfterMs,
      onChange: reason => {
        if (cli.hasExited || cli.calls.isStopping) return
        session.sayQuietly({ type: 'session.changed', process: cli.liveState(reason) })
      },
    })
    transcript.onAppend = () => parkTimer.parkIfDue()
    this.#parkTimer = parkTimer
    this.#cli = cli
    return cli
  }

  /** Leaves out the settings of the folder unless the person trusts them. They are checked for every process, because they can change meanwhile. Without `project`, Claude Code reads nothing of the folder by itself, also no CLAUDE.md. */
  #settingSources(): Partial<Options> {
    const { configFolder, sdkOptions, trustsProjectSettings } = this.#options
    if (sdkOptions.settingSources !== undefined) return {}
    const found = findProjectSettings(this.#session.info.cwd, configFolder)
    if (found === null || (found.sha256 !== null && trustsProjectSettings(found))) return {}
    if (this.#toldAbout !== found.sha256)
      this.#session.sayQuietly(errorEvent('untrusted_settings', untrustedSettings(found)))
    this.#toldAbout = found.sha256
    return { settingSources: ['user'] }
  }

  /** Returns the options that continue or fork the conversation that the person chose when they started the session. */
  #resumeOptions(): Partial<Options> {
    const { conversationId, options } = this.#session.info
    // If the id is this session's own conversation, its transcript contains no message, so there is nothing to resume.
    if (conversationId === null || conversationId === this.transcript.meta.key?.sessionId) return {}
    return { resume: conversationId, ...(options.fork === true ? { forkSession: true } : {}) }
  }

  /** Ends the process if it must not outlive its turn and nothing is still running in it. Otherwise updates the park timer. */
  async onTurnEnd(cli: CliRun): Promise<void> {
    const isDone = () => cli.endAfterTurn && !cli.isBusy && cli.backgroundTasks === 0
    if (isDone()) await cli.waitForOwnTurn()
    if (cli.hasExited || isDone()) {
      this.#parkTimer?.stop()
      await cli.end('done')
    } else this.#parkTimer?.onCallsChanged()
  }

  async end(reason: StopReason): Promise<void> {
    await this.#cli?.end(reason)
  }

  async changeSettings({ mode, model, parkAfterMs }: Extract<CommandBody, { kind: 'mode' }>): Promise<CommandOutcome> {
    if (parkAfterMs !== undefined) {
      this.#parkAfterMs = parkAfterMs
      this.#parkTimer?.stop()
      this.#parkTimer?.onCallsChanged()
    }
    const outcome = await this.#applySettings(mode, model)
    // The session already shows the requested settings. Report the actual settings, which differ if the change failed.
    const actual = { mode: this.#mode ?? 'default', model: this.#model }
    if (mode !== undefined || model !== undefined) await this.#session.say({ type: 'session.changed', ...actual })
    return outcome
  }

  async #applySettings(mode: string | undefined, model: string | undefined): Promise<CommandOutcome> {
    if (mode !== undefined && !isMode(mode)) return { ok: false, reason: settings.unknownMode(mode) }
    if (mode === 'bypassPermissions' && !this.#mayBypass) return { ok: false, reason: settings.bypassDenied }
    const { cli } = this
    try {
      const change = cli?.changeSettings(mode, model, this.#model).then(() => 'done')
      if (cli && change && (await within(this.#options.clock, changeMaxMs, change)) === 'late')
        return this.#giveUpChange(cli)
    } catch (error) {
      return { ok: false, reason: settings.refused(messageOf(error)) }
    }
    if (mode !== undefined) this.#mode = mode
    if (model !== undefined) this.#model = model
    return { ok: true }
  }

  /** Called when the CLI has not confirmed a change in time. Ends the process after its current turn, because the CLI might still apply the change later. */
  async #giveUpChange(cli: CliRun): Promise<CommandOutcome> {
    cli.endAfterTurn = true
    if (!cli.isBusy && cli.backgroundTasks === 0) await cli.end('stopped')
    return { ok: false, reason: settings.noReply(changeMaxMs / 1000) }
  }

  /** Called when the CLI reports its mode. The mode differs from `#mode` if the CLI changed it by itself or because of a person's answer. */
  #onModeEntered(mode: string): void {
    if (mode === this.#mode) return
    this.#mode = mode
    this.#session.sayQuietly({ type: 'session.changed', mode })
  }
}
