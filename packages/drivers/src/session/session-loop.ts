/** Runs one session of any agent: interprets the transition table, and carries out its effects with the gateway and the agent's connection. */
import { randomUUID } from 'node:crypto'
import type { AgentSession, SessionCommand } from '@holdpoint/client'
import { type AgentEvent, type Clock, Fault, systemClock } from '@holdpoint/protocol'
import type { AgentExit, AgentOutput, AgentProtocol, AgentTurnEnd, AnswerEffects } from './agent-connection.ts'
import { CallRequests } from './call-requests.ts'
import { CarriedRequests, readInterruptedTurn } from './carried-requests.ts'
import { ConnectionRun } from './connection-run.ts'
import { LoopMachine } from './loop-machine.ts'
import {
  activeCalls,
  type CallEffect,
  isBusy,
  isInterrupted,
  type LoopEffect,
  type TurnOver,
  waitingCalls,
} from './loop-state.ts'
import { ParkTimer } from './park-timer.ts'
import { unfinishedWork, whyNotParkable } from './parkability.ts'
import { SessionSettings } from './session-settings.ts'
import { SessionTimers } from './session-timers.ts'
import { isMessage, type MessageCommand, SessionTurn } from './session-turn.ts'
import { TextStream } from './text-stream.ts'
import { UntoldTexts } from './untold-texts.ts'

export interface SessionLoopOptions {
  readonly clock?: Clock
  /** How long a session may be idle before it is parked. The session option with the same name overrides this value. */
  readonly idleParkMs?: number
  /** The mode to start in, if the agent cannot be in the mode of the session. */
  readonly mode?: string | null
}

/** Runs the session with the agent's protocol until it is parked or ended, or until the runner stops. */
export function runSession(
  session: AgentSession,
  protocol: AgentProtocol,
  options: SessionLoopOptions = {},
): Promise<void> {
  return new SessionLoop(session, protocol, options).run()
}

const idleParkDefaultMs = 15 * 60_000
const workingEvent: AgentEvent = { type: 'session.changed', state: 'working' }

class SessionLoop {
  readonly #session: AgentSession
  readonly #protocol: AgentProtocol
  readonly #clock: Clock
  readonly #settings: SessionSettings
  readonly #calls: CallRequests
  readonly #parkTimer: ParkTimer
  readonly #timers: SessionTimers
  readonly #text: TextStream
  readonly #queue: MessageCommand[] = []
  readonly #modeChanges: SessionCommand[] = []
  readonly #machine = new LoopMachine(
    effect => this.#carryOut(effect),
    error => this.#fail(error),
  )
  #turn: SessionTurn | null = null
  /** The running process, or the last one. */
  #run: ConnectionRun | null = null
  /** Whether another process can continue the conversation of the running process. */
  #canContinue = true
  #carried = new CarriedRequests()
  /** Whether a message had started the turn that was open when this driver took over the session. */
  #openTurnHasMessage = false
  readonly #untold: UntoldTexts
  /** The cost of work that belonged to no turn of its own. The next turn reports it. */
  #unreportedCost = 0
  /** The reason why the session ends, once it ends. */
  #ending: 'stopped' | 'lost' = 'stopped'
  #rejectRun: (error: unknown) => void = () => {}

  constructor(session: AgentSession, protocol: AgentProtocol, options: SessionLoopOptions) {
    const { clock = systemClock, mode = session.info.mode } = options
    this.#session = session
    this.#protocol = protocol
    this.#clock = clock
    this.#untold = new UntoldTexts(clock)
    const chosen = session.info.options.idleParkMs
    const idleParkMs = typeof chosen === 'number' ? chosen : (options.idleParkMs ?? idleParkDefaultMs)
    this.#timers = new SessionTimers({
      clock,
      // An idle process is kept if the agent forgets its conversation when the process ends.
      idleParkMs: () => (this.#isForgetful || !this.#canContinue ? null : idleParkMs),
      dispatch: event => this.#machine.dispatch(event),
    })
    this.#settings = new SessionSettings({
      ...{ session, protocol, clock, mode },
      connection: () => this.#run?.live ?? null,
      exited: () => this.#run?.exited ?? new Promise(() => {}),
      onNoReply: () => this.#replaceProcess(),
      onParkAfterChanged: () => this.#parkTimer.restart(),
    })
    const nextBlock = () => ({ block: randomUUID(), isRecorded: false })
    this.#text = new TextStream({ session, nextBlock })
    this.#calls = new CallRequests({
      session,
      dispatch: event => this.#machine.dispatch(event),
      answer: async (call, answer) => (await this.#run?.connection.answer(call, answer)) ?? {},
      onEffects: effects => this.#onAnswerEffects(effects),
      onError: error => this.#fail(error),
    })
    this.#parkTimer = new ParkTimer({
      clock,
      parkAfterMs: () => this.#settings.parkAfterMs,
      hasPendingRequests: () => activeCalls(this.#machine.state).some(([, { stage }]) => stage === 'pending'),
      prepare: async () => this.#run?.connection.parking?.prepare(),
      whyNotParkable: () => whyNotParkable(this.#machine.state, this.#run?.connection),
      park: () => this.#machine.dispatch({ type: 'parkTimer' }),
      onChange: note => {
        if (this.#run?.live && this.#machine.state.process === 'live') session.sayQuietly(...this.#run.liveEvents(note))
      },
    })
  }

  async run(): Promise<void> {
    const failed = new Promise<never>((_, reject) => {
      this.#rejectRun = reject
    })
    const { signal } = this.#session
    let lostWork: string | null = null
    const stop = () => {
      lostWork ??= unfinishedWork(this.#machine.state, this.#protocol, this.#run?.live ?? null, this.#turn?.message?.id)
      this.#machine.dispatch({ type: 'runnerStop' })
    }
    signal.addEventListener('abort', stop, { once: true })
    this.#timers.startIdle()
    try {
      await Promise.race([this.#handleCommands(), failed])
    } finally {
      this.#timers.stopIdle()
      signal.removeEventListener('abort', stop)
      this.#machine.dispatch({ type: 'runnerStop' })
      await this.#run?.closed
    }
    // If the reason of the abort is a Fault, the session has ended or belongs to another runner, so do not park it.
    if (lostWork !== null && !this.#isForgetful && !(signal.reason instanceof Fault)) await this.#session.park(lostWork)
  }

  async #handleCommands(): Promise<void> {
    await this.#resumeOpenTurn()
    for await (const command of this.#session.commands()) {
      if (isMessage(command)) {
        this.#queue.push(command)
        this.#machine.dispatch({ type: 'messageQueued' })
      } else await this.#handleCommand(command)
    }
    await this.#run?.closed
    await this.#turn?.finished
  }

  /** Resumes an open turn that the agent had started by itself. A turn that a message started is resumed when the message is redelivered. */
  async #resumeOpenTurn(): Promise<void> {
    if (!this.#session.turnOpen) return
    const { startedByMessage } = await readInterruptedTurn(this.#session)
    this.#openTurnHasMessage = startedByMessage
    if (!startedByMessage) this.#machine.dispatch({ type: 'turnLeftOpen' })
  }

  /** Handles one command. Awaits only `end`, because an interrupt or a change of mode must not delay later commands. */
  async #handleCommand(command: SessionCommand): Promise<void> {
    switch (command.body.kind) {
      case 'interrupt':
        this.#machine.dispatch({ type: 'interrupt' })
        return this.#inBackground((this.#turn?.finished ?? Promise.resolve()).then(() => command.done()))
      case 'mode':
        this.#modeChanges.push(command)
        return this.#machine.dispatch({ type: 'modeChange' })
      case 'end':
        this.#machine.dispatch({ type: 'end' })
        return this.#end()
    }
  }

  #carryOut(effect: LoopEffect): void {
    if ('id' in effect) this.#calls.carryOut(effect)
    else this.#handlers[effect.type](effect as never) // the handler of this type of effect
  }
  readonly #handlers: { readonly [E in Exclude<LoopEffect, CallEffect> as E['type']]: (effect: E) => void } = {
    prepareMessage: () => this.#prepare(this.#queue.shift() ?? null),
    prepareResume: () => this.#prepare(null),
    connect: () => this.#connect(),
    send: () => this.#send(),
    followTurn: () => {
      this.#turn = new SessionTurn(this.#session, this.#protocol, null)
      this.#session.sayQuietly(workingEvent)
    },
    sayWorking: () => this.#session.sayQuietly(workingEvent),
    closeTurn: ({ over }) => this.#inBackground(this.#closeTurn(over)),
    leaveTurn: () => {
      this.#turn?.finish()
      this.#turn = null
    },
    // The interrupt fails if the process is starting or has exited. Ignore the error, because the stop timer also ends the turn.
    interruptAgent: () => void this.#run?.connection.interrupt().catch(() => {}),
    startStopTimer: () => this.#timers.startStop(this.#turn?.finished),
    startIdleTimer: () => this.#timers.startIdle(),
    stopIdleTimer: () => this.#timers.stopIdle(),
    updateParkTimer: () => this.#parkTimer.update(),
    changeSettings: () => this.#changeSettings(),
    closeProcess: ({ reason }) => {
      this.#parkTimer.stop()
      this.#run?.close(reason, waitingCalls(this.#machine.state))
    },
    parkSession: () => this.#inBackground((this.#run?.closed ?? Promise.resolve()).then(() => this.#session.park())),
    endSession: () => this.#inBackground(this.#end()),
    releaseLost: () => this.#inBackground(this.#isForgetful ? this.#end() : this.#session.park()),
    reportLostWork: () => {
      this.#session.sayQuietly(...this.#session.openToolCalls.finish([]))
      this.#run?.reportLostWork()
    },
  }

  #prepare(message: MessageCommand | null): void {
    const turn = new SessionTurn(this.#session, this.#protocol, message)
    this.#turn = turn
    const prepare = async () => {
      // A change of mode or model that came before the message must apply to the message.
      await this.#settings.changed()
      const how = await turn.prepare(this.#openTurnHasMessage)
      await this.#run?.closed
      this.#machine.dispatch(how === 'ready' ? { type: 'turnPrepared' } : { type: 'turnRefused', how })
    }
    // The promises that wait for the turn are resolved before the error is reported.
    const giveUp = (error: unknown) => {
      turn.finish()
      throw error
    }
    this.#inBackground(prepare().catch(giveUp))
  }

  #connect(): void {
    const { resume = null, carried = new CarriedRequests() } = this.#turn ?? {}
    const { mode, model, conversationId } = this.#settings
    const run: ConnectionRun = new ConnectionRun({
      ...{ session: this.#session, protocol: this.#protocol, clock: this.#clock },
      onOutput: output => this.#onOutput(run, output),
      onStartTimeout: () => this.#machine.dispatch({ type: 'stopTimer' }),
      onError: error => this.#fail(error),
    })
    this.#carried = carried
    this.#run = run
    run.start({
      ...{ info: this.#session.info, mode, model, conversationId, resume },
      parkAfterMs: () => this.#settings.parkAfterMs,
      check: call => this.#session.check(call),
      reportResult: call => this.#session.reportResult(call),
      isInterrupted: () => isInterrupted(this.#machine.state),
    })
  }
  #send(): void {
    const { input, texts = [] } = this.#turn ?? {}
    if (!input) return
    this.#run?.connection.send({ ...input, text: [...this.#untold.take(), ...texts, input.text].join('\n\n') })
  }

  #onOutput(run: ConnectionRun, output: AgentOutput): Promise<void> {
    const isStale = run !== this.#run || (this.#machine.state.process === 'closing' && output.type !== 'exited')
    if (isStale) return Promise.resolve()
    switch (output.type) {
      case 'ready':
        this.#canContinue = output.canContinue ?? true
        this.#settings.report(output)
        this.#session.sayQuietly(...run.liveEvents())
        this.#machine.dispatch(output)
        break
      case 'turnStarted':
      case 'parkingChanged':
      case 'backgroundChanged':
        this.#machine.dispatch(output)
        break
      case 'settingsChanged':
        this.#settings.report(output)
        break
      case 'text':
        return this.#text.write(output.text, output.agentPath)
      case 'events': {
        const isStored = output.events.some(event => !('offset' in event))
        this.#session.sayQuietly(...(isStored ? this.#text.takeEvents(false) : []), ...output.events)
        break
      }
      case 'turnEnded':
        return this.#onTurnEnd(output)
      case 'callOpened':
        this.#session.sayQuietly(...this.#text.takeEvents(false))
        this.#calls.add(output.call, this.#carried)
        this.#machine.dispatch({ type: 'callOpened', id: output.call.id, origin: output.call.origin ?? 'main' })
        break
      case 'callAborted':
        this.#calls.abort(output.id, async () => (await run.connection.isExiting?.()) ?? false)
        break
      case 'callTaken':
        this.#machine.dispatch(output)
        return this.#calls.reported()
      case 'exited':
        this.#onExit(run, output)
    }
    return Promise.resolve()
  }

  #onTurnEnd(end: AgentTurnEnd): Promise<void> {
    const { input = null } = this.#turn ?? {}
    const isAwaited = input === null || end.messages === undefined || end.messages.includes(input.id)
    const isUsed = isAwaited && this.#machine.state.turn?.stage === 'running'
    const cost = this.#unreportedCost + (end.cost ?? 0)
    this.#unreportedCost = isUsed ? 0 : cost
    if (isUsed && this.#turn) this.#turn.end = { ...end, ...(cost > 0 ? { cost } : {}) }
    this.#machine.dispatch({ type: 'turnEnded', isAwaited })
    return this.#calls.reported()
  }

  #onExit(run: ConnectionRun, exit: AgentExit): void {
    run.reportExit(exit)
    const { isReleasing } = this.#machine.state
    this.#machine.dispatch({ type: 'processExit', isParked: exit.isParked ?? false })
    if (!this.#isForgetful || isReleasing) return
    this.#ending = 'lost'
    this.#inBackground((this.#turn?.finished ?? Promise.resolve()).then(() => this.#machine.dispatch({ type: 'end' })))
  }

  #onAnswerEffects({ turnEnding, tellAgent, problem }: AnswerEffects): void {
    if (turnEnding !== undefined) this.#machine.dispatch({ type: 'endingChosen', ending: turnEnding, isStop: false })
    if (tellAgent !== undefined) this.#untold.add(tellAgent)
    if (problem !== undefined) this.#session.sayQuietly({ type: 'error.raised', code: 'refused', message: problem })
  }

  async #closeTurn(over: TurnOver): Promise<void> {
    const turn = this.#turn
    if (!turn) return
    const hasFailed = over === 'failed' || over === 'lost'
    const { events, outcome } = turn.summarize(over, this.#machine.state, this.#run?.lossMessage ?? '')
    try {
      await this.#calls.settled()
      if (!hasFailed) await this.#untold.tell(this.#run?.live ?? null)
      await turn.dropRequests(hasFailed)
      this.#carried = new CarriedRequests()
      const isDone = events.some(event => event.type === 'turn.finished' && event.ending === 'done')
      const text = this.#text.takeEvents(!isDone)
      this.#machine.dispatch({ type: 'turnWritten' })
      const process = this.#run?.live ? this.#run.liveEvents() : []
      const { turn: closed, background } = this.#machine.state
      const next = closed?.continues ? [workingEvent] : []
      // The agent may still finish calls of the next turn and of background tasks.
      const tools = closed?.continues || background > 0 ? [] : this.#session.openToolCalls.finish(events)
      await this.#session.say(...text, ...tools, ...events, ...process, ...next)
      await turn.message?.done(outcome)
      if (!this.#machine.state.turn?.continues) await this.#endSpentProcess()
      this.#turn = null
      this.#machine.dispatch({ type: 'turnClosed' })
    } finally {
      turn.finish()
    }
  }

  /** Ends the process after a turn if it must not be used for another one. */
  async #endSpentProcess(): Promise<void> {
    const run = this.#run
    if (!run?.live) return
    const isIdle = !isBusy(this.#machine.state) && this.#machine.state.background === 0
    if (isIdle && (run.mustEnd || (await run.live.mustEndAfterTurn?.()))) {
      this.#machine.dispatch({ type: 'processSpent', reason: 'done' })
      await run.closed
    } else this.#parkTimer.update()
  }
  async #replaceProcess(): Promise<void> {
    if (this.#run) this.#run.mustEnd = true
    this.#machine.dispatch({ type: 'processSpent', reason: 'stopped' })
    await this.#run?.closed
  }

  #changeSettings(): void {
    const command = this.#modeChanges.shift()
    if (command?.body.kind !== 'mode') return
    const { mode, model, parkAfterMs } = command.body
    const change = { ...(mode === undefined ? {} : { mode }), ...(model === undefined ? {} : { model }), parkAfterMs }
    this.#inBackground(this.#settings.change(change).then(outcome => command.done(outcome)))
  }

  /** Whether the agent forgets its conversation when its process ends. */
  get #isForgetful(): boolean {
    return this.#protocol.keepsAfterLoss === 'nothing'
  }
  async #end(): Promise<void> {
    await this.#run?.closed
    await this.#session.end({ reason: this.#ending })
  }

  #inBackground(work: Promise<unknown>): void {
    work.catch(error => this.#fail(error))
  }
  #fail(error: unknown): void {
    if (!this.#session.signal.aborted) this.#rejectRun(error)
  }
}
