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
import { told, Witness } from '../support/event-recorder.ts'
import { glance } from '../support/gateway.ts'
import { gatewayPoints, runnerPoints } from './points.ts'

const secrets = { person: 'a-secret-of-the-person', runner: 'a-secret-of-the-runner' } as const

/** As they are passed: a point that is passed again bears its number, as in the list. */
function recorder() {
  const passed = new Map<string, number>()
  return {
    crashPoint: (point: string) => void passed.set(point, (passed.get(point) ?? 0) + 1),
    forget: () => passed.clear(),
    spelled: () =>
      [...passed].flatMap(([point, times]) =>
        times === 1 ? [point] : Array.from({ length: times }, (_, index) => `${point}#${index + 1}`),
      ),
  }
}

it('a run without a crash passes exactly the points of the list', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-points-'))
  const passed = recorder()
  const runner = recorder()
  const store = await openSqlite({ file: join(folder, 'archive.db'), crashPoint: passed.crashPoint })
  const gateway = await openGateway({ store })
  for (const role of ['person', 'runner'] as const) await gateway.ensureToken(secrets[role], role, role)
  const { url, close } = await createServer({ gateway, crashPoint: passed.crashPoint }).listen({ port: 0 })
  const line = socketCall({ url, token: secrets.runner, WebSocket: WebSocket as unknown as SocketConstructor }) // the shape is the same, the types are not
  const stop = new AbortController()
  const running = runRunner({
    call: line.call,
    id: formatId('run', Buffer.alloc(20, 7)),
    name: 'here',
    drivers: [generatorDriver(worker)],
    signal: stop.signal,
    crashPoint: runner.crashPoint,
  })
  const witness = await Witness.over(url, secrets.person)
  const call = httpCall({ url, token: secrets.person })
  try {
    while ((await call('listRunners', {})).items.length === 0) await glance()
    // The first run reads the rules, and is allowed to pass a point once more for that.
    for (const prompt of ['a line', 'another line']) {
      passed.forget()
      runner.forget()
      const options = { file: join(folder, 'lines') }
      const session = await call('startSession', { driver: 'worker', prompt, options })
      const { value: request } = await witness.seen(told(session.id, 'request.opened'))
      await call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
      await witness.seen(told(session.id, 'command.done'))
      // Its reply comes behind that of the command, on the runner's own line.
      await line.call('whoAmI', {})
    }
    const heard = passed.spelled().filter(point => !/whoAmI|listRunners|announce/.test(point))
    expect(heard.sort()).toEqual([...gatewayPoints].sort())
    expect(runner.spelled().sort()).toEqual([...runnerPoints].sort())
  } finally {
    await witness.close()
    stop.abort()
    await running
    line.close()
    await close()
    await gateway.close()
    await store.close()
    rmSync(folder, { recursive: true })
  }
})
