/** A connection to Claude Code: one run of the CLI through the SDK. Passes on what the CLI does and asks, and ends its process. */
import { randomUUID } from 'node:crypto'
import type {
  Query,
  SDKMessage,
  SDKResultMessage,
  SDKSystemMessage,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk'
import { type AgentEvent, messageOf, systemClock, type Variable, within } from '@holdpoint/protocol'
import type {
  AgentConnection,
  AgentMessage,
  AgentOutput,
  AnswerEffects,
  CallAnswer,
  CallParking,
  CloseReason,
  ConnectionOptions,
  ProcessStatus,
  SettingsChange,
} from '../session/agent-connection.ts'
import { Elicitations } from './approvals/elicitations.ts'
import { isMode } from './approvals/modes.ts'
import { isAlwaysAsked } from './approvals/permission.ts'
import { PermissionCalls } from './approvals/permission-calls.ts'
import { CliProcess, type ProcessExit } from './cli/cli-process.ts'
import { toolResultsIn } from './cli/content-blocks.ts'
import { hooksFor } from './cli/hooks.ts'
import { InputQueue } from './cli/input-queue.ts'
import { isUnavailable, McpStatusReporter } from './cli/mcp-status.ts'
import { messageUuid, userMessage } from './cli/message.ts'
import { MessageMapper } from './cli/message-mapper.ts'
import { inProcessServers, permissionRules, type QuerySettings, queryOptions } from './cli/query-options.ts'
import { areSameVariables } from './cli/variable-tool.ts'
import { describeExit, errorEvent } from './error-events.ts'
import { noLongerWaits } from './messages.ts'
import { callParking } from './parking/call-parking.ts'
import type { ParkingProbe } from './parking/parking-method.ts'
import { resetAttempts } from './resuming/resume-plan.ts'
import { turnEndOf } from './turn-end.ts'

export interface ClaudeConnectionOptions extends Omit<ConnectionOptions, 'mode' | 'model'>, QuerySettings {
  /** The folder for the session's transcript and state. */
  readonly folder: string
  readonly parkingProbe: ParkingProbe
  /** The keys of requests that an earlier process left open. */
  readonly carriedKeys: ReadonlySet<string>
}

/** How long to wait for the process to exit after the CLI has aborted a call, before the process counts as still running. */
const exitGraceMs = 1000
/** How long the CLI may take to record a deferred call. */
const deferMaxMs = 1000
/** How long to wait for the CLI to start a turn by itself after a background task has ended. */
const ownTurnStartMaxMs = 2000

export class ClaudeConnection implements AgentConnection {
  readonly parking: CallParking
  readonly #options: ClaudeConnectionOptions
  readonly #input = new InputQueue<SDKUserMessage>()
  readonly #abort = new AbortController()
  readonly #mapper: MessageMapper
  readonly #mcpStatus = new McpStatusReporter()
  readonly #calls: PermissionCalls
  readonly #elicitations: Elicitations
  readonly #query: Query
  readonly #exited: Promise<void>
  /** The ids of the messages that were sent, by uuid. */
  readonly #sent = new Map<string, string>()
  /** Called with every result that the CLI sends. */
  readonly #resultListeners = new Set<(result: SDKResultMessage) => void>()
  #process: CliProcess | null = null
  #isReady = false
  #isClosing = false
  #mode: string
  #model: string | null
  #variables: readonly Variable[]
  #backgroundTasks = 0
  /** Set when a background task has ended. Resolves when the CLI starts the next turn. */
  #ownTurnStart: Promise<void> | null = null
  #resolveOwnTurnStart = () => {}

  constructor(options: ClaudeConnectionOptions) {
    this.#options = options
    const { info, transcript, mayBypass, parkingProbe, carriedKeys, emit, check, parkAfterMs } = options
    this.#mapper = new MessageMapper(info.cwd)
    this.#mode = options.mode
    this.#model = options.model
    this.#variables = options.variables
    this.#calls = new PermissionCalls({
      ...{ transcript, mayBypass, parkingProbe, carriedKeys, emit, check, cwd: info.cwd },
      hasAskRule: options.askRule !== null,
      mayDefer: tool => parkAfterMs() !== null && isAlwaysAsked(tool, this.#mode),
      agentPathOf: this.#agentPathOf,
      isClosing: () => this.#isClosing,
      isExiting: () => this.isExiting(),
      reportProblem: this.#reportProblem,
    })
    this.#elicitations = new Elicitations({
      emit,
      reportProblem: message => this.#write(errorEvent('form', message)),
    })
    this.parking = callParking({
      ...{ index: transcript.index, parkingProbe },
      isHeld: id => this.#calls.isHeld(id),
      isElsewhere: id => this.#calls.isElsewhere(id),
    })
    transcript.onAppend = () => this.#emit({ type: 'parkingChanged' })
    transcript.onConversationId = conversationId => this.#emit({ type: 'settingsChanged', conversationId })
    this.#query = this.#start()
    this.#exited = this.#readMessages()
    this.#query.initializationResult().then(
      () => this.#markReady(),
      () => {}, // the process exits, and #readMessages reports the exit
    )
  }

  #start(): Query {
    const { installation, folder, check, reportResult, isInterrupted } = this.#options
    const spawn = (options: ConstructorParameters<typeof CliProcess>[0]) => {
      this.#process = new CliProcess(options, folder)
      // Handle a `close` that was called before the SDK spawned the process.
      if (this.#isClosing) void this.#process.end()
      return this.#process.spawned
    }
    const hooks = hooksFor({
      ...{ check, reportResult, isInterrupted, calls: this.#calls, agentPathOf: this.#agentPathOf },
      ...{ isClosing: () => this.#isClosing, reportProblem: this.#reportProblem },
    })
    const options = {
      ...queryOptions(this.#options),
      ...{ hooks, spawnClaudeCodeProcess: spawn, abortController: this.#abort },
      canUseTool: this.#calls.canUseTool,
      onElicitation: this.#elicitations.onElicitation,
    }
    return installation.sdk.query({ prompt: this.#input, options })
  }

  send({ id, text, attachments }: AgentMessage): void {
    const uuid = messageUuid(id)
    this.#sent.set(uuid, id)
    this.#input.push(userMessage(uuid, text, attachments))
  }

  /** The CLI adds the text to its conversation without calling the model. */
  async tell(text: string): Promise<void> {
    const uuid = randomUUID()
    const isAdded = ({ user_message_uuids: uuids }: SDKResultMessage) => uuids?.includes(uuid) ?? true
    const added = this.#nextResult(isAdded)
    this.#input.push({ ...userMessage(uuid, text), shouldQuery: false })
    await Promise.race([added, this.#exited])
  }

  async answer(call: string, answer: CallAnswer): Promise<AnswerEffects> {
    const effects = this.#calls.answer(call, answer) ?? this.#elicitations.answer(call, answer)
    if (!effects) throw new Error(noLongerWaits)
    return effects
  }

  async interrupt(): Promise<void> {
    await this.#query.interrupt()
  }

  /** Changes both the mode and the model, or neither. If the CLI refuses the mode, the previous model is restored. */
  async changeSettings({ mode, model }: SettingsChange): Promise<void> {
    if (model !== undefined) await this.#query.setModel(model)
    try {
      if (isMode(mode)) await this.#query.setPermissionMode(mode)
    } catch (error) {
      if (model !== undefined) await this.#query.setModel(this.#model ?? undefined)
      throw error
    }
    this.#mode = mode ?? this.#mode
    this.#model = model ?? this.#model
  }

  /** Changes which variables the tool of the agent sets, because a file with watchers has changed since the process was started. */
  async offerVariables(variables: readonly Variable[]): Promise<void> {
    if (areSameVariables(variables, this.#variables)) return
    this.#variables = variables
    const changed = { ...this.#options, variables }
    const offered = Promise.all([
      this.#query.setMcpServers(inProcessServers(changed)),
      this.#query.applyFlagSettings({ permissions: permissionRules(changed) }),
    ])
    const reported = offered.catch(error => this.#write(errorEvent('mcp', messageOf(error))))
    await Promise.race([reported, this.#exited])
  }

  async close(_reason: CloseReason, waiting: readonly string[]): Promise<void> {
    this.#isClosing = true
    // After it has deferred a call, the CLI sends one more result, which shows that the call is in the transcript.
    const recorded = this.#nextResult(() => true)
    const isDeferred = waiting.filter(id => this.#calls.defer(id)).length > 0
    if (isDeferred) await within(systemClock, deferMaxMs, Promise.race([recorded, this.#exited]))
    await this.#process?.end()
    this.#input.close()
    this.#abort.abort()
    await this.#exited
  }

  status(): ProcessStatus {
    const pid = this.#process?.child.pid
    const memoryBytes = this.#process?.memoryBytes ?? null
    return {
      ...(pid === undefined ? {} : { pid }),
      ...(memoryBytes === null ? {} : { memoryMb: Math.round(memoryBytes / 2 ** 20) }),
    }
  }

  hasReceived(message: string): boolean {
    return this.#options.transcript.index.hasMessage(messageUuid(message))
  }

  async isExiting(): Promise<boolean> {
    if (this.#isClosing || !this.#process || this.#process.hasExited) return true
    return (await within(systemClock, exitGraceMs, this.#process.exited)) !== 'late'
  }

  /** The ask rule of a resumed call applies until the process ends. */
  async mustEndAfterTurn(): Promise<boolean> {
    if (this.#options.askRule === null) return false
    if (this.#ownTurnStart)
      await within(systemClock, ownTurnStartMaxMs, Promise.race([this.#ownTurnStart, this.#exited]))
    this.#ownTurnStart = null
    return true
  }

  async #readMessages(): Promise<void> {
    const { transcript, emit } = this.#options
    let failure = ''
    try {
      for await (const message of this.#query) {
        try {
          this.#onMessage(message)
        } catch (error) {
          await this.#endProcess()
          throw error
        }
      }
    } catch (error) {
      failure = messageOf(error)
    }
    this.#input.close()
    const exit = await this.#exitDetails(failure)
    if (this.#isClosing) resetAttempts(transcript)
    await emit({ type: 'exited', how: describeExit(exit), lastOutput: exit.stderr })
  }

  /** Ends the process before an error leaves the loop over its messages. Once the loop is left, the SDK closes the CLI's input, and a CLI that still runs would refuse the calls that wait. */
  async #endProcess(): Promise<void> {
    await this.#process?.endAndKillDescendants()
  }

  async #exitDetails(failure: string): Promise<ProcessExit> {
    if (!this.#process) return { code: null, signal: null, stderr: failure }
    const exit = await this.#process.endAndKillDescendants()
    return exit.stderr === '' && exit.code !== 0 ? { ...exit, stderr: failure } : exit
  }

  /** Must not wait for the gateway. The SDK passes on the CLI's questions as soon as they arrive, and a question of the next turn must not come before the result of this turn. */
  #onMessage(message: SDKMessage): void {
    if (message.type === 'result') this.#onResult(message)
    if (this.#isClosing) return
    if (message.type === 'system' && message.subtype === 'init') this.#onTurnStart(message)
    this.#write(...this.#mapper.toEvents(message))
    if (message.type === 'user')
      for (const { id } of toolResultsIn(message.message.content))
        if (this.#calls.markFinished(id)) this.#emit({ type: 'callTaken', id })
    if (message.type === 'assistant' || message.type === 'user')
      for (const id of this.#elicitations.takeAnswered()) this.#emit({ type: 'callTaken', id })
    if (message.type === 'system' && 'permissionMode' in message && message.permissionMode)
      this.#onModeEntered(message.permissionMode)
    if (message.type === 'system' && message.subtype === 'task_notification') this.#expectOwnTurn()
    if (message.type === 'system' && message.subtype === 'background_tasks_changed') {
      this.#backgroundTasks = message.tasks.length
      this.#emit({ type: 'backgroundChanged', tasks: message.tasks.length })
    }
  }

  #markReady(): void {
    if (this.#isReady) return
    this.#isReady = true
    this.#emit({ type: 'ready' })
  }

  /** Called on `init`, which the CLI sends at the start of every turn. */
  #onTurnStart(message: SDKSystemMessage): void {
    this.#markReady()
    this.#resolveOwnTurnStart()
    this.#ownTurnStart = null
    this.#reportMissingServers(message)
    this.#emit({ type: 'turnStarted' })
  }
  #expectOwnTurn(): void {
    this.#ownTurnStart ??= new Promise(resolve => {
      this.#resolveOwnTurnStart = resolve
    })
  }

  #onResult(result: SDKResultMessage): void {
    if (!this.#isClosing) this.#emit(turnEndOf(result, this.#options.transcript, this.#sent))
    // The loop may have closed the connection because of this result.
    if (!this.#isClosing) this.#calls.onTurnEnd(this.#backgroundTasks > 0)
    for (const listener of this.#resultListeners) listener(result)
  }
  #nextResult(isMeant: (result: SDKResultMessage) => boolean): Promise<void> {
    return new Promise(resolve => {
      const listener = (result: SDKResultMessage) => {
        if (!isMeant(result)) return
        this.#resultListeners.delete(listener)
        resolve()
      }
      this.#resultListeners.add(listener)
    })
  }

  #reportMissingServers({ mcp_servers: servers }: SDKSystemMessage): void {
    if (!servers.some(isUnavailable)) return
    this.#query.mcpServerStatus().then(
      all => this.#write(...this.#mcpStatus.newProblems(all)),
      () => {}, // the process has exited, and #readMessages reports the exit
    )
  }

  #onModeEntered(mode: string): void {
    const { transcript } = this.#options
    if (transcript.meta.mode !== mode) transcript.updateMeta({ mode })
    this.#mode = mode
    this.#emit({ type: 'settingsChanged', mode })
  }

  readonly #agentPathOf = (agentId: string | undefined) => this.#mapper.subagents.pathOfAgent(agentId)
  readonly #reportProblem = (message: string) => this.#write(errorEvent('refused', message))
  #write(...events: readonly AgentEvent[]): void {
    if (events.length > 0) this.#emit({ type: 'events', events })
  }
  #emit(output: AgentOutput): void {
    // After an error, nothing more can be written.
    this.#options.emit(output).catch(() => (this.#isClosing ? undefined : this.#endProcess()))
  }
}
