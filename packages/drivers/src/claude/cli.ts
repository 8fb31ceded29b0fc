/** One life of the CLI: started with everything wired, fed one message per turn, listened to until it is gone. */
import type { Options, Query, SDKMessage, SDKResultMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import type { AgentProcess, JsonObject, Saying, Session } from '@holdpoint/protocol'
import type { AgentSession } from '../agent-session.ts'
import { Calls } from './calls.ts'
import { elicit } from './elicitation.ts'
import { hooksFor } from './hooks.ts'
import { Inbox } from './inbox.ts'
import type { Mode } from './modes.ts'
import { Narrator, resultsIn } from './narrator.ts'
import type { Parking } from './parking.ts'
import { CliProcess, type ProcessEnd } from './process.ts'
import type { Carried } from './record.ts'
import type { Rows } from './rows.ts'
import type { Environment, Installation } from './sdk.ts'
import { endSentence, raise } from './trouble.ts'

export interface CliOptions {
  readonly installation: Installation
  readonly session: AgentSession
  readonly rows: Rows
  readonly folder: string
  readonly env: Environment
  readonly more: Partial<Options>
  readonly mode: Mode
  readonly model: string | null
  readonly carried: Carried
  /** The tool that is asked for in any case: the call that is brought back is one of it. */
  readonly guard: string | null
  readonly parking: Parking
  readonly mayPutOff: (tool: string) => boolean
  readonly onWaiting: () => void
  /** The mode that the CLI is in from now on. */
  readonly onMode: (mode: string) => void
  /** It is there, or gone. */
  readonly onProcess: (process: AgentProcess) => void
}
/** Why it was let go. */
export type LetGo = Exclude<AgentProcess['state'], 'live' | 'lost'>
export type TurnOutcome = { readonly result: SDKResultMessage } | { readonly gone: ProcessEnd }

/** How long a process may seem alive after it has stopped to talk. */
const aliveMs = 1000
/** How long it may take to put a call off. */
const putOffMaxMs = 1000

export class Cli {
  readonly calls: Calls
  readonly guarded: boolean
  readonly #options: CliOptions
  readonly #inbox = new Inbox<SDKUserMessage>()
  readonly #abort = new AbortController()
  readonly #narrator = new Narrator()
  readonly #query: Query
  readonly #over: Promise<ProcessEnd>
  #process: CliProcess | null = null
  #background = 0
  #gone = false
  #ready = false
  #letGo: LetGo | null = null
  #ending: Promise<void> | null = null
  #result: (result: SDKResultMessage) => void = () => {}

  constructor(options: CliOptions) {
    this.#options = options
    this.guarded = options.guard !== null
    const { session, rows, carried, parking, mayPutOff, onWaiting, installation } = options
    this.calls = new Calls({
      ...{ session, rows, carried, parking, mayPutOff },
      pathOf: agent => this.#narrator.family.pathOf(agent),
      gone: () => this.#goneSoon(),
      onChange: onWaiting,
    })
    this.#query = installation.sdk.query({ prompt: this.#inbox, options: this.#queryOptions() })
    this.#over = this.#listen()
  }

  /** Gives the message, or lets the turn that was brought back go on; until its result, or the end of the process. */
  async turn(message: SDKUserMessage | null): Promise<TurnOutcome> {
    const result = new Promise<TurnOutcome>(resolve => {
      this.#result = value => resolve({ result: value })
    })
    if (message) this.#inbox.push(message)
    return Promise.race([result, this.#over.then(gone => ({ gone }))])
  }

  get over(): boolean {
    return this.#gone
  }
  /** Work that goes on beside the conversation, and would end with the process. */
  get background(): number {
    return this.#background
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
    await this.#query.interrupt()
  }
  async change(mode: Mode | undefined, model: string | undefined): Promise<void> {
    if (mode !== undefined) await this.#query.setPermissionMode(mode)
    if (model !== undefined) await this.#query.setModel(model)
  }

  /** Lets the process go. What waits in it goes on waiting at the gateway. */
  end(why: LetGo): Promise<void> {
    this.#letGo ??= why
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    const { held } = this.calls
    const noted = new Promise<void>(resolve => {
      this.#result = () => resolve()
    })
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
      failure = error instanceof Error ? error.message : String(error)
    }
    this.#gone = true
    this.#inbox.close()
    const end = await this.#ended(failure)
    const process: AgentProcess = this.#letGo ? { state: this.#letGo } : { state: 'lost', note: endSentence(end) }
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
      if (message.type === 'result') this.#result(message)
      return
    }
    if (message.type === 'system' && message.subtype === 'init' && !this.#ready) {
      this.#ready = true
      this.#options.onProcess(this.living())
    }
    await this.#say(this.#narrator.tell(message))
    if (message.type === 'user') for (const { id } of resultsIn(message.message.content)) await this.calls.taken(id)
    if (message.type === 'assistant' || message.type === 'user') await this.calls.takenAside()
    if (message.type === 'system' && 'permissionMode' in message && message.permissionMode)
      this.#options.onMode(message.permissionMode)
    if (message.type === 'system' && message.subtype === 'background_tasks_changed')
      this.#background = message.tasks.length
    if (message.type === 'result') this.#result(message)
  }

  /** Words that came too late are nobody's; the session is over then, and says so itself. */
  async #say(sayings: readonly Saying[]): Promise<void> {
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
    const { session, rows, folder, env, more, mode, model, guard, installation } = this.#options
    const resume = rows.sessionId
    return {
      cwd: session.info.cwd,
      ...more,
      ...personal(session.info, mode),
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
      onElicitation: elicit(this.calls, message => this.#say([raise('form', message)])),
      hooks: hooksFor(session, this.calls),
      spawnClaudeCodeProcess: spawning => {
        this.#process = new CliProcess(spawning, folder)
        return this.#process.child
      },
    }
  }
}

/** What a person may say of one session when they start it. */
function personal({ options }: Session, mode: Mode): Partial<Options> {
  const { mcpServers, agents, additionalDirectories, allowBypass } = options as JsonObject &
    Pick<Options, 'mcpServers' | 'agents' | 'additionalDirectories'> // the SDK's own shapes; it refuses what it does not understand
  return {
    ...(mcpServers === undefined ? {} : { mcpServers }),
    ...(agents === undefined ? {} : { agents }),
    ...(additionalDirectories === undefined ? {} : { additionalDirectories }),
    ...(allowBypass === true || mode === 'bypassPermissions' ? { allowDangerouslySkipPermissions: true } : {}),
  }
}
