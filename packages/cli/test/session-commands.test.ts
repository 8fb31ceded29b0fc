import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Command, type Event, Session } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { within } from '../../../test/support/event-recorder.ts'
import { closeGateways, type GatewayProcess, glance, holdpoint, startGateway } from '../../../test/support/gateway.ts'
import { bash, environmentFor, runCli, runCliAgainst } from './support/cli-process.ts'
import { rehearse, waitForLastMessage, waitForPending } from './support/gateway-fixture.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'inline' })
  while (!(await gateway.call('listRunners', {})).items.some(({ live }) => live)) await glance()
})
afterAll(closeGateways)
const hp = (...words: string[]) => runCliAgainst(gateway, words)
const json = async (...words: string[]) => JSON.parse((await hp(...words, '--json')).out)

describe('a session', () => {
  it('is started, in this folder, and named by its first words', async () => {
    const session = Session.parse(await json('start', 'rehearsal', 'short', 'please'))
    expect(session).toMatchObject({ driver: 'rehearsal', title: 'short please', cwd: gateway.folder })
    await waitForPending(gateway, session)
    const { code, out } = await hp('start', 'rehearsal', '--title', 'Mine', '--mode', 'acceptEdits', '--cwd', '/tmp')
    expect([code, out]).toEqual([0, expect.stringMatching(/^ses_\w+ has started\. {2}“Mine”\n/)])
    const unknown = await hp('start', 'nobody', 'hello')
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringMatching(/No runner offers the driver "nobody"/)])
  })

  it('is told what a person says, from words, from stdin, with a file', async () => {
    const { session, request } = await rehearse(gateway, 'approval')
    await hp('deny', request.id)
    await waitForLastMessage(gateway, session)
    expect((await hp('send', session.id.slice(4, 12), 'good', 'evening')).out).toMatch(
      /^Sent to ses_\w+\. {2}“approval”\n$/,
    )
    const echoed = await waitForPending(gateway, session)
    expect((await gateway.call('getSession', { id: session.id })).lastMessage).toContain('“good evening”')
    await hp('answer', echoed.id, '--choose', '2')
    await waitForLastMessage(gateway, session)
    const image = join(gateway.folder, 'dot.png')
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    writeFileSync(image, Buffer.from(png, 'base64'))
    const said = await runCliAgainst(gateway, ['send', session.id, '-', '--attach', image, '--json'], 'from a pipe')
    expect(Command.parse(JSON.parse(said.out)).body).toEqual({
      kind: 'message',
      text: 'from a pipe',
      attachments: [{ type: 'image', mediaType: 'image/png', data: png, name: 'dot.png' }],
    })
    expect((await runCliAgainst(gateway, ['send', session.id, '-'], '\n')).code).toBe(2)
    expect((await hp('send', session.id, 'look', '--attach', join(gateway.folder, 'none.png'))).code).toBe(2)
    expect((await hp('send', session.id)).code).toBe(2)
  })

  it('is interrupted, changed and ended', async () => {
    const { session, request } = await rehearse(gateway, 'approval')
    expect((await hp('mode', session.id, 'acceptEdits')).out).toMatch(
      /^ses_\w+ is told to work in mode acceptEdits\. {2}“approval”/,
    )
    expect(await json('mode', session.id, 'default')).toMatchObject({ id: session.id, mode: 'default' })
    const strange = await hp('mode', session.id, 'wild')
    expect([strange.code, strange.err]).toEqual([2, expect.stringMatching(/there is default, acceptEdits/)])
    expect(await json('interrupt', session.id.slice(0, 12))).toMatchObject({ id: session.id, pending: 0 })
    expect((await hp('allow', request.id)).err).toMatch(/cancelled: turn interrupted/)
    expect((await hp('end', session.id)).out).toMatch(/^ses_\w+ has ended\. {2}“approval”/)
    expect(await json('end', session.id.slice(0, 12)), 'again is no error').toMatchObject({ state: 'ended' })
    expect((await hp('interrupt', session.id)).code).toBe(1)
  })
})

describe('holdpoint watch', () => {
  it('prints each event as a line of JSON, of one session where that is asked for, and goes on behind a cursor', async () => {
    const { session, request } = await rehearse(gateway, 'approval')
    const words = [holdpoint, 'watch', '--json', '--session', session.id.slice(0, 14)]
    const child = spawn(process.execPath, words, { env: environmentFor(gateway), stdio: ['ignore', 'pipe', 'inherit'] })
    const seen: Event[] = []
    const lines = createInterface(child.stdout)
    // Others are at work, too; nothing is told before the stream has begun, so something is done until it is.
    const nudge = () => setInterval(() => void gateway.call('patchSession', { id: session.id, title: 'nudged' }), 100)
    let nudging = nudge()
    for await (const line of lines) {
      if (seen.push(JSON.parse(line)) === 1) {
        clearInterval(nudging)
        await hp('deny', request.id, '--reason', 'no')
      }
      if (seen.at(-1)?.type === 'turn.finished') break
    }
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(seen.map(event => event.session)).toEqual(seen.map(() => session.id))
    const resolved = seen.find(event => event.type === 'request.resolved')
    expect(resolved).toMatchObject({ request: request.id, resolution: { answer: { kind: 'deny', reason: 'no' } } })
    // It learns that nobody reads any more when it has something to say.
    nudging = nudge()
    // Of this session alone: what the others still do may fall right behind that event.
    const after = `--session ${session.id} --after ${seen[0]?.cursor}`
    const again = await bash(gateway, `holdpoint watch --json ${after} | head -1`)
    clearInterval(nudging)
    expect(JSON.parse(again.out), 'a reader that has seen enough ends it').toEqual(seen[1])
  })

  it('tells people in words, and goes on when the gateway is back at another address', async () => {
    const own = await startGateway({ runner: 'none' })
    const child = spawn(process.execPath, [holdpoint, 'watch'], {
      env: environmentFor(own),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = { out: '', err: '' }
    child.stdout.on('data', chunk => {
      said.out += chunk
    })
    child.stderr.on('data', chunk => {
      said.err += chunk
    })
    const tells = async (what: RegExp, where: keyof typeof said = 'out') => {
      while (!what.test(said[where])) await glance()
    }
    const nudging = setInterval(() => void own.call('startSession', { driver: 'external', title: 'nudge' }), 100)
    await within(tells(/nudge {2}opened ses_/))
    clearInterval(nudging)
    await own.kill()
    await within(tells(/^The gateway is away; it is looked for\.\n$/, 'err'))
    own.forgetPort()
    await own.start()
    await within(tells(/away.*\nThe gateway is back\.\n$/, 'err'))
    const { id } = await own.call('startSession', { driver: 'external', title: 'after' })
    const ask = {
      kind: 'approval' as const,
      tool: 'Bash',
      input: { command: 'a\nb\u001b[2J' },
      title: 't',
      cwd: '/',
      editable: false,
    }
    await own.call('openRequest', { id, key: 'k', ask })
    await within(tells(/after {2}asks req_\w+: Run a command {2}a ↵ b\\u\{1b\}\[2J\n/))
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('refuses what is no cursor', async () => {
    expect((await hp('watch', '--after', 'yesterday')).code).toBe(2)
  })
})

it('a gateway that does not answer at its address is none: exit code 5', async () => {
  const env = { ...environmentFor(gateway), HOLDPOINT_URL: 'http://127.0.0.1:1' }
  const { code, err } = await runCli(['inbox'], { env })
  expect([code, err]).toEqual([5, expect.stringMatching(/Cannot reach.*holdpoint up/)])
})

it('what cannot be written is told on stderr: exit code 1; a reader that has seen enough is no error', async () => {
  for (const words of ['sessions --all', 'sessions --all --json', '--help']) {
    const { code, err } = await bash(gateway, `holdpoint ${words} > /dev/full`)
    expect([words, code, err]).toEqual([words, 1, expect.stringMatching(/^holdpoint: Not all .*ENOSPC.*\n$/)])
  }
  expect(await bash(gateway, 'set -o pipefail; holdpoint --help | true')).toEqual({ code: 0, out: '', err: '' })
})
