/** A simulated runner: it drives agents that ask a fixed list of questions and act on what they are allowed, and it may crash between any two of its steps. */
import type { Caller } from '@holdpoint/engine'
import {
  type Ask,
  type Call,
  type DriverInfo,
  digestText,
  Fault,
  type Request,
  type RunnerId,
  type SessionId,
} from '@holdpoint/protocol'
import type { Chance } from './random.ts'

export const runnerCaller: Caller = { role: 'runner', name: 'runner', token: 'tok_runner', via: 'api' }
export const drivers: readonly DriverInfo[] = [
  { name: 'steady', title: '', capabilities: ['resumable', 'portable', 'messages'], modes: [], ready: true },
  { name: 'fragile', title: '', capabilities: ['messages'], modes: [], ready: true },
]
const asksPerSession = 10

/** What an agent did because it was allowed to; kept outside of everything that crashes. */
export interface Action {
  readonly request: Request['id']
  readonly digestText: string
  readonly step: number
}

interface Agent {
  readonly id: SessionId
  readonly fence: number
  asked: number
  phase: 'ask' | 'wait' | 'hand' | 'act' | 'take'
  request: Request | null
}

export class Runner {
  readonly id: RunnerId
  readonly #call: Call
  readonly #chance: Chance
  readonly #act: (request: Request, digestText: string) => void
  /** Its place was taken by a newer start of the same runner, and it knows. */
  superseded = false
  #incarnation: number | null = null
  #agents = new Map<SessionId, Agent>()
  #attaching: { readonly id: SessionId; readonly key: string } | null = null

  constructor(id: RunnerId, call: Call, chance: Chance, act: (request: Request, digestText: string) => void) {
    this.id = id
    this.#call = call
    this.#chance = chance
    this.#act = act
  }

  /** The process dies: whatever it knew is gone. */
  crash(): void {
    this.#incarnation = null
    this.#attaching = null
    this.#agents = new Map()
  }

  async step(): Promise<string> {
    if (this.#incarnation === null) return this.#announce()
    if (this.#attaching) return this.#attach(this.#attaching)
    const next = this.#chance.weigh<() => Promise<string>>([
      [2, () => this.#renew()],
      [3, () => this.#look()],
      [12, () => this.#drive()],
    ])
    return next()
  }

  async #announce(): Promise<string> {
    const { incarnation } = await this.#call('announceRunner', { id: this.id, name: 'r', drivers: [...drivers] })
    this.#incarnation = incarnation
    return `announced ${incarnation}`
  }
  async #renew(): Promise<string> {
    try {
      await this.#call('renewRunner', { id: this.id, incarnation: this.#incarnation ?? 0 })
      return 'renewed'
    } catch (fault) {
      if (codeOf(fault) === 'fenced') this.superseded = true
      throw fault
    }
  }
  async #look(): Promise<string> {
    const { items } = await this.#call('listWork', { id: this.id, incarnation: this.#incarnation ?? 0 })
    const session = this.#chance.pick(items)
    if (!session) return 'no work'
    this.#attaching = { id: session.id, key: `attach-${this.#chance.next()}` }
    return this.#attach(this.#attaching)
  }
  /** A reply may be lost: the same key gives the same fence, so it goes on until it knows. */
  async #attach({ id, key }: { readonly id: SessionId; readonly key: string }): Promise<string> {
    try {
      const input = { id, runner: this.id, incarnation: this.#incarnation ?? 0 }
      const { fence } = await this.#call('attachSession', input, { idempotencyKey: key })
      this.#agents.set(id, { id, fence, asked: 0, phase: 'ask', request: null })
      this.#attaching = null
      return `attached ${id} ${fence}`
    } catch (fault) {
      if (codeOf(fault) !== 'store_unavailable') this.#attaching = null
      throw fault
    }
  }
  async #drive(): Promise<string> {
    const agent = this.#chance.pick([...this.#agents.values()])
    if (!agent) return this.#look()
    try {
      return await (this.#chance.happens(0.3) ? this.#obey(agent) : this.#goOn(agent))
    } catch (fault) {
      if (['fenced', 'session_ended', 'not_found'].includes(codeOf(fault))) this.#leave(agent)
      throw fault
    }
  }

  /** The session may have been attached anew meanwhile: then that agent stays. */
  #leave(agent: Agent): void {
    if (this.#agents.get(agent.id) === agent) this.#agents.delete(agent.id)
  }

  /** Commands, in order. */
  async #obey(agent: Agent): Promise<string> {
    const { id, fence } = agent
    const [command] = (await this.#call('listCommands', { id })).items
    if (!command) return 'no command'
    if (command.body.kind === 'end') {
      await this.#call('detachSession', { id, fence })
      this.#leave(agent)
      return `ended ${id}`
    }
    await this.#call('takeCommand', { id: command.id, fence })
    if (command.body.kind === 'message') await this.#say(id, fence, `heard ${command.seq}`)
    await this.#call('finishCommand', { id: command.id, fence })
    return `carried out ${command.body.kind}`
  }
  #say(id: SessionId, fence: number, text: string) {
    const block = `b${this.#chance.below(1000)}`
    return this.#chance.happens(0.3)
      ? this.#call('appendEvents', { id, fence, items: [{ type: 'message.delta', block, offset: 0, text }] })
      : this.#call('appendEvents', { id, fence, items: [{ type: 'message.added', block, text }] })
  }

  /** One step of the agent's own program. Between any two the process may crash. */
  async #goOn(agent: Agent): Promise<string> {
    const { id, fence } = agent
    switch (agent.phase) {
      case 'ask': {
        if (agent.asked >= asksPerSession) return this.#rest(agent)
        const deadlineMs = agent.asked % 2 ? { deadlineMs: 30_000 } : {}
        const onDeadline = agent.asked % 4 === 3 ? { onDeadline: 'wait' as const } : {}
        const input = { id, fence, key: `k${agent.asked}`, ask: askOf(agent.asked), ...deadlineMs, ...onDeadline }
        agent.request = await this.#call('openRequest', input)
        agent.phase = 'wait'
        return `asked ${agent.request.id}`
      }
      case 'wait': {
        const request = await this.#call('getRequest', { id: agent.request?.id ?? ('' as Request['id']) })
        if (request.status === 'pending') return 'waits'
        agent.request = request
        const { state } = request.delivery
        // It tries to hand whatever was not taken, also what is in doubt; the gateway has to refuse where that was an allow.
        const handable = state !== 'taken' && state !== 'undeliverable'
        return handable ? this.#to(agent, 'hand') : this.#nextAsk(agent, `does not act: ${state}`)
      }
      case 'hand':
        try {
          agent.request = await this.#call('reportDelivery', { id: requestOf(agent).id, state: 'handed', fence })
        } catch (fault) {
          if (codeOf(fault) === 'already_resolved') return this.#nextAsk(agent, 'must not act')
          throw fault
        }
        return this.#to(agent, 'act')
      case 'act': {
        const request = requestOf(agent)
        if (request.resolution?.answer?.kind === 'allow') this.#act(request, digestText(id, askOf(agent.asked)))
        return this.#to(agent, 'take')
      }
      case 'take':
        await this.#call('reportDelivery', { id: requestOf(agent).id, state: 'taken', fence })
        return this.#nextAsk(agent, 'took it')
    }
  }
  async #rest(agent: Agent): Promise<string> {
    if (this.#chance.happens(0.8)) {
      await this.#call('appendEvents', {
        id: agent.id,
        fence: agent.fence,
        items: [{ type: 'turn.finished', ending: 'done', cost: 1 }],
      })
      return 'finished its turn'
    }
    const ending = this.#chance.happens(0.5) ? { ending: { reason: 'done' as const } } : {}
    await this.#call('detachSession', { id: agent.id, fence: agent.fence, ...ending })
    this.#leave(agent)
    return `let go of ${agent.id}`
  }
  async #to(agent: Agent, phase: Agent['phase']): Promise<string> {
    agent.phase = phase
    return `goes on to ${phase}`
  }
  #nextAsk(agent: Agent, why: string): string {
    agent.phase = 'ask'
    agent.asked++
    return why
  }
}

function requestOf({ request }: Agent): Request {
  if (!request) throw new Error('an agent acts on nothing')
  return request
}
export function codeOf(fault: unknown): string {
  if (fault instanceof Fault) return fault.code
  throw fault
}

/** Asks are a function of their number: an agent that comes back asks the same again. */
export function askOf(n: number): Ask {
  if (n === 2)
    return {
      kind: 'questions',
      questions: [
        {
          id: 'q',
          header: '',
          question: 'Which?',
          options: [{ label: 'a' }],
          multiSelect: false,
          allowOther: true,
          secret: true,
        },
      ],
    }
  return {
    kind: 'approval',
    tool: 'Bash',
    input: { command: `run ${n}` },
    title: `Run ${n}`,
    cwd: '/',
    editable: false,
  }
}
