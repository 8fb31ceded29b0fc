/** One turn of a generator agent: its generator is run from the start, what it says and asks is kept under ids that a replay finds again. */
import {
  type AgentEvent,
  AgentPath,
  type Attachment,
  type Clock,
  Fault,
  messageOf,
  orAborted,
  pause,
  type Session,
} from '@holdpoint/protocol'
import type { AgentSession } from '../session/agent-session.ts'
import { type AskGenerator, type AsksYield, refuse, TurnCancelled } from './asks.ts'
import { readStep, type StepRecord, type StepYield, stepDone, stepFailed, stepUnknown } from './step.ts'
import { TextStream } from './text-stream.ts'
import { TurnAsks } from './turn-asks.ts'
import { endOf, type Finished, notDeterministic, type TurnEnd, TurnFailed } from './turn-end.ts'
import type { SpokenBlock, TurnRecord } from './turn-log.ts'

type Path = { readonly agentPath?: readonly string[] | undefined }
type Input<T extends AgentEvent['type']> = Omit<Extract<AgentEvent, { readonly type: T }>, 'agentPath'> & Path
/** What an agent may say besides plain text. Blocks are the agent's own names, unique within the turn. */
export type AgentText =
  | ({ readonly type: 'message.delta'; readonly text: string } & Path)
  | ({ readonly type: 'message.added'; readonly text: string } & Path)
  | Input<'tool.started'>
  | Input<'tool.finished'>
  | Extract<AgentEvent, { readonly type: 'error.raised' }>
export type AgentYield = string | AgentText | AsksYield | StepYield

/** What an agent knows of the turn. On a replay it is the same. */
export interface Turn {
  readonly text: string
  readonly attachments: readonly Attachment[]
  readonly history: readonly SpokenBlock[]
  readonly cwd: string
  readonly mode: string | null
  readonly model: string | null
  /** Aborts when the turn is over, however it ended. */
  readonly signal: AbortSignal
  readonly session: Session
  /** Asks from a callback, while the generator waits for something else; inside the generator use `yield*`. */
  ask<T>(asking: AskGenerator<T>): Promise<T>
  pause(ms: number): Promise<void>
}

export interface TurnOptions {
  readonly session: AgentSession
  readonly run: (turn: Turn) => AsyncGenerator<AgentYield, void, unknown>
  readonly message: { readonly text: string; readonly attachments?: readonly Attachment[] | undefined }
  readonly record: TurnRecord
  readonly clock: Clock
  /** Aborts with `Interrupted`, or with whatever took the session away. */
  readonly signal: AbortSignal
  /** How long an ask may wait before the generator is let go; null: for ever. */
  readonly parkAfterMs: () => number | null
}
type Reply = { readonly value: unknown } | { readonly error: unknown }

/** Faults of what the agent said or asked: thrown where it did so. */
const agentFaults: ReadonlySet<Fault['code']> = new Set(['bad_input', 'body_too_large', 'too_many'])

export class TurnRun {
  readonly #options: TurnOptions
  readonly #session: AgentSession
  readonly #record: TurnRecord
  readonly #prose: TextStream
  readonly #asks: TurnAsks
  readonly #over = new AbortController()
  #slots = 0
  #sideAsks = 0
  #errors = 0
  #stepping: (Pick<StepYield, 'name' | 'agentPath'> & { readonly block: string }) | null = null

  constructor(options: TurnOptions) {
    this.#options = options
    this.#session = options.session
    this.#record = options.record
    this.#asks = new TurnAsks({ ...options, over: this.#over })
    const next = () => {
      const block = this.#slot('text')
      return { block, silent: this.#record.texts.get(block)?.partial === false }
    }
    this.#prose = new TextStream({ say: (...sayings) => this.#session.say(...sayings), next })
  }

  async run(): Promise<TurnEnd> {
    const { signal } = this.#options
    const follow = () => this.#over.abort(signal.reason)
    if (signal.aborted) follow()
    else signal.addEventListener('abort', follow, { once: true })
    let generator: AsyncGenerator<AgentYield, void, unknown> | undefined
    try {
      this.#over.signal.throwIfAborted()
      generator = this.#begin()
      await this.#drive(generator)
      return await this.#finish({ ending: 'done' })
    } catch (error) {
      const end = endOf(this.#over.signal.aborted ? this.#over.signal.reason : error)
      if (!end) throw error
      return end.ending === 'parked' ? end : await this.#finish(end)
    } finally {
      signal.removeEventListener('abort', follow)
      this.#over.abort(new TurnCancelled('The turn is over.'))
      // Not awaited: a generator that waits for something else comes to its end only after that.
      void generator?.return().catch(() => {})
    }
  }

  #begin(): AsyncGenerator<AgentYield, void, unknown> {
    const { message, session, clock } = this.#options
    const { info } = session
    const { signal } = this.#over
    const turn: Turn = {
      text: message.text,
      attachments: message.attachments ?? [],
      history: this.#record.history,
      cwd: info.cwd,
      mode: this.#record.mode,
      model: this.#record.model,
      signal,
      session: info,
      ask: asking => unwatched(this.#askAside(asking)),
      // What is on record already need not look alive.
      pause: ms => (this.#prose.silent ? Promise.resolve() : unwatched(pause(clock, ms, signal))),
    }
    const generator = this.#options.run(turn)
    if (typeof generator?.next !== 'function')
      throw new TurnFailed('the run of an agent must be an async generator function')
    return generator
  }

  async #drive(generator: AsyncGenerator<AgentYield, void, unknown>): Promise<void> {
    let reply: Reply = { value: undefined }
    for (;;) {
      const result: IteratorResult<AgentYield, void> = await this.#advance(generator, reply)
      if (result.done) return
      reply = await this.#answer(result.value)
    }
  }

  async #advance(generator: AsyncGenerator<AgentYield, void, unknown>, reply: Reply) {
    try {
      this.#over.signal.throwIfAborted()
      this.#asks.give()
      const moving = 'error' in reply ? generator.throw(reply.error) : generator.next(reply.value)
      return await orAborted(moving, this.#over.signal)
    } catch (error) {
      this.#over.signal.throwIfAborted()
      throw error instanceof TurnCancelled ? error : new TurnFailed(messageOf(error), { cause: error })
    } finally {
      // The agent's own next step is seen: only now is the answer taken, and before that step is committed.
      await this.#asks.take()
    }
  }

  async #answer(said: AgentYield): Promise<Reply> {
    try {
      return { value: await this.#carryOut(said) }
    } catch (error) {
      if (error instanceof Fault && agentFaults.has(error.code) && !this.#over.signal.aborted) return { error }
      if (error instanceof StepError) return { error: error.cause }
      throw error
    }
  }

  async #carryOut(said: AgentYield): Promise<unknown> {
    if (typeof said === 'string') return this.#prose.speak(said)
    switch (said?.type) {
      case 'asks': {
        if (!Array.isArray(said.items) || said.items.some(item => typeof item?.ask !== 'object'))
          throw refuse('the ask', 'items', 'must be a list of asks')
        await this.#prose.close()
        const keys = said.items.map(() => this.#slot('ask'))
        return this.#asks.settle(said.items, keys, true)
      }
      case 'step':
        await this.#prose.close()
        return this.#step(said)
      case 'message.delta':
        if (typeof said.text !== 'string') throw refuse('what the agent says', 'text', 'must be text')
        if (said.agentPath && !AgentPath.safeParse(said.agentPath).success)
          throw refuse('what the agent says', 'agentPath', 'must be a list of names')
        return this.#prose.speak(said.text, said.agentPath)
      case 'message.added':
      case 'tool.started':
      case 'tool.finished':
      case 'error.raised':
        await this.#prose.close()
        return this.#keep(said)
      default:
        throw refuse('what the agent yields', 'type', 'must be text, an ask, a step, or something an agent may say')
    }
  }

  async #keep(said: Exclude<AgentText, { readonly type: 'message.delta' }>): Promise<void> {
    switch (said.type) {
      case 'message.added': {
        const block = this.#slot('text')
        if (this.#record.texts.get(block)?.partial === false) return
        return this.#session.say({ ...said, ...pathOf(said), block })
      }
      case 'tool.started':
      case 'tool.finished': {
        const block = `t${this.#record.seq}:${said.block}`
        const before = said.type === 'tool.started' ? this.#record.started : this.#record.finished
        return before.has(block) ? undefined : this.#session.say({ ...said, ...pathOf(said), block })
      }
      case 'error.raised':
        return this.#errors++ < this.#record.errors ? undefined : this.#session.say(said)
    }
  }

  /** From a callback: the generator's own next step stays under way meanwhile, and the text so far is kept first. */
  async #askAside<T>(asking: AskGenerator<T>): Promise<T> {
    const first = asking.next()
    if (first.done) return first.value
    try {
      await this.#prose.keep()
      const keys = first.value.items.map(() => `t${this.#record.seq}.a${++this.#sideAsks}`)
      const settled = await this.#asks.settle(first.value.items, keys, false)
      this.#asks.give()
      const last = asking.next(settled)
      if (!last.done) throw new Error('an ask asks once')
      return last.value
    } catch (error) {
      if (error instanceof TurnFailed) this.#over.abort(error)
      throw error
    }
  }

  async #step(said: StepYield): Promise<unknown> {
    const { name, run, input = {}, title } = said
    const block = this.#slot('tool')
    const path = pathOf(said)
    const recorded = this.#record.finished.get(block)
    if (recorded) return stepResult(recorded)
    const finish = (record: StepRecord) => this.#session.say({ type: 'tool.finished', block, ...record, ...path })
    if (this.#record.started.has(block)) {
      const lost = stepUnknown(name)
      await finish(lost)
      return stepResult(lost)
    }
    await this.#session.say({ type: 'tool.started', block, tool: name, title, input, ...path })
    this.#stepping = { ...said, block }
    const record = await this.#runOnce(run)
    await finish(record)
    this.#stepping = null
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

  /** Everything kept of a turn has its place in it: the same place on a replay. */
  #slot(kind: 'text' | 'tool' | 'ask'): string {
    const id = `t${this.#record.seq}.${++this.#slots}`
    const { asked, started, texts } = this.#record
    const before = asked.has(id) ? 'ask' : started.has(id) ? 'tool' : texts.has(id) ? 'text' : kind
    if (before !== kind) throw notDeterministic(`${id} was ${nouns[before]} before and is ${nouns[kind]} now`)
    return id
  }

  /** The end of the turn and the last of what it said are one commit. */
  async #finish(end: Finished): Promise<Finished> {
    await this.#asks.take()
    await this.#asks.drop()
    const last = this.#prose.take(end.ending !== 'done')
    if (this.#stepping) {
      const { block, name } = this.#stepping
      last.push({ type: 'tool.finished', block, ...stepUnknown(name), ...pathOf(this.#stepping) })
    }
    if (end.ending === 'failed') last.push({ type: 'error.raised', message: end.reason || 'The agent failed.' })
    await this.#session.say(...last, { type: 'turn.finished', ending: end.ending })
    return end
  }
}

const nouns = { text: 'text', tool: 'a step', ask: 'an ask' } as const

/** A step's own failure: thrown into the agent, whatever it is. */
class StepError extends Error {}
function stepResult(record: StepRecord): unknown {
  try {
    return readStep(record)
  } catch (error) {
    throw new StepError('a step failed', { cause: error })
  }
}

/** A copy of its own: what agents hand over may change under us. */
function pathOf({ agentPath }: Path): { readonly agentPath: string[] | undefined } {
  return { agentPath: agentPath && [...agentPath] }
}
/** An agent that does not wait for it must not bring the runner down when the turn ends first. */
function unwatched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
