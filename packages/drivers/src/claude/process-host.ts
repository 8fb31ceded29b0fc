/** The process of one session and what it runs under: started where there is none, in the mode and with the model in force, kept as warm as people wish, let go. */

import type { Options } from '@anthropic-ai/claude-agent-sdk'
import {
  type AgentEvent,
  type Clock,
  type CommandBody,
  type CommandOutcome,
  messageOf,
  within,
} from '@holdpoint/protocol'
import type { AgentSession } from '../session/agent-session.ts'
import { isMode, type Mode, noBypass, resumeMode } from './approvals/modes.ts'
import { isAlwaysAsked } from './approvals/permission.ts'
import { CliRun, type StopReason } from './cli/cli-run.ts'
import { errorEvent } from './error-events.ts'
import { askRuleFor } from './parking/ask-rule.ts'
import type { CarriedRequests } from './parking/carried-requests.ts'
import { ParkTimer } from './parking/park-timer.ts'
import type { ParkingProbe } from './parking/parking-method.ts'
import { resetAttempts } from './parking/resume-plan.ts'
import type { Environment, Installation } from './setup/sdk.ts'
import { mayBypass } from './setup/session-options.ts'
import type { ToolCall } from './transcript/transcript-index.ts'
import { TranscriptStore } from './transcript/transcript-store.ts'

export interface ProcessHostOptions {
  readonly session: AgentSession
  readonly installation: Installation
  readonly folder: string
  readonly config: string
  readonly env: Environment
  readonly clock: Clock
  readonly more: Partial<Options>
  readonly parking: ParkingProbe
  /** Something began or ended in the process, perhaps by itself. */
  readonly onStir: () => void
  /** It ended and nobody had ended it; how, as a sentence. */
  readonly onLost: (cli: CliRun, how: string) => void
}

/** How long the CLI may take to enter a mode, or to try a model at its service. */
const changeMaxMs = 15_000

export class ProcessHost {
  readonly rows: TranscriptStore
  readonly #options: ProcessHostOptions
  readonly #session: AgentSession
  readonly #mayBypass: boolean
  #cli: CliRun | null = null
  #warmth: ParkTimer | null = null
  #parkAfterMs: number | null
  /** The mode in force, or the one that the next process starts in. */
  #mode: string | null
  #model: string | null

  constructor(options: ProcessHostOptions) {
    this.#options = options
    this.#session = options.session
    const { parkAfterMs, mode, model } = this.#session.info
    this.#parkAfterMs = parkAfterMs
    this.#model = model
    this.rows = new TranscriptStore(options.folder, options.config)
    this.#mayBypass = mayBypass(this.rows, this.#session.info)
    this.#mode = mode === null ? null : resumeMode(mode, this.rows.meta.mode, this.#mayBypass)
  }

  /** The process that is there; null where there is none. */
  get cli(): CliRun | null {
    return this.#cli && !this.#cli.over ? this.#cli : null
  }
  /** Why what waits could not be had again if the process went now; null where it could. */
  get obstacle(): string | null {
    return this.#warmth?.obstacle() ?? null
  }

  /** What was found otherwise than it was left, or was wished for and cannot be. */
  tellFound(): void {
    const { trouble } = this.rows
    const { mode } = this.#session.info
    if (trouble !== null) this.#tell(errorEvent('damaged', trouble))
    if (this.#mode === null || this.#mode === mode) return
    const why = isMode(mode) ? noBypass : 'Claude Code has no such mode'
    this.#tell(errorEvent('mode', `It cannot be in mode "${mode}" and goes on in mode ${this.#mode}: ${why}`))
    this.#tell({ type: 'session.changed', mode: this.#mode })
  }

  /** The process that is there, or one that goes on where the last one stopped. */
  start(carried: CarriedRequests, call: ToolCall | null): CliRun {
    if (this.cli) return this.cli
    const { session, installation, folder, env, clock, more, parking, onStir } = this.#options
    const { rows } = this
    const mode: Mode = isMode(this.#mode) ? this.#mode : 'default'
    if (call && rows.index.deferred !== call.id) rows.bringBack(call, mode)
    const first = rows.sessionId === undefined ? this.#earlier() : {}
    const cli: CliRun = new CliRun({
      ...{ installation, session, rows, folder, env, clock, mode, carried, parking, onStir, model: this.#model },
      more: { ...more, ...first },
      guard: call ? askRuleFor(call) : null,
      mayBypass: this.#mayBypass,
      mayPutOff: tool => this.#parkAfterMs !== null && isAlwaysAsked(tool, this.#mode ?? mode),
      onWaiting: () => warmth.changed(),
      onMode: is => this.#entered(is),
      onProcess: process => {
        if (process.state !== 'live' && process.state !== 'lost') resetAttempts(rows)
        this.#tell({ type: 'session.changed', process })
        if (process.state === 'lost') this.#options.onLost(cli, process.note ?? '')
      },
    })
    const warmth = new ParkTimer(cli, {
      ...{ clock, parking, index: rows.index },
      parkAfterMs: () => this.#parkAfterMs,
      tell: note => {
        if (!cli.over && !cli.calls.leaving) this.#tell({ type: 'session.changed', process: cli.living(note) })
      },
    })
    rows.onAppend = () => warmth.look()
    this.#warmth = warmth
    this.#cli = cli
    return cli
  }

  /** A conversation of Claude Code's own that this session goes on with. */
  #earlier(): Partial<Options> {
    const { conversationId, options } = this.#session.info
    // Its own, of which nothing is left.
    if (conversationId === null || conversationId === this.rows.meta.key?.sessionId) return {}
    return { resume: conversationId, ...(options.fork === true ? { forkSession: true } : {}) }
  }

  /** A turn is over. A process that was only for it goes, unless something in it goes on. */
  async turnOver(cli: CliRun): Promise<void> {
    if (cli.spent && !cli.busy && cli.background === 0) await cli.attended()
    if (cli.over || (cli.spent && !cli.busy && cli.background === 0)) {
      this.#warmth?.stop()
      await cli.end('done')
    } else this.#warmth?.changed()
  }

  async end(why: StopReason): Promise<void> {
    await this.#cli?.end(why)
  }

  async change({ mode, model, parkAfterMs }: Extract<CommandBody, { kind: 'mode' }>): Promise<CommandOutcome> {
    if (parkAfterMs !== undefined) {
      this.#parkAfterMs = parkAfterMs
      this.#warmth?.stop()
      this.#warmth?.changed()
    }
    const outcome = await this.#enter(mode, model)
    // The session shows what was wished for since it was; now it shows what is.
    const is = { mode: this.#mode ?? 'default', model: this.#model }
    if (mode !== undefined || model !== undefined) await this.#session.say({ type: 'session.changed', ...is })
    return outcome
  }

  async #enter(mode: string | undefined, model: string | undefined): Promise<CommandOutcome> {
    if (mode !== undefined && !isMode(mode)) return { ok: false, reason: `Claude Code has no mode "${mode}"` }
    if (mode === 'bypassPermissions' && !this.#mayBypass) return { ok: false, reason: `refused: ${noBypass}` }
    const { cli } = this
    try {
      const change = cli?.change(mode, model, this.#model).then(() => 'done')
      if (cli && change && (await within(this.#options.clock, changeMaxMs, change)) === 'late') return this.#late(cli)
    } catch (error) {
      return { ok: false, reason: `Claude Code refused the change: ${messageOf(error)}` }
    }
    if (mode !== undefined) this.#mode = mode
    if (model !== undefined) this.#model = model
    return { ok: true }
  }

  /** It may yet do what it was asked for, when nobody expects it any more: it is not kept longer than it must be. */
  async #late(cli: CliRun): Promise<CommandOutcome> {
    cli.spent = true
    if (!cli.busy && cli.background === 0) await cli.end('stopped')
    const reason = `Claude Code did not answer within ${changeMaxMs / 1000} s; the change was given up`
    return { ok: false, reason }
  }

  /** By a person's answer, or by itself. */
  #entered(mode: string): void {
    if (mode === this.#mode) return
    this.#mode = mode
    this.#tell({ type: 'session.changed', mode })
  }

  /** What nobody waits for: where it cannot be said any more, the session is over and says so itself. */
  #tell(saying: AgentEvent): void {
    this.#session.say(saying).catch(() => {})
  }
}
