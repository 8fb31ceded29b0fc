/** A connection to Codex: continues the conversation, sends messages, and passes on what Codex does and asks. */
import { messageOf } from '@holdpoint/protocol'
import { z } from 'zod'
import type {
  AgentConnection,
  AgentMessage,
  AnswerEffects,
  CallAnswer,
  ConnectionOptions,
  ProcessStatus,
  SettingsChange,
} from '../session/agent-connection.ts'
import { type Decision, decisionFor } from '../session/decisions.ts'
import { joinWords } from '../shell-quote.ts'
import type { AppServer } from './app-server.ts'
import { CodexEvents } from './codex-events.ts'
import { ownMessagePrefix, ownNoteId } from './item-log.ts'
import { inputOfMessage, textPart } from './message-input.ts'
import { codexExit, codexLog } from './messages.ts'
import { type CodexMode, defaultCodexMode, isCodexMode, modeSettings } from './modes.ts'
import type { NativeCall } from './native-call.ts'
import { openThread } from './open-thread.ts'
import type { ProgressFile } from './progress.ts'
import type { RpcClient } from './rpc-client.ts'
import { ServerLink } from './server-link.ts'
import { CodexTurn, type RpcId } from './wire.ts'

export interface CodexConnectionOptions extends ConnectionOptions {
  readonly executable: string
  readonly progress: ProgressFile
  /** Returns the server that an earlier runner has left, or null. */
  readonly findServer: () => AppServer | null
  readonly startServer: () => AppServer
}

const clientInfo = { name: 'holdpoint', title: 'Holdpoint', version: '0.1.0' }
const anyReply = z.unknown()
const TurnReply = z.object({ turn: CodexTurn.pick({ id: true }) })

export class CodexConnection implements AgentConnection {
  readonly #options: CodexConnectionOptions
  readonly #link: ServerLink
  readonly #events: CodexEvents
  /** Whether the server has run the conversation before and therefore has the settings of the session. */
  #isRunning = false
  #mode: CodexMode
  #model: string | null
  /** Resolves when the last message was sent. */
  #sent: Promise<void> = Promise.resolve()
  #hasAttached = false

  constructor(options: CodexConnectionOptions) {
    this.#options = options
    const { mode, model, emit, progress, info } = options
    this.#mode = isCodexMode(mode) ? mode : defaultCodexMode
    this.#model = model
    this.#events = new CodexEvents({
      emit,
      progress,
      cwd: info.cwd,
      serverId: () => this.#link.server?.record.tag ?? '',
    })
    this.#link = new ServerLink({
      server: () => this.#findOrStart(),
      attach: rpc => this.#attach(rpc),
      handle: (message, rpc) => this.#events.handle(message, rpc),
      onExit: async exit => {
        // Report the exit even if the log cannot be written.
        await this.#events.finish().catch(() => {})
        await emit({ type: 'exited', ...exit })
      },
    })
  }

  #findOrStart(): AppServer {
    const found = this.#options.findServer()
    this.#isRunning = found !== null
    return found ?? this.#options.startServer()
  }

  async #attach(rpc: RpcClient): Promise<void> {
    const { info, conversationId, progress, emit } = this.#options
    const capabilities = { experimentalApi: true, requestAttestation: false }
    await rpc.request('initialize', { clientInfo, capabilities }, anyReply)
    rpc.notify('initialized')
    const threadId = this.#events.threads.main || conversationId
    const settings = { mode: this.#mode, model: this.#model, hasSettings: this.#isRunning && threadId !== null }
    const thread = await openThread(rpc, { cwd: info.cwd, threadId, ...settings }, progress)
    this.#isRunning = true
    this.#events.setThread(thread.id, { mode: this.#mode, model: thread.model })
    if (!this.#hasAttached) await emit({ type: 'ready', mode: this.#mode, conversationId: thread.id })
    const isContinued = !this.#hasAttached && this.#options.resume !== null
    this.#hasAttached = true
    await this.#events.catchUp(thread.lastTurn, isContinued, rpc)
  }

  send(message: AgentMessage): void {
    this.#sent = this.#send(message).catch(error => this.#events.failMessage(message.id, messageOf(error)))
  }

  async #send(message: AgentMessage): Promise<void> {
    const rpc = await this.#link.rpc
    if (await this.#events.hasMessage(message.id, rpc)) return
    const params = {
      threadId: this.#events.threads.main,
      clientUserMessageId: `${ownMessagePrefix}${message.id}`,
      input: inputOfMessage(message),
    }
    const { turn } = await rpc.request('turn/start', params, TurnReply)
    this.#events.addMessage(message.id, turn.id)
  }

  async answer(id: string, answer: CallAnswer): Promise<AnswerEffects> {
    const rpc = await this.#link.rpc
    const call = this.#events.callOf(id)
    if (!call) throw new Error(codexLog.noLongerWaits)
    const decision = decisionFor(answer) ?? (isWithdrawn(answer) ? refusal : null)
    // Codex expects no reply if the turn is being interrupted.
    if (!decision) return {}
    const { text, stopsTurn } = decision
    const reply = call.reply(decision)
    const isRead = text !== null && !stopsTurn && (await this.#steer(rpc, call, text))
    // While the text was being sent, somebody may have answered in a terminal.
    if (!this.#events.markAnswered(id, decision)) throw new Error(codexLog.noLongerWaits)
    if (reply && !(await this.#isReplied(rpc, call, reply))) return {}
    if (!reply) await this.#interruptTurn(rpc, call.threadId, call.turnId)
    return {
      ...(stopsTurn ? { turnEnding: 'cancelled' } : {}),
      ...(text !== null && !isRead ? { tellAgent: text } : {}),
    }
  }

  /** Returns false if the connection broke before the reply was sent. Codex then asks again on the next connection, and gets the same answer. Rejects if Codex has ended. */
  async #isReplied(rpc: RpcClient, { rpcId }: { readonly rpcId: RpcId }, reply: object): Promise<boolean> {
    try {
      await rpc.reply(rpcId, reply)
      return true
    } catch {
      await rpc.closed
      await this.#link.rpc
      return false
    }
  }

  /** Adds a text to the turn that runs. Codex shows it to its model after the result of the call. Returns false if the turn has ended. */
  async #steer(rpc: RpcClient, { threadId, turnId }: NativeCall, text: string): Promise<boolean> {
    const params = { threadId, expectedTurnId: turnId, clientUserMessageId: ownNoteId, input: [textPart(text)] }
    return rpc.request('turn/steer', params, anyReply).then(
      () => true,
      () => false,
    )
  }

  async interrupt(): Promise<void> {
    const rpc = await this.#link.rpc
    await this.#sent
    const { turns } = this.#events.threads
    await Promise.all(turns.map(({ threadId, turnId }) => this.#interruptTurn(rpc, threadId, turnId)))
  }
  async #interruptTurn(rpc: RpcClient, threadId: string, turnId: string | null): Promise<void> {
    // Ignore an error, because the turn may already have ended.
    await rpc.request('turn/interrupt', { threadId, turnId }, anyReply).catch(() => {})
  }

  async changeSettings({ mode, model }: SettingsChange): Promise<void> {
    const rpc = await this.#link.rpc
    const next = isCodexMode(mode) ? mode : null
    const settings = { ...(next === null ? {} : modeSettings(next)), ...(model === undefined ? {} : { model }) }
    if (Object.keys(settings).length === 0) return
    this.#events.expectSettings({ ...(next === null ? {} : { mode: next }), ...(model === undefined ? {} : { model }) })
    await rpc.request('thread/settings/update', { threadId: this.#events.threads.main, ...settings }, anyReply)
    this.#mode = next ?? this.#mode
    this.#model = model ?? this.#model
  }

  async tell(text: string): Promise<void> {
    const rpc = await this.#link.rpc
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
    await rpc.request('thread/inject_items', { threadId: this.#events.threads.main, items: [item] }, anyReply)
  }

  async close(): Promise<void> {
    await this.#link.end(codexExit.closed)
  }

  #attachCommand({ socket }: AppServer): Pick<ProcessStatus, 'attach'> {
    const thread = this.#events.threads.main
    if (thread === '') return {}
    return { attach: joinWords([this.#options.executable, 'resume', '--remote', `unix://${socket}`, thread]) }
  }

  status(): ProcessStatus {
    const { server } = this.#link
    if (!server) return {}
    const { memoryBytes } = server
    return {
      pid: server.record.pid,
      ...this.#attachCommand(server),
      ...(memoryBytes === null ? {} : { memoryMb: Math.round(memoryBytes / 2 ** 20) }),
    }
  }
}

const refusal: Decision = { answer: null, stopsTurn: false, text: null }

function isWithdrawn(answer: CallAnswer): boolean {
  return answer.kind === 'agent' && answer.reason === 'withdrawn'
}
