/** A connection to an agent that speaks the Agent Client Protocol: starts its process, sends messages, and passes on what the agent does and asks. */
import { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionNotification,
} from '@agentclientprotocol/sdk'
import { type Ask, limits, messageOf } from '@holdpoint/protocol'
import type {
  AgentConnection,
  AgentMessage,
  AgentTurnEnd,
  AnswerEffects,
  CallAnswer,
  ConnectionOptions,
  ProcessStatus,
  SettingsChange,
} from '../session/agent-connection.ts'
import { type Decision, decisionFor } from '../session/decisions.ts'
import { AgentProcess, type AgentProcessOptions } from './agent-process.ts'
import { formAsk, formReply } from './forms.ts'
import { acpExit, acpLog } from './messages.ts'
import { detailOf, openSession } from './open-session.ts'
import { permissionAsk, permissionReply } from './permissions.ts'
import type { AcpProfile } from './profiles.ts'
import { contentOf } from './prompt-content.ts'
import { type AcpSettings, changeRequests, modeProblem, settingsOf } from './settings.ts'
import { describeCall, mergeCall } from './tool-calls.ts'
import { ToolLog } from './tool-log.ts'

export interface AcpConnectionOptions extends ConnectionOptions {
  readonly profile: AcpProfile
  readonly process: Omit<AgentProcessOptions, 'cwd' | 'title'>
}

const exitMaxMs = 1000

/** A question of the agent that waits for its answer. */
interface WaitingCall {
  /** The id that the agent uses for the tool call, or null if the question belongs to none. */
  readonly toolCallId: string | null
  reply(decision: Decision | null): void
}

export class AcpConnection implements AgentConnection {
  readonly #options: AcpConnectionOptions
  readonly #process: AgentProcess
  readonly #connection: ClientConnection
  readonly #log: ToolLog
  readonly #waiting = new Map<string, WaitingCall>()
  /** Calls whose answer was sent, by id, with the ids of their tool calls. A call is removed when the agent's next step shows that the agent has read the answer. */
  readonly #answered = new Map<string, string | null>()
  /** Resolves when the agent's session is open. */
  readonly #opened: Promise<void>
  #sessionId = ''
  #settings: AcpSettings = {}
  /** True while the agent loads an earlier conversation. Messages that the agent repeats during this time are ignored. */
  #isLoading = false
  #readsImages = false
  #isPrompting = false
  #callCount = 0
  /** The cost of the conversation so far, in US dollars. */
  #cost = 0
  #costBefore = 0
  /** Outputs are written one after another, in the order in which the agent sent them. */
  #written: Promise<void> = Promise.resolve()

  constructor(options: AcpConnectionOptions) {
    this.#options = options
    const { info, profile, emit } = options
    this.#process = new AgentProcess({ ...options.process, cwd: info.cwd, title: profile.title })
    this.#log = new ToolLog(profile, info.cwd, emit)
    const { stdin, stdout } = this.#process.streams
    this.#connection = client({ name: 'holdpoint' })
      .onNotification(methods.client.session.update, ({ params }) => this.#write(() => this.#update(params)))
      .onRequest(methods.client.session.requestPermission, ({ params, signal }) => this.#askPermission(params, signal))
      .onRequest(methods.client.elicitation.create, ({ params, signal }) =>
        this.#ask(null, async () => formAsk(params, profile.title), formReply, signal),
      )
      .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>)) // node types its own web streams differently
    this.#opened = this.#open()
    // `#fail` ends the process, and `#onExit` reports the failure.
    this.#opened.catch(error => this.#fail(messageOf(error)))
    void this.#connection.closed.then(() => this.#onClosed())
    void this.#process.exited.then(() => this.#onExit())
  }

  #failure: string | null = null
  #fail(how: string): void {
    this.#failure ??= how
    void this.#process.end()
  }
  /** The connection closes shortly before the process ends. If the process continues, nobody could reach it anymore. */
  async #onClosed(): Promise<void> {
    await Promise.race([this.#process.exited, delay(exitMaxMs, undefined, { ref: false })])
    if (this.#process.isRunning) this.#fail(acpExit.connectionLost(this.#options.profile.title))
  }
  async #onExit(): Promise<void> {
    this.#connection.close()
    await this.#written
    // Report the exit even if the log cannot be written.
    await this.#log.finishOpen(acpLog.notFinished).catch(() => {})
    const { lastOutput, howItEnded } = this.#process
    const how = this.#failure ?? howItEnded
    // An error means that nothing can be written anymore.
    await this.#options.emit({ type: 'exited', how, ...(lastOutput ? { lastOutput } : {}) }).catch(() => {})
  }

  async #open(): Promise<void> {
    const { profile, info, conversationId, mode, model, emit } = this.#options
    const { agent } = this.#connection
    const { agentCapabilities } = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'holdpoint', title: 'Holdpoint', version: '0.1.0' },
      clientCapabilities: { elicitation: { form: {}, url: {} } },
    })
    this.#readsImages = agentCapabilities?.promptCapabilities?.image === true
    const canContinue = agentCapabilities?.loadSession === true
    this.#isLoading = conversationId !== null
    const opened = await openSession({ agent, profile, cwd: info.cwd, conversationId, canLoad: canContinue })
    await this.#written
    this.#isLoading = false
    this.#sessionId = opened.id
    this.#settings = opened.settings
    if (opened.isForgotten) {
      const message = acpLog.newConversation(profile.title)
      await emit({ type: 'events', events: [{ type: 'error.raised', code: 'lost', message }] })
    }
    const wanted = mode === null || modeProblem(profile, mode) !== null ? profile.startMode : mode
    await this.#changeSettings({
      ...(wanted === undefined ? {} : { mode: wanted }),
      ...(model === null ? {} : { model }),
    })
    await emit({ type: 'ready', canContinue, ...settingsOf(this.#settings), conversationId: this.#sessionId })
  }

  send(message: AgentMessage): void {
    // `exited` reports that the session could not be opened.
    const opened = this.#opened.then(
      () => true,
      () => false,
    )
    // An error means that nothing can be written anymore.
    opened.then(isOpen => (isOpen ? this.#prompt(message) : undefined)).catch(() => this.#process.end())
  }

  async #prompt({ text, attachments }: AgentMessage): Promise<void> {
    const { emit, profile } = this.#options
    const { content, unreadable } = contentOf(text, attachments, this.#readsImages)
    this.#isPrompting = true
    await emit({ type: 'turnStarted' })
    for (const name of unreadable)
      await emit({
        type: 'events',
        events: [{ type: 'error.raised', message: acpLog.unreadableAttachment(profile.title, name) }],
      })
    const { agent } = this.#connection
    let end: AgentTurnEnd
    try {
      const reply = await agent.request(methods.agent.session.prompt, { sessionId: this.#sessionId, prompt: content })
      await this.#written
      end = this.#endOf(reply)
    } catch (error) {
      if (this.#process.pid === undefined || this.#connection.signal.aborted) return
      const reason = acpLog.notSent(profile.title, detailOf(error)).slice(0, limits.reasonMax).toWellFormed()
      end = { type: 'turnEnded', ending: 'failed', reason, events: [{ type: 'error.raised', message: reason }] }
    }
    this.#isPrompting = false
    await this.#takeAnswers(() => true)
    await this.#log.finishOpen(acpLog.notFinished)
    await emit(end)
  }

  #endOf(reply: PromptResponse): AgentTurnEnd {
    const { stopReason, usage } = reply as PromptResponse & { usage?: { inputTokens?: number; outputTokens?: number } } // the protocol does not define the usage yet
    const cost = this.#cost - this.#costBefore
    this.#costBefore = this.#cost
    const figures = {
      ...(usage ? { usage: { inputTokens: usage.inputTokens ?? 0, outputTokens: usage.outputTokens ?? 0 } } : {}),
      ...(cost > 0 ? { cost } : {}),
    }
    if (stopReason === 'end_turn') return { type: 'turnEnded', ending: 'done', ...figures }
    if (stopReason === 'cancelled') return { type: 'turnEnded', ending: 'cancelled', ...figures }
    const message = acpLog.stopped[stopReason]
    return {
      type: 'turnEnded',
      ending: 'failed',
      reason: message,
      events: [{ type: 'error.raised', message }],
      ...figures,
    }
  }

  async #update({ update }: SessionNotification): Promise<void> {
    if (this.#isLoading) return
    const { emit } = this.#options
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        if (update.content.type !== 'text' || update.content.text === '') return
        await this.#takeAnswers(() => true)
        return emit({ type: 'text', text: update.content.text })
      case 'tool_call':
      case 'tool_call_update':
        if (update.status !== 'pending') await this.#takeAnswers(id => id === update.toolCallId)
        return update.sessionUpdate === 'tool_call' ? this.#log.update(update) : this.#log.change(update)
      case 'current_mode_update':
        if (this.#settings.modes)
          this.#settings = {
            ...this.#settings,
            modes: { ...this.#settings.modes, currentModeId: update.currentModeId },
          }
        return emit({ type: 'settingsChanged', mode: update.currentModeId })
      case 'config_option_update':
        this.#settings = { ...this.#settings, configOptions: update.configOptions }
        return emit({ type: 'settingsChanged', ...settingsOf(this.#settings) })
      case 'usage_update':
        if (update.cost?.currency === 'USD') this.#cost = update.cost.amount
        return
      default:
        return
    }
  }

  /** Reports answers as taken, because the agent's next step shows that it has read them. */
  async #takeAnswers(isTaken: (toolCallId: string | null) => boolean): Promise<void> {
    for (const [id, toolCallId] of this.#answered) {
      if (!isTaken(toolCallId)) continue
      this.#answered.delete(id)
      await this.#options.emit({ type: 'callTaken', id })
    }
  }

  #askPermission({ toolCall, options }: RequestPermissionRequest, signal: AbortSignal) {
    const { profile, info } = this.#options
    const prepare = async () => {
      // Some agents do not announce a tool call before they ask for it.
      await this.#log.update(toolCall)
      const call = mergeCall(this.#log.known(toolCall.toolCallId), toolCall)
      return permissionAsk(call, describeCall(call, profile, info.cwd), options, profile, info.cwd)
    }
    const reply = (decision: Decision | null) => {
      // Some agents never finish a call that was denied.
      if (decision?.answer === null)
        this.#writeQuietly(() => this.#log.finish(toolCall.toolCallId, false, acpLog.denied))
      return permissionReply(decision, options)
    }
    return this.#ask(toolCall.toolCallId, prepare, reply, signal)
  }

  /** Opens a call, and resolves with the reply for the agent. */
  #ask<Reply>(
    toolCallId: string | null,
    prepare: () => Promise<Ask>,
    replyTo: (decision: Decision | null) => Reply,
    signal: AbortSignal,
  ): Promise<Reply> {
    // The ids of tool calls can repeat, also after the process was started again. The start time distinguishes the processes.
    const id = `${this.#startedAt}:${++this.#callCount}:${toolCallId ?? 'form'}`.slice(0, limits.keyMax).toWellFormed()
    return new Promise((resolve, reject) => {
      const reply = (decision: Decision | null) => resolve(replyTo(decision))
      const abort = () => {
        // If the process has died, the request stays open, and `exited` reports the loss.
        if (this.#connection.signal.aborted || !this.#waiting.delete(id)) return
        resolve(replyTo(null))
        this.#writeQuietly(() => this.#options.emit({ type: 'callAborted', id }))
      }
      void this.#write(async () => {
        const ask = await prepare()
        this.#waiting.set(id, { toolCallId, reply })
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort, { once: true })
        await this.#options.emit({ type: 'callOpened', call: { id, ask } })
      }).catch(reject)
    })
  }
  readonly #startedAt = Date.now().toString(36)

  async answer(call: string, given: CallAnswer): Promise<AnswerEffects> {
    const waiting = this.#waiting.get(call)
    if (!waiting || this.#connection.signal.aborted) throw new Error(acpLog.noLongerWaits)
    this.#waiting.delete(call)
    const decision = decisionFor(given)
    this.#answered.set(call, waiting.toolCallId)
    waiting.reply(decision)
    if (!decision) return {}
    const { answer, stopsTurn, text } = decision
    // An error means that the connection is closed, and an agent that does not read delays this for ever. The stop timer ends the turn in both cases.
    if (stopsTurn) void this.interrupt().catch(() => {})
    const isEnded =
      answer === null && (stopsTurn || (this.#options.profile.endsTurnAfterDeny && given.ask.kind === 'approval'))
    return {
      ...(isEnded ? { turnEnding: stopsTurn ? 'interrupted' : 'cancelled' } : {}),
      ...(text === null ? {} : { tellAgent: text }),
    }
  }

  async interrupt(): Promise<void> {
    await this.#opened
    if (this.#isPrompting)
      await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId: this.#sessionId })
  }

  async changeSettings(change: SettingsChange): Promise<void> {
    const problem = modeProblem(this.#options.profile, change.mode)
    if (problem) throw new Error(problem)
    await this.#opened
    await this.#changeSettings(change)
    await this.#options.emit({ type: 'settingsChanged', ...settingsOf(this.#settings) })
  }

  async #changeSettings(change: SettingsChange): Promise<void> {
    const requests = changeRequests(this.#settings, change, this.#options.profile.title)
    if (typeof requests === 'string') throw new Error(requests)
    const { agent } = this.#connection
    const sessionId = this.#sessionId
    for (const request of requests) {
      if (request.kind === 'mode') {
        await agent.request(methods.agent.session.setMode, { sessionId, modeId: request.modeId })
        if (this.#settings.modes)
          this.#settings = { ...this.#settings, modes: { ...this.#settings.modes, currentModeId: request.modeId } }
      } else {
        const { configId, value } = request
        const { configOptions } = await agent.request(methods.agent.session.setConfigOption, {
          sessionId,
          configId,
          value,
        })
        this.#settings = { ...this.#settings, configOptions }
      }
    }
  }

  async close(): Promise<void> {
    for (const [id, { reply }] of this.#waiting) {
      this.#waiting.delete(id)
      reply(null)
    }
    await this.#process.end()
    await this.#onExited
  }
  get #onExited(): Promise<void> {
    return this.#process.exited.then(() => this.#written)
  }

  status(): ProcessStatus {
    const { pid } = this.#process
    return pid === undefined ? {} : { pid }
  }

  /** For writing that nobody waits for: `#write` handles the error. */
  #writeQuietly(step: () => Promise<void>): void {
    this.#write(step).catch(() => {})
  }
  #write(step: () => Promise<void>): Promise<void> {
    const written = this.#written.then(step)
    // After an error, nothing more can be written.
    this.#written = written.catch(() => void this.#process.end())
    return written
  }
}
