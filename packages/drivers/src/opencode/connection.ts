/** A connection to opencode: starts its server, opens the conversation, sends messages, and passes on what opencode does and asks. */
import { setTimeout as delay } from 'node:timers/promises'
import { limits, messageOf } from '@holdpoint/protocol'
import { z } from 'zod'
import type { AgentProcessOptions } from '../acp/agent-process.ts'
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
import { decisionFor } from '../session/decisions.ts'
import { joinWords } from '../shell-quote.ts'
import { removeAttachScript, writeAttachScript } from './attach-script.ts'
import { SessionTree } from './conversations.ts'
import { opencodeExit, opencodeLog, opencodeSettings } from './messages.ts'
import { OpenCalls } from './open-calls.ts'
import { PartLog } from './part-log.ts'
import { type PermissionRule, sessionRules } from './permission-settings.ts'
import { opencodeQuestions } from './questions.ts'
import { OpencodeServer } from './server.ts'
import { opencodeApproval } from './tool-calls.ts'
import {
  OpencodeAgent,
  OpencodeConfig,
  type OpencodeEvent,
  OpencodeProviders,
  type PermissionRequest,
  SessionInfo,
} from './wire.ts'

export interface OpencodeConnectionOptions extends ConnectionOptions {
  readonly process: Pick<AgentProcessOptions, 'executable' | 'env' | 'folder'>
}

const defaultMode = 'build'
const exitMaxMs = 1000

export class OpencodeConnection implements AgentConnection {
  readonly #options: OpencodeConnectionOptions
  readonly #server: OpencodeServer
  readonly #parts: PartLog
  readonly #calls: OpenCalls
  /** Resolves when the conversation is open. */
  readonly #opened: Promise<void>
  readonly #finished: Promise<void>
  #sessions = new SessionTree('', () => Promise.reject(new Error(opencodeExit.noAddress)))
  #modes: readonly string[] = []
  #servers: readonly string[] = []
  #mode = defaultMode
  #model: string | null = null
  #isWorking = false
  /** The first error of this turn. */
  #error: { readonly name: string; readonly message: string } | null = null
  #failure: string | null = null
  /** `#sent` settles when the last message was sent, and `#stopped` when the last turn was stopped. */
  #sent: Promise<unknown> = Promise.resolve()
  #stopped: Promise<unknown> = Promise.resolve()

  constructor(options: OpencodeConnectionOptions) {
    this.#options = options
    const { emit, info } = options
    this.#server = new OpencodeServer({ ...options.process, cwd: info.cwd })
    this.#parts = new PartLog({ emit, place: () => ({ folder: info.cwd, servers: this.#servers }) })
    this.#calls = new OpenCalls({ server: this.#server, emit })
    this.#opened = this.#open()
    this.#finished = this.#read()
  }

  /** Reads events until the process ends. */
  async #read(): Promise<void> {
    try {
      await this.#opened
      for await (const event of this.#events) await this.#handle(event)
      this.#failure ??= opencodeExit.streamEnded
    } catch (error) {
      this.#failure ??= messageOf(error)
    }
    const { process } = this.#server
    // The stream closes shortly before the process ends.
    const isEnded = await Promise.race([process.exited.then(() => true), delay(exitMaxMs, false, { ref: false })])
    await this.#endServer()
    // Report the exit even if the log cannot be written.
    await this.#parts.finishOpen().catch(() => {})
    const { lastOutput, howItEnded } = process
    const how = isEnded || this.#isClosing ? howItEnded : (this.#failure ?? howItEnded)
    // After an error, nothing more can be written.
    await this.#options.emit({ type: 'exited', how, ...(lastOutput ? { lastOutput } : {}) }).catch(() => {})
  }
  #events: AsyncIterable<OpencodeEvent> = noEvents()
  #isClosing = false
  #attachScript: string | null = null

  async #open(): Promise<void> {
    const { emit, mode, model, conversationId } = this.#options
    const config = await this.#server.get('/config', OpencodeConfig)
    const agents = await this.#server.get('/agent', z.array(OpencodeAgent))
    this.#modes = agents.filter(agent => agent.mode !== 'subagent' && !agent.hidden).map(({ name }) => name)
    this.#servers = Object.keys(config.mcp)
    const settings = { mode: mode ?? config.default_agent ?? defaultMode, ...(model === null ? {} : { model }) }
    await this.#applySettings(settings)
    this.#events = await this.#server.events()
    const rules = sessionRules(config)
    const session = conversationId === null ? await this.#create(rules) : await this.#continue(conversationId, rules)
    this.#sessions = new SessionTree(session.id, id => this.#server.get(`/session/${id}`, SessionInfo))
    const { executable, folder } = this.#options.process
    const { url, password } = this.#server
    const target = { executable, url: await url, password, conversation: session.id, cwd: this.#options.info.cwd }
    this.#attachScript = writeAttachScript(folder, target)
    await emit({ type: 'ready', ...settings, conversationId: session.id })
  }
  #create(rules: readonly PermissionRule[]): Promise<SessionInfo> {
    return this.#server.send('POST', '/session', { permission: rules }, SessionInfo)
  }
  async #continue(id: string, rules: readonly PermissionRule[]): Promise<SessionInfo> {
    const session = await this.#server.get(`/session/${encodeURIComponent(id)}`, SessionInfo).catch(error => {
      throw new Error(opencodeExit.noConversation(id, messageOf(error)))
    })
    const last = rules.length === 0 ? [] : (session.permission?.slice(-rules.length) ?? [])
    // opencode appends the rules to those of the conversation, so send them only if they are not already the last ones.
    if (JSON.stringify(last) !== JSON.stringify(rules))
      await this.#server.send('PATCH', `/session/${session.id}`, { permission: rules })
    return session
  }

  send(message: AgentMessage): void {
    // `exited` reports a conversation that could not be opened.
    const prompt = () => this.#prompt(message).catch(error => this.#onNotSent(error))
    this.#sent = this.#opened.then(prompt, () => {})
  }
  async #prompt({ text, attachments }: AgentMessage): Promise<void> {
    await this.#stopped
    this.#error = null
    const files = attachments.map(({ mediaType, name, data }) => ({
      ...{ type: 'file', mime: mediaType, url: `data:${mediaType};base64,${data}` },
      ...(name === undefined ? {} : { filename: name }),
    }))
    const parts = [...files, ...(text === '' ? [] : [{ type: 'text', text }])]
    const model = modelIds(this.#model)
    const body = { parts, agent: this.#mode, ...(model ? { model } : {}) }
    await this.#server.send('POST', `/session/${this.#sessions.main}/prompt_async`, body)
  }
  async #onNotSent(error: unknown): Promise<void> {
    // The end of the process is reported anyway.
    if (!this.#server.process.isRunning) return
    // If the failure cannot be reported, the gateway has ended the session or given it to another runner, and the loop stops.
    await this.#options.emit(failedTurn(opencodeLog.notSent(messageOf(error)))).catch(() => {})
  }

  async #handle(event: OpencodeEvent): Promise<void> {
    // If opencode needs a permission for a call, it asks immediately. So every call that it has not asked about by the next heartbeat is running.
    if (event.type === 'server.heartbeat') return this.#parts.writeHeld()
    const sessionID = sessionOf(event)
    const agentPath = sessionID === undefined ? null : await this.#sessions.pathOf(sessionID)
    // A terminal can open other conversations on the same server.
    if (agentPath === null) return
    const isMain = agentPath.length === 0
    switch (event.type) {
      case 'session.status':
        return isMain && event.properties.status.type === 'busy' ? this.#startTurn() : undefined
      case 'session.error':
        if (isMain) this.#error ??= errorOf(event)
        return
      case 'session.idle':
        return isMain ? this.#endTurn() : undefined
      case 'message.updated':
        return this.#onMessage(event.properties.info, isMain)
      case 'message.part.delta':
        return this.#parts.delta(event.properties.partID, event.properties.delta, agentPath)
      case 'message.part.updated':
        await this.#parts.update(event.properties.part, agentPath)
        return this.#askEarly()
      case 'permission.asked':
        return this.#askPermission(event.properties, agentPath)
      case 'question.asked': {
        const { id, sessionID } = event.properties
        await this.#parts.writeHeld()
        return this.#calls.open({ id, sessionID, ask: opencodeQuestions(event.properties), agentPath, toolCall: null })
      }
      case 'permission.replied':
      case 'question.replied':
      case 'question.rejected':
        this.#early.delete(event.properties.requestID)
        return this.#calls.settle(event.properties.requestID, event.properties.reply)
    }
  }

  async #startTurn(): Promise<void> {
    if (this.#isWorking) return
    this.#isWorking = true
    // An error can arrive after the end of its turn.
    this.#error = null
    await this.#options.emit({ type: 'turnStarted' })
  }
  async #endTurn(): Promise<void> {
    // After an abort, opencode reports twice that it is idle.
    if (!this.#isWorking && this.#error === null) return
    this.#isWorking = false
    await this.#calls.endTurn([...this.#early.keys()])
    this.#early.clear()
    await this.#parts.finishOpen()
    const error = this.#error
    this.#error = null
    const figures = this.#parts.takeFigures()
    if (error === null) return this.#options.emit({ type: 'turnEnded', ending: 'done', ...figures })
    if (error.name === 'MessageAbortedError')
      return this.#options.emit({ type: 'turnEnded', ending: 'interrupted', ...figures })
    await this.#options.emit({ ...failedTurn(opencodeLog.failed(error.message)), ...figures })
  }

  async #onMessage(message: MessageInfo, isMain: boolean): Promise<void> {
    if (message.role === 'assistant') return this.#parts.addOwnMessage(message.id)
    if (!isMain) return
    // A person can change the agent and the model in a terminal.
    const mode = message.agent ?? this.#mode
    const { providerID, modelID } = message.model ?? {}
    const model = modelID === undefined ? this.#model : `${providerID}/${modelID}`
    if (mode === this.#mode && model === this.#model) return
    this.#mode = mode
    this.#model = model
    await this.#options.emit({ type: 'settingsChanged', mode, ...(model === null ? {} : { model }) })
  }

  async #askPermission(request: PermissionRequest, agentPath: readonly string[]): Promise<void> {
    const { id, sessionID, tool } = request
    const part = tool && this.#parts.toolCall(tool.messageID, tool.callID)
    if (tool && (!part || part.state.status === 'pending')) {
      this.#early.set(id, { request, agentPath })
      return
    }
    const place = { folder: this.#options.info.cwd, servers: this.#servers }
    const ask = opencodeApproval(request, part ? { tool: part.tool, input: part.state.input } : null, place)
    await this.#parts.writeHeld()
    await this.#calls.open({ id, sessionID, ask, agentPath, toolCall: part ? part.id : null })
  }
  /** Permissions for tool calls whose input opencode has not sent yet. opencode sends the input right after the permission. */
  readonly #early = new Map<string, { readonly request: PermissionRequest; readonly agentPath: readonly string[] }>()
  async #askEarly(): Promise<void> {
    for (const [id, { request, agentPath }] of [...this.#early]) {
      this.#early.delete(id)
      await this.#askPermission(request, agentPath)
    }
  }

  async answer(call: string, given: CallAnswer): Promise<AnswerEffects> {
    const decision = decisionFor(given)
    // The turn is being interrupted, and its end settles the call.
    if (!decision) return {}
    const { stopsTurn, answer, text } = decision
    if (stopsTurn) {
      if (!this.#calls.has(call)) throw new Error(opencodeLog.noLongerWaits)
      // Do not await the abort, because the effects below must be known before the turn ends. If the abort fails, the stop timer ends the turn.
      void this.#abort().catch(() => {})
      return { turnEnding: 'interrupted', ...(text === null ? {} : { tellAgent: text }) }
    }
    await this.#calls.answer(call, decision)
    // A denial is sent together with its reason, so the agent need not be told the reason later.
    return answer === null || text === null ? {} : { tellAgent: text }
  }

  async interrupt(): Promise<void> {
    await this.#opened
    await this.#sent
    await this.#abort()
  }
  async #abort(): Promise<void> {
    const stopped = this.#server.send('POST', `/session/${this.#sessions.main}/abort`, {})
    // The caller gets the error. `#stopped` only says when the attempt is over.
    this.#stopped = stopped.catch(() => {})
    await stopped
  }

  async changeSettings(change: SettingsChange): Promise<void> {
    await this.#opened
    await this.#applySettings(change)
    await this.#options.emit({ type: 'settingsChanged', ...change })
  }
  /** Stores mode and model, which opencode gets with the next message. */
  async #applySettings({ mode, model }: SettingsChange): Promise<void> {
    if (mode !== undefined && !this.#modes.includes(mode))
      throw new Error(opencodeSettings.noSuchMode(mode, this.#modes))
    if (model !== undefined) {
      const { providers } = await this.#server.get('/config/providers', OpencodeProviders)
      const models = providers.flatMap(({ id, models }) => Object.keys(models).map(name => `${id}/${name}`))
      if (!models.includes(model))
        throw new Error(opencodeSettings.noSuchModel(model, models.slice(0, limits.optionsMax)))
    }
    this.#mode = mode ?? this.#mode
    this.#model = model ?? this.#model
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await this.#endServer()
    await this.#finished
  }
  async #endServer(): Promise<void> {
    removeAttachScript(this.#options.process.folder)
    await this.#server.end()
  }

  status(): ProcessStatus {
    const { pid } = this.#server.process
    const attach = this.#attachScript === null ? {} : { attach: joinWords([this.#attachScript]) }
    return pid === undefined ? {} : { pid, ...attach }
  }
}

type MessageInfo = Extract<OpencodeEvent, { type: 'message.updated' }>['properties']['info']
type SessionError = Extract<OpencodeEvent, { type: 'session.error' }>

async function* noEvents(): AsyncIterable<OpencodeEvent> {}

function sessionOf({ properties }: OpencodeEvent): string | undefined {
  if ('info' in properties) return properties.info.sessionID
  return 'part' in properties ? properties.part.sessionID : properties.sessionID
}
function errorOf({ properties: { error } }: SessionError): { name: string; message: string } {
  const name = error?.name ?? ''
  const [message = ''] = (error?.data.message ?? '').split('\n')
  return { name, message: message || name }
}
function failedTurn(problem: string): AgentTurnEnd {
  const reason = problem.slice(0, limits.reasonMax).toWellFormed()
  return { type: 'turnEnded', ending: 'failed', reason, events: [{ type: 'error.raised', message: reason }] }
}
/** opencode writes a model as provider and name. The name may contain slashes. */
function modelIds(model: string | null): { providerID: string; modelID: string } | null {
  const end = model?.indexOf('/') ?? -1
  return model === null || end < 0 ? null : { providerID: model.slice(0, end), modelID: model.slice(end + 1) }
}
