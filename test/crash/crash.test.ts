import { afterAll, describe, expect, it } from 'vitest'
import { checkSqlite } from '../support/archive.ts'
import { closeGateways, GatewayProcess } from '../support/gateway.ts'
import { budget } from '../support/rounds.ts'
import { told, Witness } from '../support/witness.ts'
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

  it.each(runnerPoints)('of the runner at %s: the next one goes on', { timeout: 60_000 }, async point => {
    const { gateway, witness } = await open({ HOLDPOINT_RUNNER_CRASH_AT: point })
    const outcome = await judge(gateway.call, witness, await tell(gateway, witness, 'a line'))
    expect(outcome).toBe(['runner:handed', 'runner:given'].includes(point) ? 'unknown' : 'taken')
    expect((await gateway.call('listRunners', {})).items.map(runner => runner.incarnation)).toEqual([2])
    await finish(gateway, witness)
  })

  it.each(['writing', 'written'])('of the runner inside the action (%s): it is not run again', async place => {
    const { gateway, witness } = await open()
    const story = await tell(gateway, witness, 'a line', place)
    expect(await judge(gateway.call, witness, story)).toBe('taken')
    expect(timesWritten(story)).toBe(place === 'written' ? 1 : 0)
    await finish(gateway, witness)
  })

  it.each(['runner:handed', 'runner:given'])('of the runner at %s: a deny may be handed again', async point => {
    const { gateway, witness } = await open({ HOLDPOINT_RUNNER_CRASH_AT: point })
    const session = await gateway.call('startSession', { driver: 'worker', prompt: 'a line' })
    const { value: request } = await witness.seen(told(session.id, 'request.opened'))
    const answer = { kind: 'deny' as const, reason: 'not today' }
    await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer })
    await witness.seen(told(session.id, 'command.done'))
    const log = await logOf(gateway.call, witness, session.id)
    const deliveries = log.map(event => event.type).filter(type => /^request.(handed|unknown|taken)$/.test(type))
    expect(deliveries).toEqual(['request.handed', 'request.unknown', 'request.handed', 'request.taken'])
    expect(log.findLast(told(session.id, 'message.added'))?.text).toBe('Not written: not today')
    await finish(gateway, witness)
  })
})

async function open(env: Record<string, string> = {}) {
  const gateway = new GatewayProcess({ config: withWorker })
  await gateway.start(env)
  return { gateway, witness: await Witness.over(gateway.url, gateway.token) }
}

async function finish(gateway: GatewayProcess, witness: Witness): Promise<void> {
  await witness.close()
  await gateway.stop()
  await checkSqlite(gateway.home.archive)
  await gateway.close()
}
