/** The gateway against a tiny model of its own: random steps of people, agents, runners and time, and after each the two must agree. */
import { limits, type Request, type SessionId } from '@holdpoint/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { defaultSettings } from '../src/index.ts'
import { approval, type Driven, type GatewayFixture, refused, rig, runnerId } from './gateway-fixture.ts'

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
/** All that the model knows: one session of a driver that resumes, its requests, and who holds it. */
interface Model {
  now: number
  state: 'idle' | 'parked' | 'ended'
  /** Whether the newest fence that was given out still counts. */
  held: boolean
  leaseEndsAt: number
  /** Attaches since the agent last asked something new. */
  attaches: number
  /** A command waits for the agent. */
  told: boolean
  readonly requests: ModelRequest[]
}
interface Real {
  readonly at: GatewayFixture
  readonly id: SessionId
  driven: Driven
}
type Step = fc.AsyncCommand<Model, Real>

const { runnerTtlMs } = defaultSettings
const deadlineMs = 40_000
const isPending = (request: ModelRequest) => request.by === null

/** What the agent's side does to everything that is open. */
function settle(model: Model, kind: 'interrupt' | 'end'): void {
  for (const request of model.requests) {
    if (isPending(request)) Object.assign(request, { by: 'agent', delivery: 'taken' })
    else if (request.delivery === 'waiting') request.delivery = 'undeliverable'
    else if (request.delivery === 'handed' && kind === 'end') request.delivery = 'unknown'
  }
}
function end(model: Model): void {
  settle(model, 'end')
  Object.assign(model, { state: 'ended', told: false })
}
function free(model: Model): void {
  if (!model.held) return
  model.held = false
  for (const request of model.requests) if (request.delivery === 'handed') request.delivery = 'unknown'
  if (model.state === 'ended') return
  const wanted = model.told || model.requests.some(request => !isPending(request) && request.delivery === 'waiting')
  if (wanted && model.attaches >= limits.idleAttachesMax) end(model)
  else model.state = 'parked'
}
/** Sweep by sweep; in each, deadlines come before leases. */
function pass(model: Model, ms: number): void {
  for (const until = model.now + ms; model.now < until; ) {
    model.now += defaultSettings.sweepMs
    for (const request of model.requests)
      if (isPending(request) && request.deadlineAt !== null && model.now >= request.deadlineAt)
        Object.assign(request, { by: 'deadline', delivery: 'waiting' })
    if (model.held && model.now >= model.leaseEndsAt) free(model)
  }
}

async function agree(model: Model, { at, id }: Real): Promise<void> {
  const session = await at.person('getSession', { id })
  expect([session.state, session.pending]).toEqual([model.state, model.requests.filter(isPending).length])
  const { items } = await at.person('listRequests', { session: id, limit: 500 })
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
    await agree(model, real)
  },
  toString: () => name,
})
const pick = (model: Model, n: number) => model.requests[n % Math.max(1, model.requests.length)]

const steps: fc.Arbitrary<Step>[] = [
  fc.tuple(fc.nat(4), fc.boolean()).map(([n, timed]) =>
    step(`ask k${n}${timed ? ' with a deadline' : ''}`, async (model, { driven }) => {
      const key = `k${n}`
      const asking = driven.ask(key, approval(), timed ? { deadlineMs } : {})
      if (!model.held) return refused(asking, 'fenced')
      if (model.state === 'ended') return refused(asking, 'session_ended')
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
    step(`answer ${n} ${kind}`, async (model, { at }) => {
      const request = pick(model, n)
      if (!request) return
      const answering = at.person('answerRequest', { id: request.id, digest: request.digest, answer: { kind } })
      if (isPending(request)) {
        await answering
        Object.assign(request, { by: 'person', answer: kind, delivery: 'waiting' })
      } else if (request.by === 'person' && request.answer === kind) await answering
      else await refused(answering, 'already_resolved')
    }),
  ),
  fc.nat(4).map(n =>
    step(`hand ${n}`, async (model, { driven }) => {
      const request = pick(model, n)
      if (!request) return
      const handing = driven.report(request, 'handed')
      if (!model.held) return refused(handing, 'fenced')
      const again = request.delivery === 'unknown' && request.answer !== 'allow'
      if (again && model.state === 'ended') return refused(handing, 'session_ended')
      const may = !isPending(request) && (request.delivery === 'waiting' || request.delivery === 'handed' || again)
      if (!may) return refused(handing, isPending(request) ? 'not_resolved' : 'already_resolved')
      await handing
      if (request.delivery !== 'handed' && request.answer === 'allow') request.timesAllowHanded++
      request.delivery = 'handed'
    }),
  ),
  fc.nat(4).map(n =>
    step(`take ${n}`, async (model, { driven }) => {
      const request = pick(model, n)
      if (!request) return
      const taking = driven.report(request, 'taken')
      if (!model.held) return refused(taking, 'fenced')
      const may = !isPending(request) && ['handed', 'unknown', 'taken'].includes(request.delivery)
      if (!may) return refused(taking, isPending(request) ? 'not_resolved' : 'already_resolved')
      await taking
      request.delivery = 'taken'
    }),
  ),
  fc.nat(4).map(n =>
    step(`withdraw ${n}`, async (model, { at, driven }) => {
      const request = pick(model, n)
      if (!request) return
      const withdrawing = at.runner('withdrawRequest', { id: request.id, fence: driven.fence })
      if (!model.held) return refused(withdrawing, 'fenced')
      if (model.state === 'ended') return refused(withdrawing, 'session_ended')
      await withdrawing
      if (isPending(request)) Object.assign(request, { by: 'agent', delivery: 'taken' })
      else if (request.delivery === 'waiting') request.delivery = 'undeliverable'
    }),
  ),
  fc.constant(
    step('interrupt', async (model, { at, id }) => {
      const interrupting = at.person('interruptSession', { id })
      if (model.state === 'ended') return refused(interrupting, 'session_ended')
      await interrupting
      settle(model, 'interrupt')
      model.told = true
    }),
  ),
  fc.constant(
    step('end', async (model, { at, id }) => {
      await at.person('endSession', { id })
      if (model.state !== 'ended') end(model)
    }),
  ),
  fc.constant(
    step('message', async (model, { at, id }) => {
      await at.person('sendMessage', { id, text: 'go on' })
      if (model.state === 'ended') Object.assign(model, { state: 'parked', held: false, attaches: 0 })
      model.told = true
    }),
  ),
  fc.constant(
    step('detach', async (model, { at, id, driven }) => {
      const detaching = at.runner('detachSession', { id, fence: driven.fence })
      if (!model.held) return refused(detaching, 'fenced')
      await detaching
      free(model)
    }),
  ),
  fc.constant(
    step('the runner starts anew and attaches', async (model, real) => {
      await real.at.announce()
      free(model)
      if (model.state === 'ended') return refused(real.at.attach(real.id), 'session_ended')
      real.driven = await real.at.attach(real.id)
      Object.assign(model, { held: true, state: 'idle', leaseEndsAt: model.now + runnerTtlMs })
      model.attaches++
    }),
  ),
  fc.constant(
    step('the runner renews', async (model, { at }) => {
      const { items } = await at.runner('listRunners', {})
      await at.runner('renewRunner', { id: runnerId(), incarnation: items[0]?.incarnation ?? 0 })
      model.leaseEndsAt = model.now + runnerTtlMs
    }),
  ),
  fc.constant(
    step('the gateway restarts', async (model, { at }) => {
      await at.gateway.close()
      await at.open()
      if (model.held) model.leaseEndsAt = Math.max(model.leaseEndsAt, model.now + runnerTtlMs)
    }),
  ),
  fc.constantFrom(500, 5_000, 15_000, 40_000).map(ms =>
    step(`${ms} ms pass`, async (model, { at }) => {
      // In strides that a sweep fits into: what is due at the end of one has then been seen.
      await at.clock.pass(ms + defaultSettings.sweepMs)
      pass(model, ms + defaultSettings.sweepMs)
    }),
  ),
]

it('does what the model does, whatever happens in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 50, size: '+1' }), async commands => {
      const at = await rig()
      const driven = await at.drive()
      const model: Model = {
        now: at.clock.now(),
        state: 'idle',
        held: true,
        leaseEndsAt: at.clock.now() + runnerTtlMs,
        attaches: 1,
        told: false,
        requests: [],
      }
      await fc.asyncModelRun(() => ({ model, real: { at, id: driven.session.id, driven } }), commands)
      expect(at.trouble).toEqual([])
      await at.gateway.close()
    }),
    // A hang is a failure, and shrinking ends before the runner of the tests loses patience: a failure is always told with its seed.
    { numRuns: 300, timeout: 5_000, interruptAfterTimeLimit: 20_000 },
  )
})
