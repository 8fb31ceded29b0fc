import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpCall, type SocketConstructor, socketCall } from '@holdpoint/client'
import { generatorDriver, runRunner } from '@holdpoint/drivers'
import { openGateway } from '@holdpoint/engine'
import { formatId } from '@holdpoint/protocol'
import { createServer } from '@holdpoint/server'
import { openSqlite } from '@holdpoint/store'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import worker from '../support/agents/worker.mjs'
import { EventRecorder, isEvent } from '../support/event-recorder.ts'
import { shortPause } from '../support/gateway.ts'
import { gatewayPoints, runnerPoints } from './crash-points.ts'

const secrets = { person: 'a-secret-of-the-person', runner: 'a-secret-of-the-runner' } as const

/** Records crash points. If a point is passed several times, each name gets a number, as in the list. */
function pointRecorder() {
  const passed = new Map<string, number>()
  return {
    crashPoint: (point: string) => void passed.set(point, (passed.get(point) ?? 0) + 1),
    clear: () => passed.clear(),
    names: () =>
      [...passed].flatMap(([point, times]) =>
        times === 1 ? [point] : Array.from({ length: times }, (_, index) => `${point}#${index + 1}`),
      ),
  }
}

it('a run without a crash passes exactly the listed crash points', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-points-'))
  const passed = pointRecorder()
  const runner = pointRecorder()
  const store = await openSqlite({ file: join(folder, 'holdpoint.db'), crashPoint: passed.crashPoint })
  const gateway = await openGateway({ store })
  const id = formatId('run', Buffer.alloc(20, 7))
  await gateway.ensureToken(secrets.person, 'owner', 'owner')
  await gateway.ensureToken(secrets.runner, 'runner', 'runner', id)
  const { url, close } = await createServer({ gateway, crashPoint: passed.crashPoint }).listen({ port: 0 })
  const socket = socketCall({ url, token: secrets.runner, WebSocket: WebSocket as unknown as SocketConstructor }) // the class of ws has the same methods, but its types differ
  const stop = new AbortController()
  const running = runRunner({
    call: socket.call,
    id,
    name: 'test',
    drivers: [generatorDriver(worker)],
    signal: stop.signal,
    crashPoint: runner.crashPoint,
  })
  const recorder = await EventRecorder.connect(url, secrets.person)
  const call = httpCall({ url, token: secrets.person })
  try {
    while ((await call('listRunners', {})).items.length === 0) await shortPause()
    // The first run also loads the rules and therefore passes one point twice, so only the second run counts.
    for (const prompt of ['a line', 'another line']) {
      passed.clear()
      runner.clear()
      const options = { file: join(folder, 'lines') }
      const session = await call('startSession', { driver: 'worker', prompt, options })
      const { value: request } = await recorder.waitFor(isEvent(session.id, 'request.opened'))
      await call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
      await recorder.waitFor(isEvent(session.id, 'command.done'))
      // Replies on one socket arrive in order, so after this reply the reply to finishCommand has arrived too.
      await socket.call('whoAmI', {})
    }
    const gatewayNames = passed.names().filter(point => !/whoAmI|listRunners|announce|tokenUse/.test(point))
    expect(gatewayNames.sort()).toEqual([...gatewayPoints].sort())
    expect(runner.names().sort()).toEqual([...runnerPoints].sort())
  } finally {
    await recorder.close()
    stop.abort()
    await running
    socket.close()
    await close()
    await gateway.close()
    await store.close()
    rmSync(folder, { recursive: true })
  }
})
