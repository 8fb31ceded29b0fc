/** One run of the CLI through the SDK. Starts the process, sends one message per turn, follows turns that the CLI starts by itself, and reads the CLI's messages until the process exits. */
import type {
  Options,
  Query,
  SDKMessage,
  SDKResultMessage,
  SDKSystemMessage,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk'
import {
  type AgentEvent,
  type AgentProcess,
  type Clock,
  messageOf,
  type Session,
  systemClock,
  within,
} from '@holdpoint/protocol'
import type { AgentSession } from '../../session/agent-session.ts'
import type { CarriedRequests } from '../../session/carried-requests.ts'
import { elicitationHandler } from '../approvals/elicitation.ts'
import type { Mode } from '../approvals/modes.ts'
import { PendingCalls } from '../approvals/pending-calls.ts'
import { errorEvent, processExitMessage } from '../error-events.ts'
import type { ParkingProbe } from '../parking/parking-method.ts'
import type { Environment, Installation } from '../setup/sdk.ts'
import { parseSessionOptions } from '../setup/session-options.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'
import { type TurnOutcome, TurnTracker } from '../turn-tracker.ts'
import { CliProcess, type ProcessExit } from './cli-process.ts'
import { toolResultsIn } from './content-blocks.ts'
import { hooksFor } from './hooks.ts'
import { InputQueue } from './input-queue.ts'
import { isUnavailable, McpStatusReporter } from './mcp-status.ts'
import { MessageMapper } from './message-mapper.ts'

export interface CliRunOptions {
  readonly installation: Installation
  readonly session: AgentSession
  readonly transcript: TranscriptStore
  readonly folder: string
  readonly env: Environment
  readonly clock: Clock
  readonly sdkOptions: Partial<Options>
  /** Rules of Claude Code that deny calls in every mode. */
  readonly denyRules: readonly string[]
  readonly mode: Mode
  readonly model: string | null
  /** Whether this process can enter bypassPermissions. */
  readonly mayBypass: boolean
  readonly carried: CarriedRequests
  /** A rule that makes the CLI ask for the resumed call even if its settings allow the call; null if no call is resumed. */
  readonly askRule: string | null
  readonly parkingProbe: ParkingProbe
  readonly mayDefer: (tool: string) => boolean
  readonly onCallsChanged: () => void
  /** Called when a turn starts, when a call starts to wait, and when the background tasks change. */
  readonly onActivity: () => void
  readonly onModeChange: (mode: string) => void
  /** Called at the start of the first turn, and when the process has exited. */
  readonly onProcessChange: (process: AgentProcess) => void
}
/** Why the driver stopped the process. */
export type StopReason = Exclude<AgentProcess['state'], 'live' | 'lost'>

/** How long to wait for the process to exit after the CLI has aborted a call, before the process counts as still running. */
const exitGraceMs = 1000
/** How long the CLI may take to record a deferred call. */
const deferMaxMs = 1000
/** How long the CLI may take to initialize. */
const startMaxMs = 60_000
/** How long to wait for the CLI to start a turn by itself after a background task has ended. */
const ownTurnStartMaxMs = 2000

export class CliRun {
  readonly calls: PendingCalls
  /** Whether to end the process when its current turn is over. */
  endAfterTurn: boolean
  readonly #options: CliRunOptions
  readonly #input = new InputQueue<SDKUserMessage>()
  readonly #abort = new AbortController()
  readonly #mapper = new MessageMapper()
  readonly #mcpStatus = new McpStatusReporter()
  readonly #turns = new TurnTracker({
    hasOpenCalls: () => this.calls.hasOpenCalls,
    send: message => this.#input.push(message),
    onStaleMessage: () => void this.end('stopped'),
  })
  readonly #query: Query
  readonly #exited: Promise<ProcessExit>
  #process: CliProcess | null = null
  #backgroundTasks = 0
  /** Set when a background task has ended. Resolves when the CLI starts the next turn. */
  #ownTurnStart: Promise<void> | null = null
  #resolveOwnTurnStart = () => {}
  #hasExited = false
  #isReady = false
  #startTimedOut = false
  #stopReason: StopReason | null = null
  #ending: Promise<void> | null = null

  constructor(options: CliRunOptions) {
    this.#options = options
    const hasAskRule = options.askRule !== null
    this.endAfterTurn = hasAskRule
    const { session, transcript, carried, parkingProbe, mayDefer, mayBypass, installation } = options
    this.calls = new PendingCalls({
      ...{ session, transcript, carried, parkingProbe, mayDefer, mayBypass, hasAskRule },
      reportProblem: this.#reportProblem,
      agentPathOf: agentId => this.#mapper.subagents.pathOfAgent(agentId),
      processExited: () => this.#exitsSoon(),
      onCallStart: options.onActivity,
      onChange: () => {
        options.onCallsChanged()
        this.#turns.checkCalls()
      },
    })
    transcript.onConversationId = conversationId => this.#append({ type: 'session.changed', conversationId })
    this.#query = installation.sdk.query({ prompt: this.#input, options: this.#queryOptions() })
    this.#exited = this.#readMessages()
    this.#watchStart()
  }

  #watchStart(): void {
    const cancel = this.#options.clock.after(startMaxMs, () => {
      this.#startTimedOut = true
      void this.end('stopped')
    })
    // Ignore the error: if initialization fails, the process exits, and #readMessages reports the exit.
    Promise.race([this.#query.initializationResult(), this.#exited]).then(cancel, cancel)
  }

  /** Sends the message, or continues the resumed turn if the message is null. Resolves with the turn's result, or when the process exits. */
  async runTurn(message: SDKUserMessage | null): Promise<TurnOutcome> {
    return this.#turns.runTurn(message, this.#exited).finally(() => this.calls.clearInterrupt())
  }
  /** Follows a turn that the CLI started by itself until the turn is over or the process exits. */
  async followOwnTurn(): Promise<TurnOutcome> {
    return this.#turns.followOwnTurn(this.#exited).finally(() => this.calls.clearInterrupt())
  }
  yieldToMessage(): void {
    this.#turns.yieldToMessage()
  }

  get hasExited(): boolean {
    return this.#hasExited
  }
  /** Whether the process was ended because it did not initialize in time. */
  get startTimedOut(): boolean {
    return this.#startTimedOut
  }
  /** Whether the agent is working, or any call is open. */
  get isBusy(): boolean {
    return !this.#hasExited && this.#turns.isBusy
  }
  /** Whether a caller awaits a turn. That caller then handles the exit of the process. */
  get isTurnAwaited(): boolean {
    return this.#turns.isAwaited
  }
  /** The number of running background tasks, which would end with the process. */
  get backgroundTasks(): number {
    return this.#backgroundTasks
  }
  /** If a background task has ended, waits until the CLI starts a turn by itself, the process exits, or `ownTurnStartMaxMs` have passed. */
  async waitForOwnTurn(): Promise<void> {
    if (this.#ownTurnStart)
      await within(systemClock, ownTurnStartMaxMs, Promise.race([this.#ownTurnStart, this.#exited]))
    this.#ownTurnStart = null
  }
  /** Returns the state of the running process for the session log. The note says why the process must keep running. */
  liveState(note?: string): AgentProcess {
    const pid = this.#process?.child.pid
    const memoryBytes = this.#process?.memoryBytes ?? null
    return {
      state: 'live',
      ...(pid === undefined ? {} : { pid }),
      ...(memoryBytes === null ? {} : { memoryMb: Math.round(memoryBytes / 2 ** 20) }),
      ...(note === undefined ? {} : { note }),
    }
  }

  async interrupt(): Promise<void> {
    this.#turns.markInterrupted()
    const withdrawn = this.#turns.isAwaited ? this.calls.interrupt() : null
    await Promise.all([withdrawn, this.#query.interrupt()])
  }
  /** Changes both the mode and the model, or neither. If the CLI refuses the mode, the previous model is restored. */
  changeSettings(mode: Mode | undefined, model: string | undefined, previousModel: string | null): Promise<void> {
    const exited = this.#exited.then(() => Promise.reject(new Error('its process exited')))
    return Promise.race([this.#applySettings(mode, model, previousModel), exited])
  }
  async #applySettings(mode: Mode | undefined, model: string | undefined, previousModel: string | null): Promise<void> {
    if (model !== undefined) await this.#query.setModel(model)
    try {
      if (mode !== undefined) await this.#query.setPermissionMode(mode)
    } catch (error) {
      if (model !== undefined) await this.#query.setModel(previousModel ?? undefined)
      throw error
    }
  }

  /** Ends the process. Pending requests stay open at the gateway. */
  end(reason: StopReason): Promise<void> {
    this.#stopReason ??= reason
    this.#ending ??= this.#shutDown()
    return this.#ending
  }

  async #shutDown(): Promise<void> {
    const { hasHeldCall } = this.calls
    const deferRecorded = this.#turns.nextResult()
    this.calls.stopHanding()
    if (hasHeldCall) await within(systemClock, deferMaxMs, Promise.race([deferRecorded, this.#exited]))
    await this.#process?.end()
    this.#input.close()
    this.#abort.abort()
    await this.#exited
  }

  async #readMessages(): Promise<ProcessExit> {
    let failure = ''
    try {
      for await (const message of this.#query) await this.#onMessage(message).catch(this.#endAndThrow)
    } catch (error) {
      failure = messageOf(error)
    }
    this.#hasExited = true
    this.#input.close()
    const exit = await this.#exitDetails(failure)
    const { onProcessChange } = this.#options
    onProcessChange(this.#stopReason ? { state: this.#stopReason } : { state: 'lost', note: processExitMessage(exit) })
    return exit
  }

  /** Ends the process before an error leaves the loop over its messages. The SDK then closes the CLI's input, and a CLI that still runs would refuse the calls that wait. */
  readonly #endAndThrow = async (error: unknown) => {
    await this.#process?.endAndKillDescendants()
    throw error
  }

  async #exitDetails(failure: string): Promise<ProcessExit> {
    if (!this.#process) return { code: null, signal: null, stderr: failure }
    const exit = await this.#process.endAndKillDescendants()
    return exit.stderr === '' && exit.code !== 0 ? { ...exit, stderr: failure } : exit
  }

  async #onMessage(message: SDKMessage): Promise<void> {
    if (this.calls.isStopping) {
      // After it has deferred a call, the CLI sends one more result. `#shutDown` waits for that result, because it shows that the call is in the transcript.
      if (message.type === 'result') this.#turns.deliverResult(message)
      return
    }
    if (message.type === 'system' && message.subtype === 'init') this.#onTurnStart(message)
    this.#append(...this.#mapper.toEvents(message))
    if (message.type === 'user')
      for (const { id } of toolResultsIn(message.message.content)) await this.calls.markTaken(id)
    if (message.type === 'assistant' || message.type === 'user') await this.calls.markElicitationsTaken()
    if (message.type === 'system' && 'permissionMode' in message && message.permissionMode)
      this.#onModeEntered(message.permissionMode)
    if (message.type === 'system' && message.subtype === 'task_notification') this.#expectOwnTurn()
    if (message.type === 'system' && message.subtype === 'background_tasks_changed')
      this.#onBackgroundTasks(message.tasks.length)
    if (message.type === 'result') await this.#onResult(message)
  }

  /** Called on `init`, which the CLI sends at the start of every turn. */
  #onTurnStart(message: SDKSystemMessage): void {
    if (!this.#isReady) {
      this.#isReady = true
      this.#options.onProcessChange(this.liveState())
    }
    this.#turns.markStarted()
    this.#resolveOwnTurnStart()
    this.#ownTurnStart = null
    this.#options.onActivity()
    this.#reportMissingServers(message)
  }

  #expectOwnTurn(): void {
    this.#ownTurnStart ??= new Promise(resolve => {
      this.#resolveOwnTurnStart = resolve
    })
  }
  #onBackgroundTasks(count: number): void {
    this.#backgroundTasks = count
    this.#options.onActivity()
  }

  async #onResult(result: SDKResultMessage): Promise<void> {
    this.#turns.markStopped()
    await this.calls.onTurnEnd(this.#backgroundTasks > 0)
    this.#turns.deliverResult(result)
  }

  #reportMissingServers({ mcp_servers: servers }: SDKSystemMessage): void {
    if (!servers.some(isUnavailable)) return
    this.#query.mcpServerStatus().then(
      all => this.#append(...this.#mcpStatus.newProblems(all)),
      () => {}, // the process has exited, and #readMessages reports the exit
    )
  }

  #onModeEntered(mode: string): void {
    const { transcript, onModeChange } = this.#options
    if (transcript.meta.mode !== mode) transcript.updateMeta({ mode })
    onModeChange(mode)
  }

  readonly #reportProblem = (message: string) => this.#append(errorEvent('refused', message))

  /** Appends events without waiting, so that the CLI does not wait for the log. `AgentSession.open` flushes earlier events before it opens a request. */
  #append(...events: readonly AgentEvent[]): void {
    this.#options.session.sayQuietly(...events)
  }

  /** Resolves to whether the process has exited, or exits within a short time. */
  async #exitsSoon(): Promise<boolean> {
    if (!this.#process || this.#process.hasExited) return true
    return (await within(systemClock, exitGraceMs, this.#process.exited)) !== 'late'
  }

  #queryOptions(): Options {
    const { session, transcript, folder, env, sdkOptions, mode, model, mayBypass, askRule, denyRules, installation } =
      this.#options
    const resume = transcript.sessionId
    return {
      cwd: session.info.cwd,
      ...sdkOptions,
      ...sessionSdkOptions(session.info, mayBypass),
      env: { ...env },
      permissionMode: mode,
      abortController: this.#abort,
      includePartialMessages: true,
      forwardSubagentText: true,
      sessionStore: transcript.sdkStore,
      sessionStoreFlush: 'eager',
      ...(resume === undefined ? {} : { resume }),
      ...(model === null ? {} : { model }),
      settings: { permissions: { deny: [...denyRules], ask: askRule === null ? [] : [askRule] } },
      ...(installation.executable ? { pathToClaudeCodeExecutable: installation.executable } : {}),
      canUseTool: this.calls.canUseTool,
      onElicitation: elicitationHandler(this.calls, message => this.#append(errorEvent('form', message))),
      hooks: hooksFor(session, this.calls, agentId => this.#mapper.subagents.pathOfAgent(agentId), this.#reportProblem),
      spawnClaudeCodeProcess: spawnOptions => {
        this.#process = new CliProcess(spawnOptions, folder)
        // Handle an `end` that was called before the SDK spawned the process.
        if (this.#ending) void this.#process.end()
        return this.#process.spawned
      },
    }
  }
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
