import { afterAll, describe, expect, it } from 'vitest'
import { EventRecorder, isEvent, withTimeout } from '../support/event-recorder.ts'
import { closeGateways, GatewayProcess } from '../support/gateway.ts'
import { startRounds } from '../support/rounds.ts'
import { checkSqlite } from '../support/store-check.ts'
import { type GatewayPoint, gatewayPoints, runnerPoints } from './crash-points.ts'
import { runCrashSequence, withWorker, writeOneLine } from './crash-sequence.ts'
import { checkDelivery, sessionLog, timesWritten } from './delivery-check.ts'

afterAll(closeGateways)

/** The points around the hand-over of the answer to the agent. Every run of the tests kills at each of them. */
const decisivePoints: readonly GatewayPoint[] = gatewayPoints.slice(
  gatewayPoints.indexOf('written:handed'),
  gatewayPoints.indexOf('committed:taken') + 1,
)
const isSample = process.env.HOLDPOINT_ROUNDS === undefined
const sampleStep = 8
const firstOfSample = Math.floor(Math.random() * sampleStep)
/** `npm run crash` kills at all points. `npm test` kills at the decisive points and at every eighth of the others, which differ from run to run. */
const points = gatewayPoints.filter(
  (point, index) => !isSample || decisivePoints.includes(point) || index % sampleStep === firstOfSample,
)

/** Runs two sequences in parallel, because each spends much time waiting. */
async function crashAtPoints(victims: 'gateway' | 'both'): Promise<GatewayPoint[]> {
  const unknown = new Set<GatewayPoint>()
  for (const rounds = startRounds(0); rounds.next(); ) {
    const halves = [0, 1].map(half => points.filter((_, index) => index % 2 === half))
    for (const result of await Promise.all(halves.map(some => runCrashSequence(victims, some))))
      for (const point of result.unknown) unknown.add(point)
  }
  return points.filter(point => unknown.has(point))
}

describe('kill -9 at the crash points', () => {
  it('killing only the gateway does not affect running agents and loses no answer', { timeout: 600_000 }, async () => {
    expect(await crashAtPoints('gateway')).toEqual([])
  })

  it('killing the gateway and the runner makes an allow unknown if it was handed but not taken, and only then', {
    timeout: 600_000,
  }, async () => {
    const afterHanded: GatewayPoint[] = [
      'committed:handed',
      'replying:reportDelivery#1',
      'begun:taken',
      'decided:taken',
    ]
    expect(await crashAtPoints('both')).toEqual([...afterHanded, 'written:taken'])
  })

  it.each(runnerPoints)(
    'after the runner is killed at %s, the next runner continues the session',
    { timeout: 600_000 },
    point =>
      repeatWithGateway({ HOLDPOINT_RUNNER_CRASH_AT: point }, async (gateway, recorder) => {
        const outcome = await checkDelivery(gateway.call, recorder, await writeOneLine(gateway, recorder, 'a line'))
        expect(outcome).toBe(['runner:handed', 'runner:given'].includes(point) ? 'unknown' : 'taken')
        expect((await gateway.call('listRunners', {})).items.map(runner => runner.incarnation)).toEqual([2])
      }),
  )

  it.each(['writing', 'written'])(
    'after the runner is killed during the allowed action (at %s), the action does not run again',
    { timeout: 600_000 },
    crashIn =>
      repeatWithGateway({}, async (gateway, recorder) => {
        const written = await writeOneLine(gateway, recorder, 'a line', crashIn)
        expect(await checkDelivery(gateway.call, recorder, written)).toBe('taken')
        expect(timesWritten(written)).toBe(crashIn === 'written' ? 1 : 0)
      }),
  )

  const afterHanded = ['runner:handed', 'runner:given']
  it.each(afterHanded)('after the runner is killed at %s, a deny is handed again', { timeout: 600_000 }, point =>
    repeatWithGateway({ HOLDPOINT_RUNNER_CRASH_AT: point }, async ({ call }, recorder) => {
      const session = await call('startSession', { driver: 'worker', prompt: 'a line' })
      const { value: request } = await recorder.waitFor(isEvent(session.id, 'request.opened'))
      const answer = { kind: 'deny' as const, reason: 'not today' }
      await call('answerRequest', { id: request.id, digest: request.digest, answer })
      await recorder.waitFor(isEvent(session.id, 'command.done'))
      const log = await sessionLog(call, recorder, session.id)
      const deliveries = log.map(event => event.type).filter(type => /^request.(handed|unknown|taken)$/.test(type))
      expect(deliveries).toEqual(['request.handed', 'request.unknown', 'request.handed', 'request.taken'])
      expect(log.findLast(isEvent(session.id, 'message.added'))?.text).toBe('Not written: not today')
    }),
  )
})

/** Repeats a test, each time with a new gateway, and checks its store afterwards. */
async function repeatWithGateway(
  env: Record<string, string>,
  run: (gateway: GatewayProcess, recorder: EventRecorder) => Promise<void>,
): Promise<void> {
  for (const rounds = startRounds(0); rounds.next(); ) {
    const gateway = new GatewayProcess({ config: withWorker })
    await gateway.start(env)
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    await withTimeout(run(gateway, recorder))
    await recorder.close()
    await gateway.stop()
    await checkSqlite(gateway.home.databaseFile)
    await gateway.close()
  }
}
