import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { watchEvents } from '@holdpoint/client'
import type { Frame } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import { checkSqlite } from '../../../test/support/store-check.ts'
import { runCli } from './support/cli-process.ts'

afterEach(closeGateways)

async function helloAfter(gateway: GatewayProcess, after: string) {
  for await (const frame of watchEvents({ url: gateway.url, token: gateway.token }, { after }))
    if (frame.frame === 'hello') return frame.hello
  throw new Error('a stream begins with hello')
}
async function cursorOf(gateway: GatewayProcess): Promise<string> {
  const first: AsyncIterable<Frame> = watchEvents({ url: gateway.url, token: gateway.token })
  for await (const frame of first) if (frame.frame === 'hello') return frame.hello.cursor
  throw new Error('a stream begins with hello')
}
const start = (gateway: GatewayProcess, title: string) => gateway.call('startSession', { driver: 'external', title })
const titles = async (gateway: GatewayProcess) =>
  (await gateway.call('listSessions', {})).items.map(session => session.title)

describe('holdpoint backup and restore', () => {
  it('backup copies the database of a running gateway; restore undoes later changes, and clients are notified of the gap', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const home = ['--home', gateway.home.path]
    const file = join(gateway.folder, 'copy.db')
    await start(gateway, 'kept')
    const early = await cursorOf(gateway)
    const busy = Promise.all(Array.from({ length: 40 }, (_, n) => start(gateway, `meanwhile ${n}`)))
    expect(await runCli(['backup', file, ...home])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/Backed up to .*copy\.db \(\d+ bytes\) while the gateway was running/),
    })
    await busy
    expect(statSync(file).mode & 0o077).toBe(0)
    await start(gateway, 'lost')
    const late = await cursorOf(gateway)

    expect(await runCli(['restore', file, ...home])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/holdpoint down/),
    })
    await gateway.stop()
    const restored = await runCli(['restore', file, ...home])
    expect(restored).toMatchObject({ code: 0, out: expect.stringMatching(/previous database is kept as/) })
    await gateway.start()
    await start(gateway, 'after')
    expect(await titles(gateway)).toEqual(expect.arrayContaining(['kept', 'after']))
    expect(await titles(gateway)).not.toContain('lost')
    expect(await helloAfter(gateway, late), 'a cursor after the backup').toMatchObject({ resume: 'gap' })
    expect(await helloAfter(gateway, early), 'a cursor before the backup').toMatchObject({ resume: 'ok' })
    await gateway.stop()
    await checkSqlite(gateway.home.databaseFile)
  })

  it('backup copies the database of a stopped gateway', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await start(gateway, 'kept')
    await gateway.stop()
    const file = join(gateway.folder, 'copy.db')
    expect(await runCli(['backup', file, '--home', gateway.home.path])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/bytes/),
    })
    await checkSqlite(file)
  })

  it('backup refuses to overwrite an existing file', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const file = join(gateway.folder, 'holdpoint.config.json')
    const { code, err } = await runCli(['backup', file, '--home', gateway.home.path])
    expect([code, err]).toEqual([2, expect.stringMatching(/already exists/)])
  })

  it('restore refuses a file that is not a backup, and keeps the current database', async () => {
    const gateway = await startGateway({ runner: 'none' })
    await start(gateway, 'kept')
    await gateway.stop()
    for (const file of ['holdpoint.config.json', 'nothing.db']) {
      const { code, err } = await runCli(['restore', join(gateway.folder, file), '--home', gateway.home.path])
      expect(code).not.toBe(0)
      expect(err).toMatch(/^holdpoint: /)
    }
    expect(existsSync(gateway.home.databaseFile)).toBe(true)
    await gateway.start()
    expect(await titles(gateway)).toEqual(['kept'])
  })
})
