/** Runs one turn of a generator agent. Runs the generator from its start, and records texts, steps and asks under ids that stay the same in a replay. */

import { type AgentSession, inputFault, type MessageBody } from '@holdpoint/client'
import {
  type AgentEvent,
  AgentPath,
  type AttachmentFile,
  type Clock,
  Fault,
  messageOf,
  orAborted,
  pause,
  type Session,
} from '@holdpoint/protocol'
import { TextStream } from '../session/text-stream.ts'
import { type AskGenerator, type AsksYield, TurnCancelled } from './asks.ts'
import {
  readStep,
  type StepRecord,
  type StepYield,
  stepDone,
  stepFailed,
  stepUnknown,
  type VariableYield,
} from './step.ts'
import { TurnAsks } from './turn-asks.ts'
import {
  type FinishedRun,
  type FinishedTurn,
  notDeterministic,
  ParkTurn,
  type TurnEnd,
  TurnFailed,
  turnEndFrom,
} from './turn-end.ts'
import type { RecordedTurn, SpokenBlock } from './turn-log.ts'

type Path = { readonly agentPath?: readonly string[] | undefined }
type Input<T extends AgentEvent['type']> = Omit<Extract<AgentEvent, { readonly type: T }>, 'agentPath'> & Path
/** Events that an agent may yield in addition to strings, asks and steps. The agent chooses the `block` of a tool call, which must be unique within the turn. */
export type AgentText =
  | ({ readonly type: 'message.delta'; readonly text: string } & Path)
  | ({ readonly type: 'message.added'; readonly text: string } & Path)
  | Input<'tool.started'>
  | Input<'tool.finished'>
  | Extract<AgentEvent, { readonly type: 'error.raised' }>
export type AgentYield = string | AgentText | AsksYield | StepYield | VariableYield

/** The argument of an agent's `run`. A replay gets the same message, history, `cwd`, mode and model. */
export interface Turn {
  readonly text: string
  readonly attachments: readonly AttachmentFile[]
  readonly history: readonly SpokenBlock[]
  readonly cwd: string
  readonly mode: string | null
  readonly model: string | null
  /** Aborts when the turn ends, for any reason. */
  readonly signal: AbortSignal
  readonly session: Session
  /** Asks from a callback while the generator awaits something else. Inside the generator, use `yield*` instead. */
  ask<T>(ask: AskGenerator<T>): Promise<T>
  pause(ms: number): Promise<void>
}

export interface TurnOptions {
  readonly session: AgentSession
  readonly run: (turn: Turn) => AsyncGenerator<AgentYield, void, unknown>
  readonly message: Pick<MessageBody, 'text' | 'attachments'>
  readonly record: RecordedTurn
  readonly clock: Clock
  /** Aborts with `Interrupted`, or with the reason why this driver lost the session. */
  readonly signal: AbortSignal
  /** How long an ask may wait before the turn is parked; null means never. */
  readonly parkAfterMs: () => number | null
}
type GeneratorInput = { readonly value: unknown } | { readonly error: unknown }

/** Faults caused by the agent's own input. They are thrown into the generator at its yield. */
const agentFaults: ReadonlySet<Fault['code']> = new Set(['bad_input', 'body_too_large', 'too_many'])

export class TurnRun {
  readonly #options: TurnOptions
  readonly #session: AgentSession
  readonly #record: RecordedTurn
  readonly #text: TextStream
  readonly #asks: TurnAsks
  readonly #over = new AbortController()
  #positions = 0
  #sideAsks = 0
  #errors = 0
  #runningStep: (Pick<StepYield, 'name' | 'agentPath'> & { readonly block: string }) | null = null

  constructor(options: TurnOptions) {
    this.#options = options
    this.#session = options.session
    this.#record = options.record
    this.#asks = new TurnAsks({ ...options, over: this.#over })
    const nextBlock = () => {
      const block = this.#nextId('text')
      return { block, isRecorded: this.#record.texts.get(block)?.partial === false }
    }
    this.#text = new TextStream({ session: this.#session, nextBlock })
  }

  async run(): Promise<TurnEnd<FinishedRun>> {
    const { signal } = this.#options
    const abort = () => this.#over.abort(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    let generator: AsyncGenerator<AgentYield, void, unknown> | undefined
    let stopReason: Error = new TurnCancelled('The turn has ended.')
    try {
      this.#over.signal.throwIfAborted()
      generator = this.#begin()
      await this.#runGenerator(generator)
      return await this.#finish({ ending: 'done' })
    } catch (error) {
      const cause = this.#over.signal.aborted ? this.#over.signal.reason : error
      const end = turnEndFrom(cause)
      if (!end) throw error
      if (cause instanceof TurnFailed) this.#session.logFailedTurn(stackOf(cause.cause ?? cause))
      if (end.ending !== 'parked') return await this.#finish(end)
      // The generator will run again, so its clean-up code must be able to distinguish parking from the end of the turn.
      stopReason = new ParkTurn('The turn is parked.')
      return end
    } finally {
      signal.removeEventListener('abort', abort)
      this.#over.abort(stopReason)
      // Do not await `return()`: it settles only after the generator's current await. Ignore its error, because the turn is already over.
      void generator?.return().catch(() => {})
    }
  }

  #begin(): AsyncGenerator<AgentYield, void, unknown> {
    const { message, session, clock } = this.#options
    const { info } = session
    const { signal } = this.#over
    const turn: Turn = {
      text: message.text,
      attachments: message.attachments,
      history: this.#record.history,
      cwd: info.cwd,
      mode: this.#record.mode,
      model: this.#record.model,
      signal,
      session: info,
      ask: ask => ignoringRejection(this.#askFromCallback(ask)),
      // Skip the pause if the log already contains the current block of text, because a replay does not send that block again.
      pause: ms => (this.#text.isReplaying ? Promise.resolve() : ignoringRejection(pause(clock, ms, signal))),
    }
    const generator = this.#options.run(turn)
    if (typeof generator?.next !== 'function')
      throw new TurnFailed('the `run` of an agent must be an async generator function')
    return generator
  }

  async #runGenerator(generator: AsyncGenerator<AgentYield, void, unknown>): Promise<void> {
    let reply: GeneratorInput = { value: undefined }
    for (;;) {
      const result: IteratorResult<AgentYield, void> = await this.#advance(generator, reply)
      if (result.done) return
      reply = await this.#handleYield(result.value)
    }
  }

  async #advance(generator: AsyncGenerator<AgentYield, void, unknown>, reply: GeneratorInput) {
    try {
      this.#over.signal.throwIfAborted()
      this.#asks.markGiven()
      const next = 'error' in reply ? generator.throw(reply.error) : generator.next(reply.value)
      return await orAborted(next, this.#over.signal)
    } catch (error) {
      this.#over.signal.throwIfAborted()
      throw error instanceof TurnCancelled ? error : new TurnFailed(messageOf(error), { cause: error })
    } finally {
      // The agent continued, so it has received its answers. Report them as taken before the next action is committed.
      await this.#asks.reportTaken()
    }
  }

  async #handleYield(yielded: AgentYield): Promise<GeneratorInput> {
    try {
      return { value: await this.#carryOut(yielded) }
    } catch (error) {
      if (error instanceof Fault && agentFaults.has(error.code) && !this.#over.signal.aborted) return { error }
      if (error instanceof StepError) return { error: error.cause }
      throw error
    }
  }

  async #carryOut(yielded: AgentYield): Promise<unknown> {
    if (typeof yielded === 'string') return this.#text.write(yielded)
    switch (yielded?.type) {
      case 'asks': {
        if (!Array.isArray(yielded.items) || yielded.items.some(item => typeof item?.ask !== 'object'))
          throw inputFault('The ask', 'items', 'must be a list of asks')
        await this.#text.close()
        const keys = yielded.items.map(() => this.#nextId('ask'))
        return this.#asks.askAll(yielded.items, keys, true)
      }
      case 'step':
        await this.#text.close()
        return this.#step(yielded, false)
      case 'variable':
        await this.#text.close()
        return this.#setVariable(yielded)
      case 'message.delta':
        if (typeof yielded.text !== 'string') throw inputFault('The text', 'text', 'must be a string')
        if (yielded.agentPath && !AgentPath.safeParse(yielded.agentPath).success)
          throw inputFault('The text', 'agentPath', 'must be a list of names')
        return this.#text.write(yielded.text, yielded.agentPath)
      case 'message.added':
      case 'tool.started':
      case 'tool.finished':
      case 'error.raised':
        await this.#text.close()
        return this.#recordEvent(yielded)
      default:
        throw inputFault('The yielded value', 'type', 'must be a string, an ask, a step or an event')
    }
  }

  async #recordEvent(yielded: Exclude<AgentText, { readonly type: 'message.delta' }>): Promise<void> {
    switch (yielded.type) {
      case 'message.added': {
        const block = this.#nextId('text')
        if (this.#record.texts.get(block)?.partial === false) return
        return this.#session.say({ ...yielded, ...copyPath(yielded), block })
      }
      case 'tool.started':
      case 'tool.finished': {
        const block = `t${this.#record.seq}:${yielded.block}`
        const before = yielded.type === 'tool.started' ? this.#record.started : this.#record.finished
        return before.has(block) ? undefined : this.#session.say({ ...yielded, ...copyPath(yielded), block })
      }
      case 'error.raised':
        return this.#errors++ < this.#record.errors ? undefined : this.#session.say(yielded)
    }
  }

  /** Asks from a callback while the generator is running. Commits the current text first. */
  async #askFromCallback<T>(ask: AskGenerator<T>): Promise<T> {
    const first = ask.next()
    if (first.done) return first.value
    try {
      await this.#text.commitPartial()
      const keys = first.value.items.map(() => `t${this.#record.seq}.a${++this.#sideAsks}`)
      const handed = await this.#asks.askAll(first.value.items, keys, false)
      this.#asks.markGiven()
      const last = ask.next(handed)
      if (!last.done) throw new Error('an ask yielded more than once')
      return last.value
    } catch (error) {
      if (error instanceof TurnFailed) this.#over.abort(error)
      throw error
    }
  }

  async #setVariable({ name, value }: VariableYield): Promise<void> {
    const run = async () => void (await this.#session.setVariable(name, value))
    await this.#step({ type: 'step', name: 'set_variable', input: { name, value }, run }, true)
  }

  /** If `isRepeatable` is set, a replay runs a step again if the step had started and not finished. */
  async #step(yielded: StepYield, isRepeatable: boolean): Promise<unknown> {
    const { name, run, input = {}, title } = yielded
    const block = this.#nextId('tool')
    const path = copyPath(yielded)
    const recorded = this.#record.finished.get(block)
    if (recorded) return stepResult(recorded)
    const finish = (record: StepRecord) => this.#session.say({ type: 'tool.finished', block, ...record, ...path })
    if (this.#record.started.has(block) && !isRepeatable) {
      const lost = stepUnknown(name)
      await finish(lost)
      return stepResult(lost)
    }
    if (!this.#record.started.has(block))
      await this.#session.say({ type: 'tool.started', block, tool: name, title, input, ...path })
    this.#runningStep = { ...yielded, block }
    const record = await this.#runOnce(run)
    await finish(record)
    this.#runningStep = null
    return stepResult(record)
  }

  async #runOnce(run: StepYield['run']): Promise<StepRecord> {
    const { signal } = this.#over
    try {
      return stepDone(await orAborted((async () => run(signal))(), signal))
    } catch (error) {
      signal.throwIfAborted()
      return stepFailed(error)
    }
  }

  /** Returns the id of the next recorded item. The id depends only on the position in the turn, so a replay gets the same ids. */
  #nextId(kind: 'text' | 'tool' | 'ask'): string {
    const id = `t${this.#record.seq}.${++this.#positions}`
    const { asked, started, texts } = this.#record
    const before = asked.has(id) ? 'ask' : started.has(id) ? 'tool' : texts.has(id) ? 'text' : kind
    if (before !== kind) throw notDeterministic(`${id} was ${nouns[before]} and is now ${nouns[kind]}`)
    return id
  }

  /** Settles the asks, and returns the last events, which are committed together with the end of the turn. */
  async #finish(end: FinishedTurn): Promise<FinishedRun> {
    await this.#asks.reportTaken()
    await this.#asks.withdrawRest()
    const last = this.#text.takeEvents(end.ending !== 'done')
    if (this.#runningStep) {
      const { block, name } = this.#runningStep
      last.push({ type: 'tool.finished', block, ...stepUnknown(name), ...copyPath(this.#runningStep) })
    }
    if (end.ending === 'failed')
      last.push({ type: 'error.raised', message: end.reason || 'The agent failed without a message.' })
    return { ...end, events: last }
  }
}

/** Returns the stack of an error of the agent, which may have thrown anything. */
function stackOf(error: unknown): string {
  const { stack } = Object(error) as { stack?: unknown }
  return typeof stack === 'string' && stack !== '' ? stack : messageOf(error)
}

const nouns = { text: 'text', tool: 'a step', ask: 'an ask' } as const

/** Wraps the error of a failed step, so that the driver throws that error into the generator instead of failing the turn. */
class StepError extends Error {}
function stepResult(record: StepRecord): unknown {
  try {
    return readStep(record)
  } catch (error) {
    throw new StepError('the step failed', { cause: error })
  }
}

/** Copies the path, because the agent may change its array later. */
function copyPath({ agentPath }: Path): { readonly agentPath: string[] | undefined } {
  return { agentPath: agentPath && [...agentPath] }
}
/** Prevents an unhandled rejection, which would stop the runner: an agent might not await this promise, and the promise rejects at the end of the turn. */
function ignoringRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
