/** Runs one Claude Code session under one lease. Runs one turn at a time, whether a message or Claude Code itself started the turn, and handles people's commands during the turn. */
import { randomUUID } from 'node:crypto'
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import { type AgentEvent, type CommandOutcome, Fault, pause } from '@holdpoint/protocol'
import type { CarriedRequest, InterruptedTurn } from '../session/agent-connection.ts'
import type { MessageBody, SessionCommand } from '../session/agent-session.ts'
import { CarriedRequests, dropCarried, readInterruptedTurn, summarizeDecisions } from '../session/carried-requests.ts'
import { endOrphan, type ProcessExit } from './cli/cli-process.ts'
import type { CliRun } from './cli/cli-run.ts'
import { messageUuid, userMessage } from './cli/message.ts'
import { errorEvent, processExitMessage } from './error-events.ts'
import { processExit, turnFailed, unfinished } from './messages.ts'
import { ProcessHost, type ProcessHostOptions } from './process-host.ts'
import { countAttempt, planResume } from './resuming/resume-plan.ts'
import { cwdProblem } from './setup/cwd-check.ts'
import type { ToolCall } from './transcript/transcript-index.ts'
import { summarizeTurn, type TurnSummary } from './turn-summary.ts'
import type { TurnOutcome } from './turn-tracker.ts'

export interface ClaudeSessionOptions extends Omit<ProcessHostOptions, 'onActivity' | 'onLost'> {
  readonly idleParkMs: number
}
type Message = SessionCommand & { readonly body: MessageBody }
const isMessage = (command: SessionCommand): command is Message => command.body.kind === 'message'

/** Everything that Claude Code does between the start of a turn and its result. */
interface Turn {
  /** Null if Claude Code started the turn by itself. */
  readonly message: Message | null
  /** Requests of an earlier process that no call of this process has repeated. They are dropped when the turn ends. */
  carried: ReadonlyMap<string, CarriedRequest>
  interrupted: boolean
  /** Whether the events that end the turn have been appended. */
  isClosed: boolean
  finished: Promise<void>
}

/** How long the CLI may take to stop a turn before the driver ends its process. */
const interruptMaxMs = 5000
/** Maximum length of the description of an exit, so that the words that `backgroundLost` adds to it are not cut off. */
const exitMessageMax = 1000
const interruptedSummary: TurnSummary = { events: [{ type: 'turn.finished', ending: 'interrupted' }], failure: null }
const workingEvent: AgentEvent = { type: 'session.changed', state: 'working' }

export class ClaudeSession {
  readonly #options: ClaudeSessionOptions
  readonly #session: ClaudeSessionOptions['session']
  readonly #host: ProcessHost
  readonly #queue: Message[] = []
  #turn: Turn | null = null
  /** Set if the process is still busy when a turn ends. The log then already contains the start of the next turn. */
  #continuing: CliRun | null = null
  /** Whether a message had started the turn that was open when this driver took over the session. */
  #openTurnHasMessage = false
  /** The last change of mode or model. Changes run one after another. */
  #settingsChange: Promise<unknown> = Promise.resolve()
  /** Whether the session is being released, so that no new turn may start. */
  #isStopping = false
  #cancelIdleTimer = () => {}
  #rejectRun: (error: unknown) => void = () => {}

  constructor(options: ClaudeSessionOptions) {
    this.#options = options
    this.#session = options.session
    this.#host = new ProcessHost({
      ...options,
      onActivity: () => this.#onActivity(),
      onLost: (cli, how) => this.#reportLostWork(cli, how),
    })
  }

  async run(): Promise<void> {
    endOrphan(this.#options.folder)
    this.#host.reportProblems()
    const failed = new Promise<never>((_, reject) => {
      this.#rejectRun = reject
    })
    const { signal } = this.#session
    let lostWork: string | null = null
    const stop = () => {
      lostWork = this.#unfinishedWork()
      this.#host.end('stopped').catch(this.#rejectRun)
    }
    signal.addEventListener('abort', stop, { once: true })
    this.#startIdleTimer()
    try {
      await Promise.race([this.#handleCommands(), failed])
    } finally {
      this.#cancelIdleTimer()
      signal.removeEventListener('abort', stop)
      await this.#host.end('stopped')
    }
    // If the reason of the abort is a Fault, the session has ended or belongs to another runner, so do not park it.
    if (lostWork !== null && !(signal.reason instanceof Fault)) await this.#session.park(lostWork)
  }

  /** Returns a sentence for people that says what is lost if the process ends now, or null if everything can be resumed. */
  #unfinishedWork(): string | null {
    const { cli, transcript, whyNotParkable } = this.#host
    if (!cli) return null
    if (!this.#turn || (this.#turn.isClosed && !this.#continuing))
      return cli.backgroundTasks > 0 ? unfinished.background : null
    const { message } = this.#turn
    const { pendingKeys, hasOpenCalls } = cli.calls
    if (hasOpenCalls && pendingKeys.length === 0) return unfinished.outcomeUnknown
    // If the message is not in the transcript, it will be sent again, and equal calls then get the recorded answers, so nothing is lost.
    if (message && !transcript.index.hasMessage(messageUuid(message.id))) return null
    if (!hasOpenCalls) return unfinished.working
    return whyNotParkable === null ? null : unfinished.notResumable(whyNotParkable)
  }

  async #handleCommands(): Promise<void> {
    await this.#resumeOwnTurn()
    for await (const command of this.#session.commands()) {
      if (isMessage(command)) {
        this.#queue.push(command)
        this.#host.cli?.yieldToMessage()
        this.#startNextTurn()
      } else await this.#handleCommand(command)
    }
    await this.#host.end('stopped')
    await this.#turn?.finished
  }

  /** Resumes an open turn that Claude Code had started by itself. A turn that a message started is resumed when the message is redelivered. */
  async #resumeOwnTurn(): Promise<void> {
    if (!this.#session.turnOpen) return
    const interruptedTurn = await readInterruptedTurn(this.#session)
    this.#openTurnHasMessage = interruptedTurn.startedByMessage
    if (!interruptedTurn.startedByMessage) this.#startTurn(null, turn => this.#resumeTurn(turn, interruptedTurn))
  }

  /** Handles one command. Awaits only `end`, because an interrupt or a change of mode must not delay later commands. */
  async #handleCommand(command: SessionCommand): Promise<void> {
    const { body } = command
    switch (body.kind) {
      case 'interrupt':
        return this.#runInBackground(this.#interrupt().then(() => command.done()))
      case 'mode':
        this.#settingsChange = this.#settingsChange
          .then(() => this.#host.changeSettings(body))
          .then(outcome => command.done(outcome))
        return this.#runInBackground(this.#settingsChange)
      case 'end':
        this.#isStopping = true
        await this.#host.end('stopped')
        return this.#session.end({ reason: 'stopped' })
    }
  }

  #runInBackground(work: Promise<unknown>): void {
    work.catch(error => {
      if (!this.#session.signal.aborted) this.#rejectRun(error)
    })
  }

  async #interrupt(): Promise<void> {
    const turn = this.#turn
    if (turn) turn.interrupted = true
    // The interrupt fails if the process is starting or has exited. Ignore the error, because ending the process below also stops the turn.
    this.#host.cli?.interrupt().catch(() => {})
    if (!turn) return
    const timeout = pause(this.#options.clock, interruptMaxMs, this.#session.signal).catch(() => {})
    await Promise.race([turn.finished, timeout])
    if (this.#turn === turn) await this.#host.end('stopped')
    await turn.finished
  }

  /** Called when a turn or a call starts in the process, and when its background tasks change. If the process is busy while the end of a turn is being appended, the start of the next turn is appended directly after it. */
  #onActivity(): void {
    const { cli } = this.#host
    if (this.#turn?.isClosed && cli?.isBusy && !this.#continuing) {
      this.#continuing = cli
      this.#session.sayQuietly(workingEvent)
    }
    this.#startNextTurn()
  }

  /** Starts a turn for the next message, or follows a turn that Claude Code has started by itself. */
  #startNextTurn(): void {
    if (this.#turn || this.#isStopping || this.#session.signal.aborted) return
    const { cli } = this.#host
    const busyCli = this.#continuing ?? (cli?.isBusy ? cli : null)
    const message = this.#queue.shift()
    if (message) this.#startTurn(message, turn => this.#runMessage(turn, message))
    else if (busyCli) this.#startTurn(null, turn => this.#followOwnTurn(turn, busyCli))
    else this.#startIdleTimer()
  }

  #startTurn(message: Message | null, run: (turn: Turn) => Promise<void>): void {
    this.#cancelIdleTimer()
    this.#continuing = null
    const turn: Turn = { message, carried: new Map(), interrupted: false, isClosed: false, finished: Promise.resolve() }
    this.#turn = turn
    turn.finished = run(turn).then(
      () => {
        this.#turn = null
        this.#startNextTurn()
      },
      error => {
        this.#turn = null
        if (!this.#session.signal.aborted) this.#rejectRun(error)
      },
    )
  }

  async #runMessage(turn: Turn, message: Message): Promise<void> {
    // A change of mode or model that came before the message must apply to the message.
    await this.#settingsChange.catch(() => {})
    if (!message.redelivered) {
      await message.take()
      return this.#runTurn(turn, null, new CarriedRequests(), toUserMessage(message))
    }
    // No turn of a message was open, so the turn of this message had finished before the crash. Only the command is left to finish.
    if (!this.#openTurnHasMessage) return message.done()
    await this.#resumeTurn(turn, await readInterruptedTurn(this.#session))
  }

  async #resumeTurn(turn: Turn, interruptedTurn: InterruptedTurn): Promise<void> {
    const { message } = turn
    const { transcript } = this.#host
    const { requests } = interruptedTurn
    turn.carried = requests
    const uuid = message && messageUuid(message.id)
    const plan = await planResume(interruptedTurn, transcript, uuid, this.#options.parkingProbe)
    if (plan.kind === 'interrupted') return this.#finishTurn(turn, interruptedSummary)
    if (plan.kind === 'failed') return this.#failTurn(turn, plan.reason)
    if (!countAttempt(transcript)) return this.#failTurn(turn, turnFailed.resumedTooOften)
    if (plan.kind === 'call') return this.#runTurn(turn, plan.call, new CarriedRequests(requests), null)
    const input =
      plan.kind === 'message' && message
        ? toUserMessage(message)
        : userMessage(randomUUID(), await summarizeDecisions(this.#session, requests))
    await this.#runTurn(turn, null, new CarriedRequests(requests, true), input)
  }

  async #runTurn(
    turn: Turn,
    call: ToolCall | null,
    carried: CarriedRequests,
    input: SDKUserMessage | null,
  ): Promise<void> {
    if (this.#isStopping || this.#session.signal.aborted) return
    const problem = cwdProblem(this.#session.info.cwd)
    if (problem) return this.#failTurn(turn, problem)
    // If a person interrupted the turn before it started, do not send the message.
    if (turn.interrupted) return this.#finishTurn(turn, interruptedSummary)
    turn.carried = carried.remaining
    const cli = this.#host.start(carried, call)
    await this.#onOutcome(turn, cli, await cli.runTurn(input))
  }

  async #followOwnTurn(turn: Turn, cli: CliRun): Promise<void> {
    const outcome = cli.followOwnTurn()
    await this.#session.say(workingEvent)
    await this.#onOutcome(turn, cli, await outcome)
  }

  async #onOutcome(turn: Turn, cli: CliRun, outcome: TurnOutcome): Promise<void> {
    if ('exit' in outcome) await this.#onProcessExit(turn, cli, outcome.exit)
    else {
      const turnEnding = turn.interrupted ? 'interrupted' : cli.calls.turnEnding
      // If the turn ended without a result and a message is waiting, leave the turn open, so that the message becomes part of it.
      const isJoined = outcome.result === null && turnEnding === null && this.#queue.length > 0
      if (!isJoined) await this.#closeTurn(turn, cli, summarizeTurn(outcome.result, this.#host.transcript, turnEnding))
    }
    if (!this.#continuing) await this.#host.onTurnEnd(cli)
  }

  async #closeTurn(turn: Turn, cli: CliRun, summary: TurnSummary): Promise<void> {
    const { stopMessage } = cli.calls
    cli.calls.turnEnding = null
    cli.calls.stopMessage = null
    // The CLI drops the reason that the person gave for stopping, so add the reason to the conversation without calling the model.
    if (stopMessage !== null) await cli.runTurn({ ...userMessage(randomUUID(), stopMessage), shouldQuery: false })
    await this.#finishTurn(turn, summary, cli)
  }

  /** Appends the end of the turn and finishes its command. If the process is still busy, the same append starts the next turn. */
  async #finishTurn(turn: Turn, { events, failure }: TurnSummary, cli: CliRun | null = null): Promise<void> {
    await dropCarried(this.#session, turn.carried)
    const processState: AgentEvent[] = cli ? [{ type: 'session.changed', process: cli.liveState() }] : []
    this.#continuing = cli?.isBusy ? cli : null
    const appended = this.#session.say(...events, ...processState, ...(this.#continuing ? [workingEvent] : []))
    turn.isClosed = true
    await appended
    const outcome: CommandOutcome = failure === null ? { ok: true } : { ok: false, reason: failure }
    await turn.message?.done(outcome)
  }

  async #onProcessExit(turn: Turn, cli: CliRun, exit: ProcessExit): Promise<void> {
    if (this.#isStopping || this.#session.signal.aborted) return
    if (turn.interrupted) {
      await cli.calls.onTurnEnd(false)
      return this.#finishTurn(turn, interruptedSummary)
    }
    // A call is open, so park the session instead of failing the turn. The answer to the call will resume the session.
    if (cli.calls.hasOpenCalls) return this.#session.park()
    const reason = cli.startTimedOut ? turnFailed.startTimeout : processExitMessage(exit, turnFailed.processLost)
    await this.#failTurn(turn, reason)
  }

  /** Fails the turn and drops all its requests. */
  async #failTurn(turn: Turn, failure: string): Promise<void> {
    turn.carried = (await readInterruptedTurn(this.#session)).requests
    await this.#session.say(errorEvent('lost', failure))
    await this.#finishTurn(turn, { events: [{ type: 'turn.finished', ending: 'failed' }], failure })
  }

  /** Reports background work that was lost because the process exited between turns. */
  #reportLostWork(cli: CliRun, how: string): void {
    if (cli.isTurnAwaited || this.#continuing === cli || cli.backgroundTasks === 0) return
    this.#session.sayQuietly(errorEvent('lost', processExit.backgroundLost(how.slice(0, exitMessageMax))))
  }

  #startIdleTimer(): void {
    this.#cancelIdleTimer()
    const { idleParkMs } = this.#session.info.options
    const ms = typeof idleParkMs === 'number' ? idleParkMs : this.#options.idleParkMs
    const park = async () => {
      // Keep the process, because its background tasks would end with it.
      if (this.#host.cli && this.#host.cli.backgroundTasks > 0) return this.#startIdleTimer()
      this.#isStopping = true
      await this.#host.end('idle')
      await this.#session.park()
    }
    this.#cancelIdleTimer = this.#options.clock.after(ms, () => void park().catch(this.#rejectRun))
  }
}

function toUserMessage({ id, body }: Message): SDKUserMessage {
  return userMessage(messageUuid(id), body.text, body.attachments)
}
