/** A simulated runner. Its agents open a fixed list of requests and act when allowed. The runner may crash between any two steps. */
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
import type { Random } from './random.ts'

export const runnerCaller = (id: RunnerId): Caller => ({
  role: 'runner',
  id,
  name: 'runner',
  token: `tok_${id}`,
  via: 'api',
})
export const drivers: readonly DriverInfo[] = [
  { name: 'resumable', title: '', capabilities: ['resumable', 'portable', 'messages'], modes: [], ready: true },
  { name: 'unresumable', title: '', capabilities: ['messages'], modes: [], ready: true },
]
const asksPerSession = 10

/** An action that an agent performed because it was allowed. These records are kept outside the processes that crash. */
export interface PerformedAction {
  readonly request: Request['id']
  readonly digestText: string
  readonly step: number
}

interface SimulatedAgent {
  readonly id: SessionId
  readonly fence: number
  asked: number
  phase: 'ask' | 'wait' | 'hand' | 'act' | 'take'
  request: Request | null
}

export class SimulatedRunner {
  readonly id: RunnerId
  readonly #call: Call
  readonly #random: Random
  readonly #act: (request: Request, digestText: string) => void
  /** Whether the gateway has told this runner that a newer incarnation replaced it. */
  superseded = false
  #incarnation: number | null = null
  readonly #agents = new Map<SessionId, SimulatedAgent>()
  /** Sessions whose attach has no reply yet, with the idempotency key of the attach. */
  readonly #attaching = new Map<SessionId, string>()

  constructor(id: RunnerId, call: Call, random: Random, act: (request: Request, digestText: string) => void) {
    this.id = id
    this.#call = call
    this.#random = random
    this.#act = act
  }

  async step(): Promise<string> {
    if (this.#incarnation === null) return this.#announce()
    const [attaching] = this.#attaching.keys()
    if (attaching) return this.#attach(attaching)
    const next = this.#random.pickWeighted<() => Promise<string>>([
      [2, () => this.#renew()],
      [3, () => this.#findWork()],
      [12, () => this.#stepAgent()],
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
  async #findWork(): Promise<string> {
    const { items } = await this.#call('listWork', { id: this.id, incarnation: this.#incarnation ?? 0 })
    const session = this.#random.pick(items)
    if (!session) return 'no work'
    return this.#attach(session.id)
  }
  /** Attaches a session, and retries with the same key until there is a reply. Calls with the same key return the same fence. */
  async #attach(id: SessionId): Promise<string> {
    const key = this.#attaching.get(id) ?? `attach-${this.#random.next()}`
    this.#attaching.set(id, key)
    try {
      const input = { id, runner: this.id, incarnation: this.#incarnation ?? 0 }
      const { fence } = await this.#call('attachSession', input, { idempotencyKey: key })
      this.#agents.set(id, { id, fence, asked: 0, phase: 'ask', request: null })
      this.#attaching.delete(id)
      return `attached ${id} ${fence}`
    } catch (fault) {
      if (codeOf(fault) !== 'store_unavailable') this.#attaching.delete(id)
      throw fault
    }
  }
  async #stepAgent(): Promise<string> {
    const agent = this.#random.pick([...this.#agents.values()])
    if (!agent) return this.#findWork()
    try {
      return await (this.#random.chance(0.3) ? this.#runCommand(agent) : this.#advanceAgent(agent))
    } catch (fault) {
      if (['fenced', 'session_ended', 'not_found'].includes(codeOf(fault))) this.#forgetAgent(agent)
      throw fault
    }
  }

  /** Removes an agent, unless its session was attached again in the meantime. */
  #forgetAgent(agent: SimulatedAgent): void {
    if (this.#agents.get(agent.id) === agent) this.#agents.delete(agent.id)
  }

  /** Runs the next command. */
  async #runCommand(agent: SimulatedAgent): Promise<string> {
    const { id, fence } = agent
    const [command] = (await this.#call('listCommands', { id })).items
    if (!command) return 'no command'
    if (command.body.kind === 'end') {
      await this.#call('detachSession', { id, fence })
      this.#forgetAgent(agent)
      return `ended ${id}`
    }
    await this.#call('takeCommand', { id: command.id, fence })
    if (command.body.kind === 'message') await this.#appendMessage(id, fence, `read message ${command.seq}`)
    await this.#call('finishCommand', { id: command.id, fence })
    return `ran command ${command.body.kind}`
  }
  #appendMessage(id: SessionId, fence: number, text: string) {
    const block = `b${this.#random.below(1000)}`
    return this.#random.chance(0.3)
      ? this.#call('appendEvents', { id, fence, items: [{ type: 'message.delta', block, offset: 0, text }] })
      : this.#call('appendEvents', { id, fence, items: [{ type: 'message.added', block, text }] })
  }

  /** Runs one step of the agent. The process may crash between any two steps. */
  async #advanceAgent(agent: SimulatedAgent): Promise<string> {
    const { id, fence } = agent
    switch (agent.phase) {
      case 'ask': {
        if (agent.asked >= asksPerSession) return this.#finishTurn(agent)
        const deadlineMs = agent.asked % 2 ? { deadlineMs: 30_000 } : {}
        const onDeadline = agent.asked % 4 === 3 ? { onDeadline: 'wait' as const } : {}
        const input = { id, fence, key: `k${agent.asked}`, ask: askOf(agent.asked), ...deadlineMs, ...onDeadline }
        agent.request = await this.#call('openRequest', input)
        agent.phase = 'wait'
        return `asked ${agent.request.id}`
      }
      case 'wait': {
        const request = await this.#call('getRequest', { id: agent.request?.id ?? ('' as Request['id']) })
        if (request.status === 'pending') return 'still waiting'
        agent.request = request
        const { state } = request.delivery
        // The runner also tries to hand an unknown answer, which the gateway must refuse if the answer is an allow.
        const handable = state !== 'taken' && state !== 'undeliverable'
        return handable ? this.#setPhase(agent, 'hand') : this.#nextAsk(agent, `skipped: ${state}`)
      }
      case 'hand':
        try {
          agent.request = await this.#call('reportDelivery', { id: requestOf(agent).id, state: 'handed', fence })
        } catch (fault) {
          if (codeOf(fault) === 'already_resolved') return this.#nextAsk(agent, 'handing was refused')
          throw fault
        }
        return this.#setPhase(agent, 'act')
      case 'act': {
        const request = requestOf(agent)
        if (request.resolution?.answer?.kind === 'allow') this.#act(request, digestText(id, askOf(agent.asked)))
        return this.#setPhase(agent, 'take')
      }
      case 'take':
        await this.#call('reportDelivery', { id: requestOf(agent).id, state: 'taken', fence })
        return this.#nextAsk(agent, 'answer taken')
    }
  }
  async #finishTurn(agent: SimulatedAgent): Promise<string> {
    if (this.#random.chance(0.8)) {
      await this.#call('appendEvents', {
        id: agent.id,
        fence: agent.fence,
        items: [{ type: 'turn.finished', ending: 'done', cost: 1 }],
      })
      return 'finished its turn'
    }
    const ending = this.#random.chance(0.5) ? { ending: { reason: 'done' as const } } : {}
    await this.#call('detachSession', { id: agent.id, fence: agent.fence, ...ending })
    this.#forgetAgent(agent)
    return `detached ${agent.id}`
  }
  async #setPhase(agent: SimulatedAgent, phase: SimulatedAgent['phase']): Promise<string> {
    agent.phase = phase
    return `next phase: ${phase}`
  }
  #nextAsk(agent: SimulatedAgent, why: string): string {
    agent.phase = 'ask'
    agent.asked++
    return why
  }
}

function requestOf({ request }: SimulatedAgent): Request {
  if (!request) throw new Error('this agent has no open request')
  return request
}
export function codeOf(fault: unknown): string {
  if (fault instanceof Fault) return fault.code
  throw fault
}

/** Returns the nth ask, which depends only on n, so that a resumed agent repeats the same asks. */
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
