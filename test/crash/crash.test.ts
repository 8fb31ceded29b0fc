import { afterAll, describe, expect, it } from 'vitest'
import { told, Witness, within } from '../support/event-recorder.ts'
import { closeGateways, GatewayProcess } from '../support/gateway.ts'
import { budget } from '../support/rounds.ts'
import { checkSqlite } from '../support/store-fixture.ts'
import { runChain, tell, withWorker } from './chain.ts'
import { type GatewayPoint, gatewayPoints, runnerPoints } from './points.ts'
import { judge, logOf, timesWritten } from './verdict.ts'

afterAll(closeGateways)

/** Two chains at a time: one waits while the other computes. */
async function everyPoint(victims: 'gateway' | 'both', ms: number): Promise<GatewayPoint[]> {
  const rounds = budget(ms)
  const unknown = new Set<GatewayPoint>()
  while (rounds.next()) {
    const halves = [0, 1].map(half => gatewayPoints.filter((_, index) => index % 2 === half))
    for (const result of await Promise.all(halves.map(points => runChain(victims, points))))
      for (const point of result.unknown) unknown.add(point)
  }
  return gatewayPoints.filter(point => unknown.has(point))
}

describe('kill -9 at every numbered point', () => {
  it('of the gateway alone: a live agent notices nothing, and no answer is lost', { timeout: 600_000 }, async () => {
    expect(await everyPoint('gateway', 0)).toEqual([])
  })

  it('of gateway and runner: unknown exactly where the allow was in hand', { timeout: 600_000 }, async () => {
    const inHand: GatewayPoint[] = ['committed:handed', 'replying:reportDelivery#1', 'begun:taken', 'decided:taken']
    expect(await everyPoint('both', 0)).toEqual([...inHand, 'written:taken'])
  })

  it.each(runnerPoints)('of the runner at %s: the next one goes on', { timeout: 600_000 }, point =>
    again({ HOLDPOINT_RUNNER_CRASH_AT: point }, async (gateway, witness) => {
      const outcome = await judge(gateway.call, witness, await tell(gateway, witness, 'a line'))
      expect(outcome).toBe(['runner:handed', 'runner:given'].includes(point) ? 'unknown' : 'taken')
      expect((await gateway.call('listRunners', {})).items.map(runner => runner.incarnation)).toEqual([2])
    }),
  )

  it.each(['writing', 'written'])('of the runner inside the action (%s): not run again', { timeout: 600_000 }, place =>
    again({}, async (gateway, witness) => {
      const story = await tell(gateway, witness, 'a line', place)
      expect(await judge(gateway.call, witness, story)).toBe('taken')
      expect(timesWritten(story)).toBe(place === 'written' ? 1 : 0)
    }),
  )

  const inHand = ['runner:handed', 'runner:given']
  it.each(inHand)('of the runner at %s: a deny may be handed again', { timeout: 600_000 }, point =>
    again({ HOLDPOINT_RUNNER_CRASH_AT: point }, async ({ call }, witness) => {
      const session = await call('startSession', { driver: 'worker', prompt: 'a line' })
      const { value: request } = await witness.seen(told(session.id, 'request.opened'))
      const answer = { kind: 'deny' as const, reason: 'not today' }
      await call('answerRequest', { id: request.id, digest: request.digest, answer })
      await witness.seen(told(session.id, 'command.done'))
      const log = await logOf(call, witness, session.id)
      const deliveries = log.map(event => event.type).filter(type => /^request.(handed|unknown|taken)$/.test(type))
      expect(deliveries).toEqual(['request.handed', 'request.unknown', 'request.handed', 'request.taken'])
      expect(log.findLast(told(session.id, 'message.added'))?.text).toBe('Not written: not today')
    }),
  )
})

/** As many rounds as were asked for, each with a gateway of its own, whose archive is in order afterwards. */
async function again(
  env: Record<string, string>,
  act: (gateway: GatewayProcess, witness: Witness) => Promise<void>,
): Promise<void> {
  for (const rounds = budget(0); rounds.next(); ) {
    const gateway = new GatewayProcess({ config: withWorker })
    await gateway.start(env)
    const witness = await Witness.over(gateway.url, gateway.token)
    await within(act(gateway, witness))
    await witness.close()
    await gateway.stop()
    await checkSqlite(gateway.home.databaseFile)
    await gateway.close()
  }
}
