/** One session of Claude Code under one lease: messages one per turn, in order; the process started, resumed, let go and brought back as they need it. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Options, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import { type CommandBody, type CommandOutcome, Fault, type Saying } from '@holdpoint/protocol'
import type { AgentSession, SessionCommand } from '../agent-session.ts'
import { type Clock, pause } from '../clock.ts'
import { Cli, type LetGo, type TurnOutcome } from './cli.ts'
import { comeback, forgiveTries, tryAgain } from './comeback.ts'
import { userMessage, uuidOf } from './message.ts'
import { isMode, type Mode } from './modes.ts'
import type { Parking } from './parking.ts'
import { isAlwaysAsked } from './permission.ts'
import { endOrphan } from './process.ts'
import { Carried, dropOpen, readTurn, tellAgain } from './record.ts'
import type { Call } from './row-index.ts'
import { Rows } from './rows.ts'
import type { Environment, Installation } from './sdk.ts'
import { endSentence, raise } from './trouble.ts'
import { endOfTurn } from './turn-result.ts'
import { Warmth } from './warmth.ts'

export interface SeatOptions {
  readonly session: AgentSession
  readonly installation: Installation
  readonly folder: string
  readonly config: string
  readonly env: Environment
  readonly clock: Clock
  readonly idleParkMs: number
  readonly more: Partial<Options>
  readonly parking: Parking
}
type Message = SessionCommand & { readonly body: Extract<CommandBody, { readonly kind: 'message' }> }
const isMessage = (command: SessionCommand): command is Message => command.body.kind === 'message'

/** How long the CLI may take to stop a turn by itself. */
const interruptMaxMs = 5000

export class Seat {
  readonly #options: SeatOptions
  readonly #session: AgentSession
  readonly #rows: Rows
  readonly #queue: Message[] = []
  #cli: Cli | null = null
  #warmth: Warmth | null = null
  #turn: Promise<void> | null = null
  /** The message of that turn, as the transcript knows it. */
  #message: string | null = null
  #interrupted = false
  /** No turn begins any more: the session is given back. */
  #leaving = false
  #warmMs: number | null
  /** The mode in force, or the one that the next process starts in. */
  #mode: string | null
  #model: string | null
  #stopIdling = () => {}
  #break: (error: unknown) => void = () => {}

  constructor(options: SeatOptions) {
    this.#options = options
    this.#session = options.session
    const { warmMs, mode, model } = this.#session.info
    this.#warmMs = warmMs
    this.#mode = mode
    this.#model = model
    this.#rows = new Rows(options.folder, options.config)
  }

  async run(): Promise<void> {
    endOrphan(this.#options.folder)
    const broken = new Promise<never>((_, reject) => {
      this.#break = reject
    })
    const { signal } = this.#session
    let loss: string | null = null
    const leave = () => {
      loss = this.#loss()
      this.#letGo('stopped').catch(this.#break)
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#idle()
    try {
      await Promise.race([this.#obey(), broken])
    } finally {
      this.#stopIdling()
      signal.removeEventListener('abort', leave)
      await this.#letGo('stopped')
    }
    // A session that is over, or someone else's by now, is not to be given back.
    if (loss !== null && !(signal.reason instanceof Fault)) await this.#session.park(loss)
  }

  /** What will not be there when the session comes back, if its process goes now; null where everything will. */
  #loss(): string | null {
    const cli = this.#cli
    if (!cli || cli.over) return null
    if (!this.#turn) return cli.background > 0 ? `${runnerStopped} work that went on in the background was ended` : null
    const { pending, unsettled } = cli.calls
    if (unsettled && pending.length === 0)
      return `${runnerStopped} a call that was answered was under way; its outcome is unknown`
    // A message that is not on record is given to it again, and what it then asks again has its answer.
    if (this.#message === null || !this.#rows.index.hasMessage(this.#message)) return null
    if (!unsettled)
      return `${runnerStopped} Claude Code was at work and waited for nothing; the turn ends here, send a message to go on`
    const why = this.#warmth?.obstacle() ?? null
    if (why === null) return null
    return `${runnerStopped} what waits cannot be had again as it was: ${why}; Claude Code will be told what was decided`
  }

  async #obey(): Promise<void> {
    for await (const command of this.#session.commands()) {
      if (isMessage(command)) {
        this.#queue.push(command)
        this.#next()
      } else await this.#carryOut(command)
    }
    await this.#letGo('stopped')
    await this.#turn
  }

  async #carryOut(command: SessionCommand): Promise<void> {
    switch (command.body.kind) {
      case 'interrupt':
        await this.#interrupt()
        return command.done()
      case 'mode':
        return command.done(await this.#change(command.body))
      case 'end':
        this.#leaving = true
        await this.#letGo('stopped')
        return this.#session.end({ reason: 'stopped' })
    }
  }

  async #interrupt(): Promise<void> {
    const turn = this.#turn
    if (!turn) return
    this.#interrupted = true
    const patience = pause(this.#options.clock, interruptMaxMs, this.#session.signal).catch(() => {})
    // It may be gone, or not there yet: then it is ended, which stops the turn as well.
    void this.#cli?.interrupt().catch(() => {})
    await Promise.race([turn, patience])
    if (this.#turn === turn) await this.#letGo('stopped')
    await turn
  }

  async #change({ mode, model, warmMs }: Extract<CommandBody, { kind: 'mode' }>): Promise<CommandOutcome> {
    if (warmMs !== undefined) {
      this.#warmMs = warmMs
      this.#warmth?.stop()
      this.#warmth?.changed()
    }
    const outcome = await this.#enter(mode, model)
    // The session shows what was wished for since it was; now it shows what is.
    if (mode !== undefined) await this.#session.say({ type: 'session.changed', mode: this.#mode ?? 'default' })
    return outcome
  }

  async #enter(mode: string | undefined, model: string | undefined): Promise<CommandOutcome> {
    if (mode !== undefined && !isMode(mode)) return { ok: false, reason: `Claude Code has no mode "${mode}"` }
    try {
      await this.#cli?.change(mode, model)
    } catch (error) {
      return { ok: false, reason: `Claude Code refused the change: ${error instanceof Error ? error.message : error}` }
    }
    if (mode !== undefined) this.#mode = mode
    if (model !== undefined) this.#model = model
    return { ok: true }
  }

  #next(): void {
    if (this.#turn || this.#leaving || this.#session.signal.aborted) return
    this.#idle()
    const message = this.#queue.shift()
    if (!message) return
    this.#stopIdling()
    this.#interrupted = false
    this.#message = uuidOf(message.id)
    this.#turn = this.#play(message).then(
      () => {
        this.#turn = null
        this.#next()
      },
      error => {
        this.#turn = null
        if (!this.#session.signal.aborted) this.#break(error)
      },
    )
  }

  async #play(message: Message): Promise<void> {
    if (!message.redelivered) {
      await message.take()
      return this.#run(message, null, new Carried(), giving(message))
    }
    // The turn had finished; only the command was left open.
    if (!this.#session.turnOpen) return message.done()
    const record = await readTurn(this.#session)
    const plan = await comeback(record, this.#rows.index, uuidOf(message.id), this.#options.parking)
    if (plan.kind === 'interrupted') return this.#finishInterrupted(message)
    if (plan.kind === 'failed') return this.#fail(message, plan.reason)
    if (!tryAgain(this.#rows)) return this.#fail(message, 'Claude Code has ended each time that it came back to this')
    if (plan.kind === 'call') await this.#run(message, plan.call, new Carried(record.open), null)
    else {
      const told = plan.kind === 'tell' ? userMessage(randomUUID(), await tellAgain(this.#session, record.open)) : null
      await this.#run(message, null, new Carried(record.open, true), told ?? giving(message))
    }
    if (!this.#session.signal.aborted) await dropOpen(this.#session, record.open)
  }

  /** The process that is there, or one that goes on where the last one stopped. */
  async #start(carried: Carried, call: Call | null): Promise<Cli> {
    if (this.#cli && !this.#cli.over) return this.#cli
    const { session, installation, folder, env, more, parking } = this.#options
    const rows = this.#rows
    const mode = await this.#modeNow()
    if (call && rows.index.deferred !== call.id) rows.bringBack(call, mode)
    const first = rows.sessionId === undefined ? this.#earlier() : {}
    const cli: Cli = new Cli({
      ...{ installation, session, rows, folder, env, mode, carried, parking, model: this.#model },
      more: { ...more, ...first },
      guard: call?.tool ?? null,
      mayPutOff: tool => this.#warmMs !== null && isAlwaysAsked(tool, this.#mode ?? mode),
      onWaiting: () => warmth.changed(),
      onMode: is => this.#entered(is),
      onProcess: process => {
        if (process.state !== 'live' && process.state !== 'lost') forgiveTries(rows)
        this.#tell({ type: 'session.changed', process })
      },
    })
    const warmth = new Warmth(cli, {
      clock: this.#options.clock,
      index: rows.index,
      warmMs: () => this.#warmMs,
      parking,
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
    const { resume, options } = this.#session.info
    if (resume === null) return {}
    return { resume, ...(options.fork === true ? { forkSession: true } : {}) }
  }

  /** By a person's answer, or by itself. */
  #entered(mode: string): void {
    if (mode === this.#mode) return
    this.#mode = mode
    this.#tell({ type: 'session.changed', mode })
  }

  /** What nobody waits for: where it cannot be said any more, the session is over and says so itself. */
  #tell(saying: Saying): void {
    this.#session.say(saying).catch(() => {})
  }

  async #modeNow(): Promise<Mode> {
    if (this.#mode === null || isMode(this.#mode)) return this.#mode ?? 'default'
    await this.#session.say(raise('mode', `Claude Code has no mode "${this.#mode}"; it runs in mode default`))
    return 'default'
  }

  async #run(message: Message, call: Call | null, carried: Carried, given: SDKUserMessage | null): Promise<void> {
    const { cwd } = this.#session.info
    if (!existsSync(cwd))
      return this.#fail(message, `The folder ${cwd} is not there; make it, or start a session in another`)
    const cli = await this.#start(carried, call)
    // Interrupted before anything was said: it stays unsaid.
    const outcome = this.#interrupted ? null : await cli.turn(given)
    const over = outcome === null || 'gone' in outcome || cli.guarded
    if (over && this.#cli === cli) this.#cli = null
    await (outcome === null ? this.#finishInterrupted(message) : this.#settle(message, cli, outcome))
    this.#warmth?.stop()
    if (over) await cli.end('done')
  }

  async #settle(message: Message, cli: Cli, outcome: TurnOutcome): Promise<void> {
    if ('result' in outcome) {
      await cli.calls.takenAll()
      const stopped = this.#interrupted ? 'interrupted' : cli.calls.stopped
      const { sayings, reason } = endOfTurn(outcome.result, this.#rows, stopped)
      cli.calls.stopped = null
      await this.#session.say(...sayings, { type: 'session.changed', process: cli.living() })
      return message.done(reason === null ? { ok: true } : { ok: false, reason })
    }
    if (this.#leaving || this.#session.signal.aborted) return
    if (this.#interrupted) return this.#finishInterrupted(message)
    // Let go, or lost, with something asked: the answer brings it back.
    if (cli.calls.unsettled) return this.#session.park()
    await this.#fail(message, endSentence(outcome.gone, lostInTurn))
  }

  async #finishInterrupted(message: Message): Promise<void> {
    await this.#session.say({ type: 'turn.finished', ending: 'interrupted' })
    await message.done()
  }

  async #fail(message: Message, reason: string): Promise<void> {
    const { open } = await readTurn(this.#session)
    const last: Saying[] = [raise('lost', reason), { type: 'turn.finished', ending: 'failed' }]
    await this.#session.say(...last)
    await dropOpen(this.#session, open)
    await message.done({ ok: false, reason })
  }

  async #letGo(why: LetGo): Promise<void> {
    await this.#cli?.end(why)
  }

  #idle(): void {
    this.#stopIdling()
    const { idleParkMs } = this.#session.info.options
    const ms = typeof idleParkMs === 'number' ? idleParkMs : this.#options.idleParkMs
    const park = async () => {
      // What goes on in the background would end with the process.
      if (this.#cli && this.#cli.background > 0) return this.#idle()
      this.#leaving = true
      await this.#letGo('idle')
      await this.#session.park()
    }
    this.#stopIdling = this.#options.clock.after(ms, () => void park().catch(this.#break))
  }
}

function giving({ id, body }: Message): SDKUserMessage {
  return userMessage(uuidOf(id), body.text, body.attachments)
}
const lostInTurn = ' in the middle of the turn; send a message to go on'
const runnerStopped = 'The runner was stopped:'
