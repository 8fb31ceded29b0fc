/** One session of Claude Code under one lease: its turns one after another, begun by a message or by Claude Code itself, and what people want of it meanwhile. */
import { randomUUID } from 'node:crypto'
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import { type AgentEvent, type CommandBody, type CommandOutcome, Fault, pause } from '@holdpoint/protocol'
import type { SessionCommand } from '../session/agent-session.ts'
import type { CliRun } from './cli/cli-run.ts'
import { userMessage, uuidOf } from './cli/message.ts'
import { endOrphan, type ProcessEnd } from './cli/os-process.ts'
import { errorEvent, processEndMessage, startTimeoutMessage } from './error-events.ts'
import {
  type CarriedRequest,
  CarriedRequests,
  dropCarried,
  type InterruptedTurn,
  readInterruptedTurn,
  summarizeDecisions,
} from './parking/carried-requests.ts'
import { countAttempt, planResume } from './parking/resume-plan.ts'
import { ProcessHost, type ProcessHostOptions } from './process-host.ts'
import { cwdProblem } from './setup/cwd-check.ts'
import type { ToolCall } from './transcript/transcript-index.ts'
import { summarizeTurn, type TurnSummary } from './turn-summary.ts'
import type { TurnOutcome } from './turn-tracker.ts'

export interface ClaudeSessionOptions extends Omit<ProcessHostOptions, 'onStir' | 'onLost'> {
  readonly idleParkMs: number
}
type Message = SessionCommand & { readonly body: Extract<CommandBody, { readonly kind: 'message' }> }
const isMessage = (command: SessionCommand): command is Message => command.body.kind === 'message'

/** Whatever Claude Code does between its own start and its end. */
interface Turn {
  /** Null where it began by itself. */
  readonly message: Message | null
  /** What an earlier process had asked in it: with the turn it comes to its end too. */
  left: ReadonlyMap<string, CarriedRequest>
  interrupted: boolean
  /** Its end has been said. */
  closed: boolean
  over: Promise<void>
}

/** How long the CLI may take to stop a turn by itself. */
const interruptMaxMs = 5000

export class ClaudeSession {
  readonly #options: ClaudeSessionOptions
  readonly #session: ClaudeSessionOptions['session']
  readonly #hearth: ProcessHost
  readonly #queue: Message[] = []
  #turn: Turn | null = null
  /** What was asked outlives the turn: the next one has been said to be open. */
  #goesOn: CliRun | null = null
  /** A message had begun the turn that was open when the session came here. */
  #byMessage = false
  /** Changes of mode and model, in order. */
  #changing: Promise<unknown> = Promise.resolve()
  /** No turn begins any more: the session is given back. */
  #leaving = false
  #stopIdling = () => {}
  #break: (error: unknown) => void = () => {}

  constructor(options: ClaudeSessionOptions) {
    this.#options = options
    this.#session = options.session
    this.#hearth = new ProcessHost({
      ...options,
      onStir: () => this.#stir(),
      onLost: (cli, how) => this.#lost(cli, how),
    })
  }

  async run(): Promise<void> {
    endOrphan(this.#options.folder)
    this.#hearth.tellFound()
    const broken = new Promise<never>((_, reject) => {
      this.#break = reject
    })
    const { signal } = this.#session
    let loss: string | null = null
    const leave = () => {
      loss = this.#loss()
      this.#hearth.end('stopped').catch(this.#break)
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#idle()
    try {
      await Promise.race([this.#obey(), broken])
    } finally {
      this.#stopIdling()
      signal.removeEventListener('abort', leave)
      await this.#hearth.end('stopped')
    }
    // A session that is over, or someone else's by now, is not to be given back.
    if (loss !== null && !(signal.reason instanceof Fault)) await this.#session.park(loss)
  }

  /** What will not be there when the session comes back, if its process goes now; null where everything will. */
  #loss(): string | null {
    const { cli, rows, obstacle } = this.#hearth
    if (!cli) return null
    if (!this.#turn || (this.#turn.closed && !this.#goesOn))
      return cli.background > 0 ? `${runnerStopped} work that went on in the background was ended` : null
    const { message } = this.#turn
    const { pending, unsettled } = cli.calls
    if (unsettled && pending.length === 0)
      return `${runnerStopped} a call that was answered was under way; its outcome is unknown`
    // A message that is not on record is given to it again, and what it then asks again has its answer.
    if (message && !rows.index.hasMessage(uuidOf(message.id))) return null
    if (!unsettled)
      return `${runnerStopped} Claude Code was at work and waited for nothing; the turn ends here, send a message to go on`
    if (obstacle === null) return null
    return `${runnerStopped} what waits cannot be had again as it was: ${obstacle}; Claude Code will be told what was decided`
  }

  async #obey(): Promise<void> {
    await this.#resume()
    for await (const command of this.#session.commands()) {
      if (isMessage(command)) {
        this.#queue.push(command)
        this.#hearth.cli?.giveWay()
        this.#next()
      } else await this.#carryOut(command)
    }
    await this.#hearth.end('stopped')
    await this.#turn?.over
  }

  /** What Claude Code had begun by itself goes on by itself; the turn of a message, when that message comes again. */
  async #resume(): Promise<void> {
    if (!this.#session.turnOpen) return
    const record = await readInterruptedTurn(this.#session)
    this.#byMessage = record.byMessage
    if (!record.byMessage) this.#begin(null, turn => this.#comeBack(turn, record))
  }

  /** An end is waited for, and nothing else: what takes its time must hold up neither an interrupt nor an end. */
  async #carryOut(command: SessionCommand): Promise<void> {
    const { body } = command
    switch (body.kind) {
      case 'interrupt':
        return this.#aside(this.#interrupt().then(() => command.done()))
      case 'mode':
        this.#changing = this.#changing.then(() => this.#hearth.change(body)).then(outcome => command.done(outcome))
        return this.#aside(this.#changing)
      case 'end':
        this.#leaving = true
        await this.#hearth.end('stopped')
        return this.#session.end({ reason: 'stopped' })
    }
  }

  #aside(work: Promise<unknown>): void {
    work.catch(error => {
      if (!this.#session.signal.aborted) this.#break(error)
    })
  }

  async #interrupt(): Promise<void> {
    const turn = this.#turn
    if (turn) turn.interrupted = true
    // It may be gone, or not there yet: then it is ended, which stops the turn as well.
    void this.#hearth.cli?.interrupt().catch(() => {})
    if (!turn) return
    const patience = pause(this.#options.clock, interruptMaxMs, this.#session.signal).catch(() => {})
    await Promise.race([turn.over, patience])
    if (this.#turn === turn) await this.#hearth.end('stopped')
    await turn.over
  }

  /** Something began or ended in the process. Where a turn is over but for its last words, what begins is the next one. */
  #stir(): void {
    const { cli } = this.#hearth
    if (this.#turn?.closed && cli?.busy && !this.#goesOn) {
      this.#goesOn = cli
      this.#session.say(working).catch(() => {})
    }
    this.#next()
  }

  /** The next turn, if there is one: of a message, or one that has begun by itself. */
  #next(): void {
    if (this.#turn || this.#leaving || this.#session.signal.aborted) return
    const { cli } = this.#hearth
    const own = this.#goesOn ?? (cli?.busy ? cli : null)
    const message = this.#queue.shift()
    if (message) this.#begin(message, turn => this.#play(turn, message))
    else if (own) this.#begin(null, turn => this.#follow(turn, own))
    else this.#idle()
  }

  #begin(message: Message | null, play: (turn: Turn) => Promise<void>): void {
    this.#stopIdling()
    this.#goesOn = null
    const turn: Turn = { message, left: new Map(), interrupted: false, closed: false, over: Promise.resolve() }
    this.#turn = turn
    turn.over = play(turn).then(
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

  async #play(turn: Turn, message: Message): Promise<void> {
    // What was wished for before it holds for it.
    await this.#changing.catch(() => {})
    if (!message.redelivered) {
      await message.take()
      return this.#run(turn, null, new CarriedRequests(), giving(message))
    }
    // The turn had finished; only the command was left open.
    if (!this.#byMessage) return message.done()
    await this.#comeBack(turn, await readInterruptedTurn(this.#session))
  }

  async #comeBack(turn: Turn, record: InterruptedTurn): Promise<void> {
    const { message } = turn
    const { rows } = this.#hearth
    turn.left = record.open
    const plan = await planResume(record, rows.index, message && uuidOf(message.id), this.#options.parking)
    if (plan.kind === 'interrupted') return this.#finish(turn, interrupted)
    if (plan.kind === 'failed') return this.#fail(turn, plan.reason)
    if (!countAttempt(rows)) return this.#fail(turn, 'Claude Code has ended each time that it came back to this')
    if (plan.kind === 'call') await this.#run(turn, plan.call, new CarriedRequests(record.open), null)
    else {
      const again = plan.kind === 'message' && message ? giving(message) : null
      const given = again ?? userMessage(randomUUID(), await summarizeDecisions(this.#session, record.open))
      await this.#run(turn, null, new CarriedRequests(record.open, true), given)
    }
  }

  async #run(turn: Turn, call: ToolCall | null, carried: CarriedRequests, given: SDKUserMessage | null): Promise<void> {
    if (this.#leaving || this.#session.signal.aborted) return
    const wrong = cwdProblem(this.#session.info.cwd)
    if (wrong) return this.#fail(turn, wrong)
    // Interrupted before anything was said: it stays unsaid.
    if (turn.interrupted) return this.#finish(turn, interrupted)
    turn.left = carried.rest
    const cli = this.#hearth.start(carried, call)
    await this.#settle(turn, cli, await cli.turn(given))
  }

  /** Claude Code does something by itself. */
  async #follow(turn: Turn, cli: CliRun): Promise<void> {
    const outcome = cli.own()
    await this.#session.say(working)
    await this.#settle(turn, cli, await outcome)
  }

  async #settle(turn: Turn, cli: CliRun, outcome: TurnOutcome): Promise<void> {
    if ('gone' in outcome) await this.#lose(turn, cli, outcome.gone)
    else {
      const stopped = turn.interrupted ? 'interrupted' : cli.calls.stopped
      // A message that has come meanwhile joins the turn that is open.
      const joined = outcome.result === null && stopped === null && this.#queue.length > 0
      if (!joined) await this.#close(turn, cli, summarizeTurn(outcome.result, this.#hearth.rows, stopped))
    }
    if (!this.#goesOn) await this.#hearth.turnOver(cli)
  }

  async #close(turn: Turn, cli: CliRun, end: TurnSummary): Promise<void> {
    const { remark } = cli.calls
    cli.calls.stopped = null
    cli.calls.remark = null
    // The CLI keeps no word of why it was stopped: it is written down for the agent to read next.
    if (remark !== null) await cli.turn({ ...userMessage(randomUUID(), remark), shouldQuery: false })
    await this.#finish(turn, end, cli)
  }

  /** With the process that is still there, if it is: what goes on in it is the next turn, from the same instant. */
  async #finish(turn: Turn, { sayings, reason }: TurnSummary, cli: CliRun | null = null): Promise<void> {
    await dropCarried(this.#session, turn.left)
    const living: AgentEvent[] = cli ? [{ type: 'session.changed', process: cli.living() }] : []
    this.#goesOn = cli?.busy ? cli : null
    const said = this.#session.say(...sayings, ...living, ...(this.#goesOn ? [working] : []))
    turn.closed = true
    await said
    const outcome: CommandOutcome = reason === null ? { ok: true } : { ok: false, reason }
    await turn.message?.done(outcome)
  }

  async #lose(turn: Turn, cli: CliRun, gone: ProcessEnd): Promise<void> {
    if (this.#leaving || this.#session.signal.aborted) return
    if (turn.interrupted) {
      await cli.calls.turnOver(false)
      return this.#finish(turn, interrupted)
    }
    // Let go, or lost, with something asked: the answer brings it back.
    if (cli.calls.unsettled) return this.#session.park()
    await this.#fail(turn, cli.silent ? startTimeoutMessage : processEndMessage(gone, lostInTurn))
  }

  /** Nothing that was asked outlives a turn that has failed. */
  async #fail(turn: Turn, reason: string): Promise<void> {
    turn.left = (await readInterruptedTurn(this.#session)).open
    await this.#session.say(errorEvent('lost', reason))
    await this.#finish(turn, { sayings: [{ type: 'turn.finished', ending: 'failed' }], reason })
  }

  /** The process went while nobody waited for it, be it that the last words of a turn are still under way. */
  #lost(cli: CliRun, how: string): void {
    if (cli.followed || this.#goesOn === cli || cli.background === 0) return
    const sentence = `${how.slice(0, howMax)}; what went on in the background was lost with it`
    this.#session.say(errorEvent('lost', sentence)).catch(() => {})
  }

  #idle(): void {
    this.#stopIdling()
    const { idleParkMs } = this.#session.info.options
    const ms = typeof idleParkMs === 'number' ? idleParkMs : this.#options.idleParkMs
    const park = async () => {
      // What goes on in the background would end with the process.
      if (this.#hearth.cli && this.#hearth.cli.background > 0) return this.#idle()
      this.#leaving = true
      await this.#hearth.end('idle')
      await this.#session.park()
    }
    this.#stopIdling = this.#options.clock.after(ms, () => void park().catch(this.#break))
  }
}

function giving({ id, body }: Message): SDKUserMessage {
  return userMessage(uuidOf(id), body.text, body.attachments)
}
const interrupted: TurnSummary = { sayings: [{ type: 'turn.finished', ending: 'interrupted' }], reason: null }
const working: AgentEvent = { type: 'session.changed', state: 'working' }
const lostInTurn = ' in the middle of the turn; send a message to go on'
const runnerStopped = 'The runner was stopped:'
/** Of how it ended, so much is told with what that means. */
const howMax = 1000
