/** Model-based test with random steps of people, agents, runners and time. After each step, the gateway must agree with a small model. */
import { limits, type Request, type SessionId } from '@holdpoint/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkUsage } from '../../../test/support/usage-check.ts'
import { defaultSettings } from '../src/index.ts'
import {
  type AttachedAgent,
  approval,
  expectFault,
  type GatewayFixture,
  openFixture,
  runnerId,
} from './gateway-fixture.ts'

type Delivery = 'waiting' | 'handed' | 'taken' | 'unknown' | 'undeliverable'
interface ModelRequest {
  readonly id: Request['id']
  readonly digest: string
  readonly key: string
  readonly deadlineAt: number | null
  by: 'person' | 'deadline' | 'agent' | null
  answer: 'allow' | 'deny' | null
  delivery: Delivery
  timesAllowHanded: number
}
/** The model: one session of a resumable driver, its requests, and whether its lease is held. */
interface Model {
  now: number
  state: 'idle' | 'parked' | 'ended'
  /** Whether the newest fence is still valid. */
  held: boolean
  leaseEndsAt: number
  /** The number of attaches since the agent last asked something new. */
  attaches: number
  /** Whether a command waits for the agent. */
  hasCommand: boolean
  readonly requests: ModelRequest[]
}
interface Real {
  readonly fixture: GatewayFixture
  readonly id: SessionId
  agent: AttachedAgent
}
type Step = fc.AsyncCommand<Model, Real>

const { runnerTtlMs } = defaultSettings
const deadlineMs = 40_000
const isPending = (request: ModelRequest) => request.by === null

/** Resolves everything open, as an interrupt or an end does. */
function resolveOpen(model: Model, kind: 'interrupt' | 'end'): void {
  for (const request of model.requests) {
    if (isPending(request)) Object.assign(request, { by: 'agent', delivery: 'taken' })
    else if (request.delivery === 'waiting') request.delivery = 'undeliverable'
    else if (request.delivery === 'handed' && kind === 'end') request.delivery = 'unknown'
  }
}
function end(model: Model): void {
  resolveOpen(model, 'end')
  Object.assign(model, { state: 'ended', hasCommand: false })
}
function releaseLease(model: Model): void {
  if (!model.held) return
  model.held = false
  for (const request of model.requests) if (request.delivery === 'handed') request.delivery = 'unknown'
  if (model.state === 'ended') return
  const needsRunner =
    model.hasCommand || model.requests.some(request => !isPending(request) && request.delivery === 'waiting')
  if (needsRunner && model.attaches >= limits.idleAttachesMax) end(model)
  else model.state = 'parked'
}
/** Advances the model sweep by sweep; each sweep handles deadlines before leases. */
function advance(model: Model, ms: number): void {
  for (const until = model.now + ms; model.now < until; ) {
    model.now += defaultSettings.sweepMs
    for (const request of model.requests)
      if (isPending(request) && request.deadlineAt !== null && model.now >= request.deadlineAt)
        Object.assign(request, { by: 'deadline', delivery: 'waiting' })
    if (model.held && model.now >= model.leaseEndsAt) releaseLease(model)
  }
}

async function expectAgreement(model: Model, { fixture, id }: Real): Promise<void> {
  const session = await fixture.person('getSession', { id })
  expect([session.state, session.pending]).toEqual([model.state, model.requests.filter(isPending).length])
  const { items } = await fixture.person('listRequests', { session: id, limit: 500 })
  expect(
    items.map(({ id, resolution, delivery }) => ({
      id,
      by: resolution?.by ?? null,
      answer: resolution?.answer?.kind ?? null,
      delivery: delivery.state,
    })),
  ).toEqual(model.requests.map(({ id, by, answer, delivery }) => ({ id, by, answer, delivery })))
  for (const request of model.requests) expect(request.timesAllowHanded).toBeLessThanOrEqual(1)
}

const step = (name: string, run: (model: Model, real: Real) => Promise<void>): Step => ({
  check: () => true,
  run: async (model, real) => {
    await run(model, real)
    await expectAgreement(model, real)
  },
  toString: () => name,
})
const pick = (model: Model, n: number) => model.requests[n % Math.max(1, model.requests.length)]

const steps: fc.Arbitrary<Step>[] = [
  fc.tuple(fc.nat(4), fc.boolean()).map(([n, timed]) =>
    step(`ask k${n}${timed ? ' with a deadline' : ''}`, async (model, { agent }) => {
      const key = `k${n}`
      const asking = agent.ask(key, approval(), timed ? { deadlineMs } : {})
      if (!model.held) return expectFault(asking, 'fenced')
      if (model.state === 'ended') return expectFault(asking, 'session_ended')
      const { id, digest } = await asking
      if (model.requests.some(request => request.key === key)) return
      model.attaches = 0
      const deadlineAt = timed ? model.now + deadlineMs : null
      model.requests.push({
        id,
        digest,
        key,
        deadlineAt,
        by: null,
        answer: null,
        delivery: 'waiting',
        timesAllowHanded: 0,
      })
    }),
  ),
  fc.tuple(fc.nat(4), fc.constantFrom('allow' as const, 'deny' as const)).map(([n, kind]) =>
    step(`answer ${n} ${kind}`, async (model, { fixture }) => {
      const request = pick(model, n)
      if (!request) return
      const answering = fixture.person('answerRequest', { id: request.id, digest: request.digest, answer: { kind } })
      if (isPending(request)) {
        await answering
        Object.assign(request, { by: 'person', answer: kind, delivery: 'waiting' })
      } else if (request.by === 'person' && request.answer === kind) await answering
      else await expectFault(answering, 'already_resolved')
    }),
  ),
  fc.nat(4).map(n =>
    step(`hand ${n}`, async (model, { agent }) => {
      const request = pick(model, n)
      if (!request) return
      const handing = agent.report(request, 'handed')
      if (!model.held) return expectFault(handing, 'fenced')
      const again = request.delivery === 'unknown' && request.answer !== 'allow'
      if (again && model.state === 'ended') return expectFault(handing, 'session_ended')
      const may = !isPending(request) && (request.delivery === 'waiting' || request.delivery === 'handed' || again)
      if (!may) return expectFault(handing, isPending(request) ? 'not_resolved' : 'already_resolved')
      await handing
      if (request.delivery !== 'handed' && request.answer === 'allow') request.timesAllowHanded++
      request.delivery = 'handed'
    }),
  ),
  fc.nat(4).map(n =>
    step(`take ${n}`, async (model, { agent }) => {
      const request = pick(model, n)
      if (!request) return
      const taking = agent.report(request, 'taken')
      if (!model.held) return expectFault(taking, 'fenced')
      const may = !isPending(request) && ['handed', 'unknown', 'taken'].includes(request.delivery)
      if (!may) return expectFault(taking, isPending(request) ? 'not_resolved' : 'already_resolved')
      await taking
      request.delivery = 'taken'
    }),
  ),
  fc.nat(4).map(n =>
    step(`withdraw ${n}`, async (model, { fixture, agent }) => {
      const request = pick(model, n)
      if (!request) return
      const withdrawing = fixture.runner('withdrawRequest', { id: request.id, fence: agent.fence })
      if (!model.held) return expectFault(withdrawing, 'fenced')
      if (model.state === 'ended') return expectFault(withdrawing, 'session_ended')
      await withdrawing
      if (isPending(request)) Object.assign(request, { by: 'agent', delivery: 'taken' })
      else if (request.delivery === 'waiting') request.delivery = 'undeliverable'
    }),
  ),
  fc.constant(
    step('interrupt', async (model, { fixture, id }) => {
      const interrupting = fixture.person('interruptSession', { id })
      if (model.state === 'ended') return expectFault(interrupting, 'session_ended')
      await interrupting
      resolveOpen(model, 'interrupt')
      model.hasCommand = true
    }),
  ),
  fc.constant(
    step('end', async (model, { fixture, id }) => {
      await fixture.person('endSession', { id })
      if (model.state !== 'ended') end(model)
    }),
  ),
  fc.constant(
    step('message', async (model, { fixture, id }) => {
      await fixture.person('sendMessage', { id, text: 'go on' })
      if (model.state === 'ended') Object.assign(model, { state: 'parked', held: false, attaches: 0 })
      model.hasCommand = true
    }),
  ),
  fc.constant(
    step('detach', async (model, { fixture, id, agent }) => {
      const detaching = fixture.runner('detachSession', { id, fence: agent.fence })
      if (!model.held) return expectFault(detaching, 'fenced')
      await detaching
      releaseLease(model)
    }),
  ),
  fc.constant(
    step('the runner restarts and attaches', async (model, real) => {
      await real.fixture.announce()
      releaseLease(model)
      if (model.state === 'ended') return expectFault(real.fixture.attach(real.id), 'session_ended')
      real.agent = await real.fixture.attach(real.id)
      Object.assign(model, { held: true, state: 'idle', leaseEndsAt: model.now + runnerTtlMs })
      model.attaches++
    }),
  ),
  fc.constant(
    step('the runner renews', async (model, { fixture }) => {
      const { items } = await fixture.runner('listRunners', {})
      await fixture.runner('renewRunner', { id: runnerId(), incarnation: items[0]?.incarnation ?? 0 })
      model.leaseEndsAt = model.now + runnerTtlMs
    }),
  ),
  fc.constant(
    step('the gateway restarts', async (model, { fixture }) => {
      await fixture.gateway.close()
      await fixture.open()
      if (model.held) model.leaseEndsAt = Math.max(model.leaseEndsAt, model.now + runnerTtlMs)
    }),
  ),
  fc.constantFrom(500, 5_000, 15_000, 40_000).map(ms =>
    step(`${ms} ms pass`, async (model, { fixture }) => {
      // Advance by one more sweep interval, so that a sweep has handled everything that is due.
      await fixture.clock.advance(ms + defaultSettings.sweepMs)
      advance(model, ms + defaultSettings.sweepMs)
    }),
  ),
]

it('the gateway agrees with the model after every random step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 50, size: '+1' }), async commands => {
      const fixture = await openFixture()
      const agent = await fixture.startAttached()
      const model: Model = {
        now: fixture.clock.now(),
        state: 'idle',
        held: true,
        leaseEndsAt: fixture.clock.now() + runnerTtlMs,
        attaches: 1,
        hasCommand: false,
        requests: [],
      }
      await fc.asyncModelRun(() => ({ model, real: { fixture, id: agent.session.id, agent } }), commands)
      expect(fixture.errors).toEqual([])
      await checkUsage(fixture.store)
      await fixture.gateway.close()
    }),
    // A hang counts as a failure, and shrinking ends before the test timeout, so that a failure is always reported with its seed.
    { numRuns: 300, interruptAfterTimeLimit: 20_000 },
  )
})
