/** One life of the CLI: started with everything wired, fed one message per turn, followed where it begins by itself, listened to until it is gone. */

import type {
  Options,
  Query,
  SDKMessage,
  SDKResultMessage,
  SDKSystemMessage,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk'
import { type AgentEvent, type AgentProcess, type Clock, messageOf, type Session } from '@holdpoint/protocol'
import type { AgentSession } from '../../session/agent-session.ts'
import { elicit } from '../approvals/elicitation.ts'
import type { Mode } from '../approvals/modes.ts'
import { PendingCalls } from '../approvals/pending-calls.ts'
import { errorEvent, processEndMessage } from '../error-events.ts'
import type { CarriedRequests } from '../parking/carried-requests.ts'
import type { ParkingProbe } from '../parking/parking-method.ts'
import type { Environment, Installation } from '../setup/sdk.ts'
import { parseSessionOptions } from '../setup/session-options.ts'
import type { TranscriptStore } from '../transcript/transcript-store.ts'
import { type TurnOutcome, TurnTracker } from '../turn-tracker.ts'
import { hooksFor } from './hooks.ts'
import { InputQueue } from './input-queue.ts'
import { isAway, McpStatusReporter } from './mcp-status.ts'
import { MessageMapper, resultsIn } from './message-mapper.ts'
import { type ProcessEnd, ProcessGroup } from './os-process.ts'

export interface CliRunOptions {
  readonly installation: Installation
  readonly session: AgentSession
  readonly rows: TranscriptStore
  readonly folder: string
  readonly env: Environment
  readonly clock: Clock
  readonly more: Partial<Options>
  readonly mode: Mode
  readonly model: string | null
  /** bypassPermissions can be entered. */
  readonly mayBypass: boolean
  readonly carried: CarriedRequests
  /** The rule under which the call that is brought back is asked for in any case. */
  readonly guard: string | null
  readonly parking: ParkingProbe
  readonly mayPutOff: (tool: string) => boolean
  readonly onWaiting: () => void
  /** Something began or ended in it, perhaps by itself. */
  readonly onStir: () => void
  /** The mode that the CLI is in from now on. */
  readonly onMode: (mode: string) => void
  /** It is there, or gone. */
  readonly onProcess: (process: AgentProcess) => void
}
/** Why it was let go. */
export type StopReason = Exclude<AgentProcess['state'], 'live' | 'lost'>

/** How long a process may seem alive after it has stopped to talk. */
const aliveMs = 1000
/** How long it may take to put a call off. */
const putOffMaxMs = 1000
/** How long it may take to say that it is there. */
const silentMaxMs = 60_000
/** Told that something in the background is over, the CLI goes into it by itself at once, if it does. */
const noticeMaxMs = 2000

export class CliRun {
  readonly calls: PendingCalls
  readonly guarded: boolean
  /** It is not kept longer than what goes on in it. */
  spent: boolean
  readonly #options: CliRunOptions
  readonly #inbox = new InputQueue<SDKUserMessage>()
  readonly #abort = new AbortController()
  readonly #narrator = new MessageMapper()
  readonly #servers = new McpStatusReporter()
  readonly #pulse = new TurnTracker({
    asks: () => this.calls.unsettled,
    give: message => this.#inbox.push(message),
    onForfeit: () => void this.end('stopped'),
  })
  readonly #query: Query
  readonly #over: Promise<ProcessEnd>
  #process: ProcessGroup | null = null
  #background = 0
  /** Something in the background is over, and the CLI knows: until a turn begins. */
  #notice: Promise<void> | null = null
  #attend = () => {}
  #gone = false
  #ready = false
  #silent = false
  #letGo: StopReason | null = null
  #ending: Promise<void> | null = null

  constructor(options: CliRunOptions) {
    this.#options = options
    this.guarded = options.guard !== null
    this.spent = this.guarded
    const { session, rows, carried, parking, mayPutOff, onWaiting, onStir, installation, mayBypass } = options
    this.calls = new PendingCalls({
      ...{ session, rows, carried, parking, mayPutOff, mayBypass, guarded: this.guarded },
      onTrouble: this.#trouble,
      pathOf: agent => this.#narrator.family.pathOf(agent),
      gone: () => this.#goneSoon(),
      onBegin: onStir,
      onChange: () => {
        onWaiting()
        this.#pulse.settled()
      },
    })
    rows.onNamed = conversationId => void this.#say([{ type: 'session.changed', conversationId }])
    this.#query = installation.sdk.query({ prompt: this.#inbox, options: this.#queryOptions() })
    this.#over = this.#listen()
    this.#awaitFirstWord()
  }

  #awaitFirstWord(): void {
    const cancel = this.#options.clock.after(silentMaxMs, () => {
      this.#silent = true
      void this.end('stopped')
    })
    // Where it fails the process is gone, and that is heard by itself.
    Promise.race([this.#query.initializationResult(), this.#over]).then(cancel, cancel)
  }

  /** Until the result of this message, or of the turn that was brought back; or the end of the process. */
  async turn(message: SDKUserMessage | null): Promise<TurnOutcome> {
    return this.#pulse.turn(message, this.#over).finally(() => this.calls.resume())
  }
  /** Until what it does by itself has come to rest. */
  async own(): Promise<TurnOutcome> {
    return this.#pulse.own(this.#over).finally(() => this.calls.resume())
  }
  giveWay(): void {
    this.#pulse.giveWay()
  }

  get over(): boolean {
    return this.#gone
  }
  /** It was ended because it had not said a word. */
  get silent(): boolean {
    return this.#silent
  }
  /** It is at work, or something that it asked has not come to its end. */
  get busy(): boolean {
    return !this.#gone && this.#pulse.busy
  }
  /** Somebody waits for a turn of it, and learns that it is gone. */
  get followed(): boolean {
    return this.#pulse.followed
  }
  /** Work that goes on beside the conversation, and would end with the process. */
  get background(): number {
    return this.#background
  }
  /** A turn that it is about to begin by itself has begun, or does not come. */
  async attended(): Promise<void> {
    if (this.#notice) await this.#within(noticeMaxMs, Promise.race([this.#notice, this.#over]))
    this.#notice = null
  }
  /** It lives: what it holds, and why it is kept. */
  living(note?: string): AgentProcess {
    const pid = this.#process?.child.pid
    const memory = this.#process?.memory ?? null
    return {
      state: 'live',
      ...(pid === undefined ? {} : { pid }),
      ...(memory === null ? {} : { memoryMb: Math.round(memory / 2 ** 20) }),
      ...(note === undefined ? {} : { note }),
    }
  }

  async interrupt(): Promise<void> {
    this.#pulse.stop()
    const asked = this.#pulse.followed ? this.calls.interrupt() : null
    await Promise.all([asked, this.#query.interrupt()])
  }
  /** Both, or neither: `before` is the model that it goes back to. */
  change(mode: Mode | undefined, model: string | undefined, before: string | null): Promise<void> {
    const gone = this.#over.then(() => Promise.reject(new Error('its process is gone')))
    return Promise.race([this.#change(mode, model, before), gone])
  }
  async #change(mode: Mode | undefined, model: string | undefined, before: string | null): Promise<void> {
    if (model !== undefined) await this.#query.setModel(model)
    try {
      if (mode !== undefined) await this.#query.setPermissionMode(mode)
    } catch (error) {
      if (model !== undefined) await this.#query.setModel(before ?? undefined)
      throw error
    }
  }

  /** Lets the process go. What waits in it goes on waiting at the gateway. */
  end(why: StopReason): Promise<void> {
    this.#letGo ??= why
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    const { held } = this.calls
    const noted = this.#pulse.last()
    this.calls.leave()
    if (held) await this.#within(putOffMaxMs, Promise.race([noted, this.#over]))
    await this.#process?.end()
    this.#inbox.close()
    this.#abort.abort()
    await this.#over
  }

  async #listen(): Promise<ProcessEnd> {
    let failure = ''
    try {
      for await (const message of this.#query) await this.#hear(message)
    } catch (error) {
      failure = messageOf(error)
    }
    this.#gone = true
    this.#inbox.close()
    const end = await this.#ended(failure)
    const process: AgentProcess = this.#letGo ? { state: this.#letGo } : { state: 'lost', note: processEndMessage(end) }
    this.#options.onProcess(process)
    return end
  }

  async #ended(failure: string): Promise<ProcessEnd> {
    if (!this.#process) return { code: null, signal: null, complaint: failure }
    const end = await this.#process.endLost()
    return end.complaint === '' && end.code !== 0 ? { ...end, complaint: failure } : end
  }

  async #hear(message: SDKMessage): Promise<void> {
    if (this.calls.leaving) {
      // Its last word: a call was put off, and is on record as such.
      if (message.type === 'result') this.#pulse.finished(message)
      return
    }
    if (message.type === 'system' && message.subtype === 'init' && !this.#ready) {
      this.#ready = true
      this.#options.onProcess(this.living())
    }
    if (message.type === 'system' && message.subtype === 'init') {
      this.#pulse.began()
      this.#attend()
      this.#notice = null
      this.#options.onStir()
      this.#meet(message)
    }
    await this.#say(this.#narrator.tell(message))
    if (message.type === 'user') for (const { id } of resultsIn(message.message.content)) await this.calls.taken(id)
    if (message.type === 'assistant' || message.type === 'user') await this.calls.takenAside()
    if (message.type === 'system' && 'permissionMode' in message && message.permissionMode)
      this.#entered(message.permissionMode)
    if (message.type === 'system' && message.subtype === 'task_notification') this.#heed()
    if (message.type === 'system' && message.subtype === 'background_tasks_changed') this.#stir(message.tasks.length)
    if (message.type === 'result') await this.#rest(message)
  }

  #heed(): void {
    this.#notice ??= new Promise(resolve => {
      this.#attend = resolve
    })
  }
  #stir(background: number): void {
    this.#background = background
    this.#options.onStir()
  }

  async #rest(result: SDKResultMessage): Promise<void> {
    this.#pulse.rested()
    await this.calls.turnOver(this.#background > 0)
    this.#pulse.finished(result)
  }

  /** What a turn has to do without. */
  #meet({ mcp_servers: servers }: SDKSystemMessage): void {
    if (servers.some(isAway))
      void this.#query.mcpServerStatus().then(
        all => this.#say(this.#servers.trouble(all)),
        () => {}, // It is gone: that is told by itself.
      )
  }

  #entered(mode: string): void {
    const { rows, onMode } = this.#options
    if (rows.meta.mode !== mode) rows.note({ mode })
    onMode(mode)
  }

  readonly #trouble = (sentence: string) => void this.#say([errorEvent('refused', sentence)])

  /** Words that came too late are nobody's; the session is over then, and says so itself. */
  async #say(sayings: readonly AgentEvent[]): Promise<void> {
    if (sayings.length === 0) return
    // Not awaited: the CLI must not wait for the log. What is asked goes behind it in any case.
    this.#options.session.say(...sayings).catch(() => {})
  }

  /** True when the process is gone, at once or within a moment. */
  async #goneSoon(): Promise<boolean> {
    if (!this.#process || this.#process.over) return true
    return this.#within(aliveMs, this.#process.ended)
  }

  /** Whether it has happened by then. */
  async #within(ms: number, happening: Promise<unknown>): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<false>(resolve => {
      timer = setTimeout(() => resolve(false), ms)
    })
    return Promise.race([happening.then(() => true as const), late]).finally(() => clearTimeout(timer))
  }

  #queryOptions(): Options {
    const { session, rows, folder, env, more, mode, model, mayBypass, guard, installation } = this.#options
    const resume = rows.sessionId
    return {
      cwd: session.info.cwd,
      ...more,
      ...personal(session.info, mayBypass),
      env: { ...env },
      permissionMode: mode,
      abortController: this.#abort,
      includePartialMessages: true,
      forwardSubagentText: true,
      sessionStore: rows.store,
      sessionStoreFlush: 'eager',
      ...(resume === undefined ? {} : { resume }),
      ...(model === null ? {} : { model }),
      ...(guard === null ? {} : { settings: { permissions: { ask: [guard] } } }),
      ...(installation.executable ? { pathToClaudeCodeExecutable: installation.executable } : {}),
      canUseTool: this.calls.canUse,
      onElicitation: elicit(this.calls, message => this.#say([errorEvent('form', message)])),
      hooks: hooksFor(session, this.calls, this.#trouble),
      spawnClaudeCodeProcess: spawning => {
        this.#process = new ProcessGroup(spawning, folder)
        // It was let go before it was there.
        if (this.#ending) void this.#process.end()
        return this.#process.child
      },
    }
  }
}

/** What a person has wished of this session when they started it. */
function personal(info: Session, mayBypass: boolean): Partial<Options> {
  const { mcpServers, agents, additionalDirectories } = parseSessionOptions(info)
  return {
    ...(mcpServers === undefined ? {} : { mcpServers }),
    ...(agents === undefined ? {} : { agents }),
    ...(additionalDirectories === undefined ? {} : { additionalDirectories }),
    ...(mayBypass ? { allowDangerouslySkipPermissions: true } : {}),
  }
}
