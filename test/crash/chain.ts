/** A gateway that dies at one point after another and is brought back each time: the next one finishes what was under way, then dies at its own point. */
import { join } from 'node:path'
import type { Session } from '@holdpoint/protocol'
import { expect } from 'vitest'
import { told, Witness, within } from '../support/event-recorder.ts'
import { agentsFolder, GatewayProcess } from '../support/gateway.ts'
import { checkSqlite } from '../support/store-fixture.ts'
import { type GatewayPoint, gatewayPoints, numberOf } from './points.ts'
import { isParked, judge, type Story } from './verdict.ts'

export const withWorker = { agents: { worker: join(agentsFolder, 'worker.mjs') } }

/** Where the start of a session itself is repeated: the next gateway sees it twice before its own. */
const startPoints: readonly GatewayPoint[] = gatewayPoints.slice(0, 5)

/** Counted from the start of its own session on: what it finishes for the one before it does not count. */
function armed(point: GatewayPoint | undefined, before: GatewayPoint | undefined): Record<string, string> {
  if (!point) return {}
  const nth = before && startPoints.includes(before) ? 2 : 1
  const at = point === 'begun:start' ? `begun:start#${nth}` : `begun:start#${nth},${point}`
  return { HOLDPOINT_CRASH_AT: at }
}

export interface ChainResult {
  readonly trials: number
  readonly unknown: GatewayPoint[]
}

export async function runChain(victims: 'gateway' | 'both', points: readonly GatewayPoint[]): Promise<ChainResult> {
  const gateway = new GatewayProcess({ config: withWorker })
  await gateway.start(armed(points[0], undefined))
  const runnerPid = await gateway.runnerBegun()
  const witness = await Witness.over(gateway.url, gateway.token)
  const unknown: GatewayPoint[] = []
  for (const [index, point] of points.entries()) {
    const crashed = gateway.gone.then(async exit => {
      expect(exit.signal, `the gateway dies at ${point}`).toBe('SIGKILL')
      if (victims === 'both') await gateway.killRunner()
      await gateway.start(armed(points[index + 1], point))
    })
    crashed.catch(() => {}) // awaited below
    try {
      const story = await within(tell(gateway, witness, `line ${index}`))
      await within(crashed)
      const outcome = await judge(gateway.call, witness, story)
      if (outcome === 'unknown') unknown.push(point)
      if (victims === 'gateway') {
        expect(outcome, 'a live agent notices nothing').toBe('taken')
        expect(witness.of(story.session).some(isParked), 'nor does its session').toBe(false)
      }
      await within(endOf(gateway, witness, story.session))
    } catch (error) {
      throw new Error(`at point ${numberOf(point)}, ${point}, ${victims} killed`, { cause: error })
    }
  }
  if (victims === 'gateway') {
    expect(gateway.runnerPid(), 'the runner lives on').toBe(runnerPid)
    expect((await gateway.call('listRunners', {})).items.map(runner => runner.incarnation)).toEqual([1])
  }
  await witness.close()
  await gateway.stop()
  await checkSqlite(gateway.home.databaseFile)
  await gateway.close()
  return { trials: points.length, unknown }
}

/** One session from start to the end of its turn, with one allowed line, whatever dies meanwhile. */
export async function tell(
  gateway: GatewayProcess,
  witness: Witness,
  prompt: string,
  crashIn?: string,
): Promise<Story> {
  const file = join(gateway.folder, 'lines')
  const options = { file, ...(crashIn ? { crashIn } : {}) }
  const session = await gateway.call('startSession', { driver: 'worker', prompt, options })
  const { value: request } = await witness.seen(told(session.id, 'request.opened'))
  const answer = { kind: 'allow' as const }
  const answered = await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer })
  await witness.seen(told(session.id, 'command.done'))
  return { session: session.id, line: `${prompt}.1`, file, answered }
}

/** Where a runner has it, that has let go of it: nothing of it comes between the points of the next. */
export async function endOf(gateway: GatewayProcess, witness: Witness, session: Session['id']): Promise<void> {
  const from = witness.events.length
  await gateway.call('endSession', { id: session })
  await witness.seen(told(session, 'session.ended'), from)
  const asked = witness.events.slice(from).some(told(session, 'command.added'))
  if (asked) await witness.seen(told(session, 'command.done'), from)
}
