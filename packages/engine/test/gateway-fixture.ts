/** The fixture of the engine's tests: a real gateway on the memory store, a manual clock, callers of each role, and a subscriber that records its frames. */
import {
  type Ask,
  type Call,
  type DriverInfo,
  type FaultCode,
  type Frame,
  formatId,
  type Input,
  type Request,
  type RunnerId,
  type Session,
} from '@holdpoint/protocol'
import { openMemory } from '@holdpoint/store'
import { expect } from 'vitest'
import {
  type Caller,
  callAs,
  type Gateway,
  type GatewayOptions,
  openGateway,
  type SerializedFrame,
  type Store,
  type SubscribeOptions,
  type Subscription,
} from '../src/index.ts'
import { ManualClock } from './manual-clock.ts'

export { runPendingWork } from './manual-clock.ts'

export const runnerId = (n = 0): RunnerId => formatId('run', new Uint8Array(20).fill(n))

/** The owner of the gateway. */
export const ada: Caller = { role: 'owner', id: 'per_ada', name: 'ada', token: 'tok_ada', via: 'page' }
export const bob: Caller = { role: 'person', id: 'per_bob', name: 'bob', token: 'tok_bob', via: 'cli' }
export const runnerCallerFor = (n: number): Caller => ({
  role: 'runner',
  id: runnerId(n),
  name: `runner ${n}`,
  token: `tok_runner_${n}`,
  via: 'api',
})
export const runnerCaller = runnerCallerFor(0)
export const robot: Caller = { role: 'agent', id: 'tok_robot', name: 'robot', token: 'tok_robot', via: 'api' }
export const stranger: Caller = {
  role: 'agent',
  id: 'tok_stranger',
  name: 'stranger',
  token: 'tok_stranger',
  via: 'api',
}

export const resumable: DriverInfo = {
  name: 'resumable',
  title: 'Can resume',
  capabilities: ['resumable', 'messages', 'interrupt'],
  modes: [],
  ready: true,
}
export const unresumable: DriverInfo = {
  ...resumable,
  name: 'unresumable',
  title: 'Cannot resume',
  capabilities: ['messages'],
}
export const portable: DriverInfo = { ...resumable, name: 'portable', capabilities: ['resumable', 'portable'] }
export const drivers = [resumable, unresumable, portable]

export const approval = (command = 'ls', more: Partial<Extract<Ask, { kind: 'approval' }>> = {}): Ask => ({
  kind: 'approval',
  tool: 'Bash',
  input: { command },
  title: `Run ${command}`,
  cwd: '/srv',
  editable: true,
  ...more,
})
export const secretAsk: Ask = {
  kind: 'questions',
  questions: [
    { id: 'pin', header: 'PIN', question: 'The PIN?', options: [], multiSelect: false, allowOther: true, secret: true },
  ],
}

export const secretForm: Ask = {
  kind: 'form',
  title: 'Sign in',
  message: '',
  schema: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      pass: { type: 'string', format: 'password' },
      pin: { type: 'integer', writeOnly: true },
    },
  },
}

/** A session attached by a runner, with the calls that its agent makes under the fence. */
export interface AttachedAgent {
  readonly session: Session
  readonly fence: number
  ask(key: string, ask?: Ask, more?: Partial<Input<'openRequest'>>): Promise<Request>
  report(request: Pick<Request, 'id'>, state: Input<'reportDelivery'>['state']): Promise<Request>
  append(...items: Input<'appendEvents'>['items']): Promise<unknown>
}

export class GatewayFixture {
  readonly clock: ManualClock
  readonly store: Store
  /** Errors that the sweep has reported. */
  readonly errors: unknown[] = []
  gateway!: Gateway
  person!: Call
  otherPerson!: Call
  runner!: Call
  externalAgent!: Call
  otherAgent!: Call

  constructor(clock: ManualClock, store: Store) {
    this.clock = clock
    this.store = store
  }
  /** Opens a gateway on the same store, as a restart does. */
  async open(options: Partial<GatewayOptions> = {}): Promise<this> {
    this.gateway = await openGateway({
      store: this.store,
      clock: this.clock,
      onError: error => this.errors.push(error),
      ...options,
    })
    this.person = callAs(this.gateway, ada)
    this.otherPerson = callAs(this.gateway, bob)
    this.runner = this.runnerCall(0)
    this.externalAgent = callAs(this.gateway, robot)
    this.otherAgent = callAs(this.gateway, stranger)
    return this
  }
  runnerCall(n: number): Call {
    return callAs(this.gateway, runnerCallerFor(n))
  }
  announce(n = 0, offered: readonly DriverInfo[] = drivers) {
    return this.runnerCall(n)('announceRunner', { id: runnerId(n), name: `runner ${n}`, drivers: [...offered] })
  }
  async attach(id: Session['id'], n = 0): Promise<AttachedAgent> {
    const call = this.runnerCall(n)
    const runner = (await this.person('listRunners', {})).items.find(known => known.id === runnerId(n))
    const { fence, session } = await call('attachSession', {
      id,
      runner: runnerId(n),
      incarnation: runner?.incarnation ?? 0,
    })
    return {
      session,
      fence,
      ask: (key, ask = approval(), more = {}) => call('openRequest', { id, key, ask, fence, ...more }),
      report: (request, state) => call('reportDelivery', { id: request.id, state, fence }),
      append: (...items) => call('appendEvents', { id, items, fence }),
    }
  }
  /** Starts and attaches a session. Announces the runner first unless it is live. */
  async startAttached(driver = 'resumable', input: Partial<Input<'startSession'>> = {}, n = 0): Promise<AttachedAgent> {
    const { items } = await this.person('listRunners', {})
    if (!items.some(known => known.id === runnerId(n) && known.live)) await this.announce(n)
    const session = await this.person('startSession', { driver, ...input })
    return this.attach(session.id, n)
  }
  allow(request: Request, call = this.person) {
    return call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
  }
  deny(request: Request, call = this.person) {
    return call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
  }
  async subscribe(options: SubscribeOptions = {}, caller: Caller = ada): Promise<RecordingSubscriber> {
    const frames: SerializedFrame[] = []
    const subscription = await this.gateway.subscribe(caller, options, { frame: frame => frames.push(frame) })
    return {
      subscription,
      get frames() {
        return frames.map(frame => JSON.parse(frame.json) as Frame) // the gateway serialized a frame into `json`
      },
      get events() {
        return frames.filter(frame => frame.cursor !== null).map(frame => (JSON.parse(frame.json) as EventFrame).event) // only frames that contain an event have cursors
      },
      get cursors() {
        return frames.flatMap(frame => frame.cursor ?? [])
      },
    }
  }
  /** Resolves with the types of all events in the log. */
  async eventTypes() {
    const events = await this.store.events({ after: 0, limit: 100_000 })
    return events.map(event => event.type)
  }
}
type EventFrame = Extract<Frame, { frame: 'event' }>
export interface RecordingSubscriber {
  readonly subscription: Subscription
  readonly frames: readonly Frame[]
  readonly events: readonly EventFrame['event'][]
  readonly cursors: readonly string[]
}

export async function openFixture(options: Partial<GatewayOptions> = {}): Promise<GatewayFixture> {
  const clock = new ManualClock()
  return new GatewayFixture(clock, await openMemory({ clock, epoch: 'e1' })).open(options)
}

export function expectFault(call: Promise<unknown>, code: FaultCode, message = /(?:)/): Promise<void> {
  return expect(call).rejects.toMatchObject({ name: 'Fault', code, message: expect.stringMatching(message) })
}
