/** Kills the gateway at one crash point after another. After each restart the current session finishes, then a new session reaches the next crash point. */
import { join } from 'node:path'
import type { Session } from '@holdpoint/protocol'
import { expect } from 'vitest'
import { EventRecorder, isEvent, withTimeout } from '../support/event-recorder.ts'
import { agentsFolder, GatewayProcess } from '../support/gateway.ts'
import { checkSqlite } from '../support/store-check.ts'
import { type GatewayPoint, gatewayPoints, numberOf } from './crash-points.ts'
import { checkDelivery, isParked, type WrittenLine } from './delivery-check.ts'

export const withWorker = { agents: { worker: join(agentsFolder, 'worker.mjs') } }

/** A crash at these points makes the client repeat startSession, so the restarted gateway passes `begun:start` once more. */
const startPoints: readonly GatewayPoint[] = gatewayPoints.slice(0, 5)

/** Returns the environment that arms the crash point. The point takes effect only once the new session starts, not while the previous session finishes. */
function crashEnvironment(point: GatewayPoint | undefined, before: GatewayPoint | undefined): Record<string, string> {
  if (!point) return {}
  const nth = before && startPoints.includes(before) ? 2 : 1
  const crashAt = point === 'begun:start' ? `begun:start#${nth}` : `begun:start#${nth},${point}`
  return { HOLDPOINT_CRASH_AT: crashAt }
}

export interface CrashSequenceResult {
  readonly trials: number
  readonly unknown: GatewayPoint[]
}

export async function runCrashSequence(
  victims: 'gateway' | 'both',
  points: readonly GatewayPoint[],
): Promise<CrashSequenceResult> {
  const gateway = new GatewayProcess({ config: withWorker })
  await gateway.start(crashEnvironment(points[0], undefined))
  const runnerPid = await gateway.runnerStarted()
  const recorder = await EventRecorder.connect(gateway.url, gateway.token)
  const unknown: GatewayPoint[] = []
  for (const [index, point] of points.entries()) {
    const crashed = gateway.exited.then(async exit => {
      expect(exit.signal, `the gateway is killed at ${point}`).toBe('SIGKILL')
      if (victims === 'both') await gateway.killRunner()
      await gateway.start(crashEnvironment(points[index + 1], point))
    })
    crashed.catch(() => {}) // the promise is awaited below
    try {
      const written = await withTimeout(writeOneLine(gateway, recorder, `line ${index}`))
      await withTimeout(crashed)
      const outcome = await checkDelivery(gateway.call, recorder, written)
      if (outcome === 'unknown') unknown.push(point)
      if (victims === 'gateway') {
        expect(outcome, 'a running agent is not affected').toBe('taken')
        expect(recorder.eventsOf(written.session).some(isParked), 'its session is not parked').toBe(false)
      }
      await withTimeout(endSession(gateway, recorder, written.session))
    } catch (error) {
      throw new Error(`killed (${victims}) at crash point ${numberOf(point)}, ${point}`, { cause: error })
    }
  }
  if (victims === 'gateway') {
    expect(gateway.runnerPid(), 'the runner keeps running').toBe(runnerPid)
    expect((await gateway.call('listRunners', {})).items.map(runner => runner.incarnation)).toEqual([1])
  }
  await recorder.close()
  await gateway.stop()
  await checkSqlite(gateway.home.databaseFile)
  await gateway.close()
  return { trials: points.length, unknown }
}

/** Runs one session whose agent asks to write one line and is allowed to, while processes are killed. */
export async function writeOneLine(
  gateway: GatewayProcess,
  recorder: EventRecorder,
  prompt: string,
  crashIn?: string,
): Promise<WrittenLine> {
  const file = join(gateway.folder, 'lines')
  const options = { file, ...(crashIn ? { crashIn } : {}) }
  const session = await gateway.call('startSession', { driver: 'worker', prompt, options })
  const { value: request } = await recorder.waitFor(isEvent(session.id, 'request.opened'))
  const answer = { kind: 'allow' as const }
  const answered = await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer })
  await recorder.waitFor(isEvent(session.id, 'command.done'))
  return { session: session.id, line: `${prompt}.1`, file, answered }
}

/** Ends the session and waits until its runner has detached it, so that its end does not trigger crash points that are meant for the next session. */
export async function endSession(
  gateway: GatewayProcess,
  recorder: EventRecorder,
  session: Session['id'],
): Promise<void> {
  const from = recorder.events.length
  await gateway.call('endSession', { id: session })
  await recorder.waitFor(isEvent(session, 'session.ended'), from)
  const hasRunner = recorder.events.slice(from).some(isEvent(session, 'command.added'))
  if (hasRunner) await recorder.waitFor(isEvent(session, 'command.done'), from)
}
