/** Follows what Codex does: its turns, items and requests, in the order in which Codex reports them. */
import { type AgentEvent, limits, messageOf } from '@holdpoint/protocol'
import { z } from 'zod'
import type { AgentCall, AgentOutput, AgentTurnEnd } from '../session/agent-connection.ts'
import type { Decision } from '../session/decisions.ts'
import { ItemLog, type ItemOrigin, ownMessagePrefix } from './item-log.ts'
import { codexErrors, codexLog } from './messages.ts'
import { modeOf } from './modes.ts'
import type { NativeCall } from './native-call.ts'
import type { ProgressFile } from './progress.ts'
import type { RpcClient, RpcMessage } from './rpc-client.ts'
import { nativeCall } from './server-requests.ts'
import { Threads } from './threads.ts'
import { type CodexItem, type CodexTurn, itemIn, notifications, type RpcId, type TurnFailure } from './wire.ts'

export interface CodexEventsOptions {
  readonly emit: (output: AgentOutput) => Promise<void>
  readonly progress: ProgressFile
  readonly cwd: string
  /** Returns the id of the server, which makes the ids of its requests unique. */
  readonly serverId: () => string
}

interface WaitingCall extends NativeCall {
  readonly rpcId: RpcId
  /** Whether Holdpoint has answered the call. */
  isAnswered: boolean
}
interface Settings {
  readonly mode: string
  readonly model: string
}
type NotificationName = keyof typeof notifications
type Handlers = {
  readonly [Name in NotificationName]: (params: z.infer<(typeof notifications)[Name]>, rpc: RpcClient) => Promise<void>
}
const BackgroundTerminals = z.object({ data: z.array(z.object({ itemId: z.string() })) })

export class CodexEvents {
  readonly threads = new Threads()
  readonly #options: CodexEventsOptions
  readonly #items: ItemLog
  readonly #calls = new Map<string, WaitingCall>()
  /** The turns that carry out the messages that were sent, by message. */
  readonly #messages = new Map<string, string>()
  /** The titles of calls that were denied in Holdpoint, by item, until Codex reports how the calls ended. */
  readonly #denied = new Map<string, string>()
  /** Commands that are still running after their turn has ended, by item. */
  readonly #background = new Set<string>()
  #backgroundTasks = 0
  #usage = { inputTokens: 0, outputTokens: 0 }
  #settings: Settings = { mode: '', model: '' }
  #lastTurn: CodexTurn | null = null
  #lastError = ''
  #hasEnded = false

  constructor(options: CodexEventsOptions) {
    this.#options = options
    this.#items = new ItemLog(options.emit, () => (this.#usage.inputTokens > 0 ? this.#usage : null))
  }

  setThread(id: string, settings: Settings): void {
    this.threads.setMain(id)
    this.#settings = settings
  }
  /** Call this before the driver changes the settings, so that Codex's report about the change does not count as a change by somebody else. */
  expectSettings(change: Partial<Settings>): void {
    this.#settings = { ...this.#settings, ...change }
  }

  /** Brings the log up to date after the connection was made. `isContinued` says that the last turn is still open in the log. */
  async catchUp(lastTurn: CodexTurn | null, isContinued: boolean, rpc: RpcClient): Promise<void> {
    const { main } = this.threads
    const wasInTurn = this.threads.turnOf(main) !== undefined
    this.#lastTurn = lastTurn
    for (const id of await this.threads.subagents(rpc)) await this.#followSubagent(id, rpc)
    if (!lastTurn) return isContinued ? this.#emit(lostTurn) : undefined
    const isRunning = lastTurn.status === 'inProgress'
    if (isRunning) this.threads.startTurn(main, lastTurn.id)
    if ((isRunning || isContinued) && !wasInTurn) await this.#emit({ type: 'turnStarted' })
    const origin = { threadId: main, turnId: lastTurn.id, agentPath: [] }
    for (const item of lastTurn.items.map(itemIn)) if (item) await this.#addMissed(item, origin)
    if (!isRunning && (wasInTurn || isContinued)) await this.#onTurnEnd(lastTurn, rpc)
  }

  /** Makes Codex send the events and requests of a subagent that started before the connection was made. */
  async #followSubagent(threadId: string, rpc: RpcClient): Promise<void> {
    try {
      await rpc.request('thread/resume', { threadId, excludeTurns: true }, z.unknown())
    } catch (error) {
      // If the connection was lost, the next connection tries again.
      if (rpc.isOpen) await this.#reportError('subagent', codexLog.subagentLost(messageOf(error)))
    }
  }

  async #addMissed(item: CodexItem, origin: ItemOrigin): Promise<void> {
    const { completedAtMs } = item
    if (!completedAtMs) await this.#items.start(item, origin)
    else if (completedAtMs > this.#options.progress.current.loggedUntilMs) await this.#onItemCompleted(item, origin)
  }

  /** Returns whether Codex has this message already, because an earlier runner has sent it. */
  async hasMessage(id: string, rpc: RpcClient): Promise<boolean> {
    const turn = this.#lastTurn
    const isKnown = turn?.items.map(itemIn).some(item => messageIn(item) === id) ?? false
    if (!turn || !isKnown) return false
    this.#messages.set(id, turn.id)
    if (turn.status !== 'inProgress') await this.#onTurnEnd(turn, rpc)
    return true
  }
  addMessage(id: string, turn: string): void {
    this.#messages.set(id, turn)
  }
  async failMessage(id: string, why: string): Promise<void> {
    const reason = codexLog.notSent(why)
    if (this.#hasEnded) return
    await this.#emit({
      type: 'turnEnded',
      ending: 'failed',
      reason,
      events: [errorEvent('message', reason)],
      messages: [id],
    })
  }

  callOf(id: string): WaitingCall | undefined {
    return this.#calls.get(id)
  }
  /** Returns false if Codex no longer waits for the call. */
  markAnswered(id: string, { answer }: Decision): boolean {
    const call = this.#calls.get(id)
    if (!call) return false
    call.isAnswered = true
    const { ask, turnId, itemId } = call
    if (answer === null && ask.kind === 'approval' && itemId !== null)
      this.#denied.set(`${turnId}:${itemId}`, ask.title)
    return true
  }

  /** Call this when the server has ended. */
  async finish(): Promise<void> {
    this.#hasEnded = true
    await this.#items.finishOpen(() => false)
  }

  async handle({ id, method, params }: RpcMessage, rpc: RpcClient): Promise<void> {
    if (id !== undefined) return this.#onRequest(id, method, params, rpc)
    if (!Object.hasOwn(notifications, method)) return
    const name = method as NotificationName // `Object.hasOwn` has shown that `notifications` has this name
    const parsed = notifications[name].safeParse(params)
    const handler: (params: never, rpc: RpcClient) => Promise<void> = this.#handlers[name]
    if (parsed.success) await handler(parsed.data as never, rpc) // the schema and the handler have the same name
  }

  readonly #handlers: Handlers = {
    'turn/started': async ({ threadId, turn }, rpc) => {
      if (!(await this.threads.pathOf(threadId, rpc))) return
      this.threads.startTurn(threadId, turn.id)
      if (threadId === this.threads.main) await this.#emit({ type: 'turnStarted' })
      else await this.#reportBackground()
    },
    'turn/completed': async ({ threadId, turn }, rpc) => {
      if (threadId === this.threads.main) return this.#onTurnEnd(turn, rpc)
      this.threads.endTurn(threadId)
      await this.#items.finishOpen(open => open.threadId !== threadId)
      await this.#reportBackground()
    },
    'item/started': async ({ item, ...origin }, rpc) => {
      const known = itemIn(item)
      const path = known && (await this.threads.pathOf(origin.threadId, rpc))
      if (path) await this.#items.start(known, { ...origin, agentPath: path })
    },
    'item/completed': async ({ item, ...origin }, rpc) => {
      const known = itemIn(item)
      const path = known && (await this.threads.pathOf(origin.threadId, rpc))
      if (path) await this.#onItemCompleted(known, { ...origin, agentPath: path })
    },
    'item/agentMessage/delta': async ({ itemId, delta, ...origin }, rpc) => {
      const path = await this.threads.pathOf(origin.threadId, rpc)
      if (path) await this.#items.stream(itemId, delta, { ...origin, agentPath: path })
    },
    'serverRequest/resolved': async ({ requestId }) => {
      const [id, call] = [...this.#calls].find(([, { rpcId }]) => rpcId === requestId) ?? []
      if (id === undefined || !call) return
      this.#calls.delete(id)
      await this.#emit({ type: call.isAnswered ? 'callTaken' : 'callAborted', id })
    },
    'thread/tokenUsage/updated': async ({ tokenUsage: { last } }) => {
      const { inputTokens, outputTokens } = this.#usage
      this.#usage = {
        inputTokens: inputTokens + last.inputTokens,
        outputTokens: outputTokens + last.outputTokens,
      }
    },
    'thread/settings/updated': async ({ threadId, threadSettings }) => {
      if (threadId !== this.threads.main) return
      const { model = this.#settings.model } = threadSettings
      const mode = modeOf(threadSettings)
      const change = {
        ...(mode === this.#settings.mode ? {} : { mode }),
        ...(model === this.#settings.model ? {} : { model }),
      }
      this.#settings = { mode, model }
      if (Object.keys(change).length > 0) await this.#emit({ type: 'settingsChanged', ...change })
    },
    'mcpServer/startupStatus/updated': async ({ name, status, error }) => {
      if (status === 'failed') await this.#reportError('mcp', codexLog.mcpFailed(name, error ?? status))
    },
    error: async ({ error, willRetry }) => {
      // An error that Codex does not retry ends the turn, and the end of the turn reports it.
      if (willRetry) await this.#reportError('retry', failureText(error))
    },
  }

  async #onRequest(rpcId: RpcId, method: string, params: unknown, rpc: RpcClient): Promise<void> {
    const threadId: unknown = Object(params).threadId
    const path = typeof threadId === 'string' ? await this.threads.pathOf(threadId, rpc) : []
    // A terminal answers the requests of conversations that it has started itself.
    if (!path) return
    const native = nativeCall(method, params, this.#items, this.#options.cwd)
    if (!native) {
      rpc.refuse(rpcId, method)
      return this.#reportError('refused', codexLog.notUnderstood(method))
    }
    const id = `${this.#options.serverId()}:${rpcId}`
    const { isAnswered = false } = this.#calls.get(id) ?? {}
    this.#calls.set(id, { ...native, rpcId, isAnswered })
    const { ask, deadlineMs, onDeadline } = native
    const call: AgentCall = {
      ...{ id, ask, origin: path.length > 0 ? 'background' : 'main' },
      ...(path.length > 0 ? { agentPath: path } : {}),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(onDeadline === undefined ? {} : { onDeadline }),
    }
    this.#items.endText()
    await this.#emit({ type: 'callOpened', call })
  }

  async #onItemCompleted(item: CodexItem, origin: ItemOrigin): Promise<void> {
    const { progress } = this.#options
    const key = `${origin.turnId}:${item.id}`
    const denied = this.#denied.get(key)
    this.#denied.delete(key)
    if (denied !== undefined && hasRun(item))
      await this.#reportError('answered_elsewhere', codexLog.deniedButRan(denied))
    await this.#items.complete(item, origin)
    const message = messageIn(item)
    if (message !== null) this.#messages.set(message, origin.turnId)
    progress.update({
      loggedUntilMs: Math.max(progress.current.loggedUntilMs, item.completedAtMs ?? 0),
      ...(message === null ? {} : { receivedMessage: message }),
    })
    if (this.#background.delete(item.id)) await this.#reportBackground()
  }

  async #onTurnEnd(turn: CodexTurn, rpc: RpcClient): Promise<void> {
    const { main } = this.threads
    this.threads.endTurn(main)
    await this.#findBackground(rpc)
    await this.#items.finishOpen(({ threadId, item }) => threadId !== main || this.#background.has(item.id))
    await this.#reportBackground()
    const messages = [...this.#messages].flatMap(([id, turnId]) => (turnId === turn.id ? [id] : []))
    for (const id of messages) this.#messages.delete(id)
    const usage = this.#usage
    this.#usage = { inputTokens: 0, outputTokens: 0 }
    this.#lastError = ''
    this.#items.endText()
    await this.#emit({ type: 'turnEnded', ...endingOf(turn), usage, messages })
  }

  /** Commands can keep running after the turn. Codex reports their end later. */
  async #findBackground(rpc: RpcClient): Promise<void> {
    this.#background.clear()
    const { main } = this.threads
    const isRunning = this.#items.openItems.some(
      ({ threadId, item }) => threadId === main && item.type === 'commandExecution',
    )
    if (!isRunning) return
    const params = { threadId: main }
    // If Codex does not reply, its commands count as not finished. The experimental method may be missing in another version of Codex.
    const { data } = await rpc
      .request('thread/backgroundTerminals/list', params, BackgroundTerminals)
      .catch(() => ({ data: [] }))
    for (const { itemId } of data) this.#background.add(itemId)
  }
  async #reportBackground(): Promise<void> {
    const tasks = this.threads.busySubagents + this.#background.size
    if (tasks === this.#backgroundTasks) return
    this.#backgroundTasks = tasks
    await this.#emit({ type: 'backgroundChanged', tasks })
  }

  /** Reports an error that does not end the turn. Codex repeats such errors, so an error that is equal to the last one is not reported again. */
  async #reportError(code: string, message: string): Promise<void> {
    if (message === this.#lastError) return
    this.#lastError = message
    await this.#emit({ type: 'events', events: [errorEvent(code, message)] })
  }

  #emit(output: AgentOutput): Promise<void> {
    return this.#options.emit(output)
  }
}

/** Returns the id of the message that an item holds, if the driver sent it; otherwise null. */
function messageIn(item: CodexItem | null): string | null {
  const clientId = item?.type === 'userMessage' ? item.clientId : null
  return clientId?.startsWith(ownMessagePrefix) ? clientId.slice(ownMessagePrefix.length) : null
}

function hasRun(item: CodexItem): boolean {
  const status = 'status' in item ? item.status : ''
  return status === 'completed' || (item.type === 'commandExecution' && status === 'failed')
}

function errorEvent(code: string, message: string): AgentEvent {
  return { type: 'error.raised', code, message: message.slice(0, limits.reasonMax).toWellFormed() }
}

/** The end of a turn that is open in the log, and of which Codex knows nothing. */
const lostTurn: AgentTurnEnd = {
  type: 'turnEnded',
  ending: 'failed',
  reason: codexLog.runnerLost,
  events: [errorEvent('lost', codexLog.runnerLost)],
}

const endings: Readonly<Record<string, AgentTurnEnd['ending']>> = { completed: 'done', interrupted: 'interrupted' }

function endingOf({ status, error }: CodexTurn): Pick<AgentTurnEnd, 'ending' | 'reason' | 'events'> {
  const ending = endings[status] ?? 'failed'
  if (ending !== 'failed') return { ending }
  const reason = error ? failureText(error) : codexLog.turnFailed(status)
  return { ending, reason, events: [errorEvent('turn', reason)] }
}

function failureText({ message, codexErrorInfo, additionalDetails }: TurnFailure): string {
  const advice = typeof codexErrorInfo === 'string' ? codexErrors[codexErrorInfo] : undefined
  return [advice ?? codexLog.turnFailed(message), ...(advice ? [message] : []), additionalDetails ?? '']
    .filter(part => part !== '')
    .join(': ')
}
