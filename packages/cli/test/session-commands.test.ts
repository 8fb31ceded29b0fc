import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Command, downloadAttachment, type Event, Session } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withTimeout } from '../../../test/support/event-recorder.ts'
import {
  closeGateways,
  type GatewayProcess,
  holdpoint,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { bash, environmentFor, runCli, runCliAgainst } from './support/cli-process.ts'
import { rehearse, waitForLastMessage, waitForPending } from './support/gateway-fixture.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'inline' })
  while (!(await gateway.call('listRunners', {})).items.some(({ live }) => live)) await shortPause()
})
afterAll(closeGateways)
const cli = (...words: string[]) => runCliAgainst(gateway, words)
const json = async (...words: string[]) => JSON.parse((await cli(...words, '--json')).out)

/** Makes a call that causes an event. Ignores an error, because the gateway may have stopped, which these tests do not check. */
function nudge(call: Promise<unknown>): void {
  call.catch(() => {})
}

describe('commands for sessions', () => {
  it('holdpoint start opens a session in this folder with the prompt as its title', async () => {
    const session = Session.parse(await json('start', 'rehearsal', 'short', 'please'))
    expect(session).toMatchObject({ driver: 'rehearsal', title: 'short please', cwd: gateway.folder })
    await waitForPending(gateway, session)
    const { code, out } = await cli('start', 'rehearsal', '--title', 'Mine', '--mode', 'acceptEdits', '--cwd', '/tmp')
    expect([code, out]).toEqual([0, expect.stringMatching(/^ses_\w+ has started\. {2}“Mine”\n/)])
    expect(out).toMatch(/It is waiting for a message: holdpoint send ses_/)
  })

  it.each([
    [
      'an unknown agent',
      ['nobody', 'hello'],
      /No runner offers the driver "nobody".*holdpoint down, then holdpoint up/,
    ],
    [
      'a mode that the agent does not have',
      ['rehearsal', '--mode', 'wild'],
      /"wild" is not a mode.*Available: default, /,
    ],
    ['a folder that does not exist', ['rehearsal', '--cwd', '/none/here'], /The folder \/none\/here does not exist/],
    ['a file as folder', ['rehearsal', '--cwd', '/etc/passwd'], /\/etc\/passwd is not a folder/],
    ['an external agent', ['external', 'hi'], /External agents open their own sessions/],
  ] as const)('holdpoint start refuses %s with exit code 2, and opens no session', async (_what, words, message) => {
    const before = (await gateway.call('listSessions', {})).items.length
    const { code, err } = await cli('start', ...words)
    expect([code, err]).toEqual([2, expect.stringMatching(message)])
    expect((await gateway.call('listSessions', {})).items.length).toBe(before)
  })

  it('holdpoint mode and holdpoint model refuse a session of an external agent, whose mode and model Holdpoint cannot change', async () => {
    const { id } = await gateway.call('startSession', { driver: 'external', title: 'no modes' })
    expect(await cli('mode', id, 'plan')).toMatchObject({
      code: 2,
      err: expect.stringContaining('external has no modes'),
    })
    expect(await cli('model', id, 'small')).toMatchObject({
      code: 2,
      err: expect.stringContaining('chooses its model itself'),
    })
    expect((await gateway.call('getSession', { id })).model).toBeNull()
  })

  it('holdpoint send delivers its arguments, stdin and an attachment', async () => {
    const { session, request } = await rehearse(gateway, 'approval')
    await cli('deny', request.id)
    await waitForLastMessage(gateway, session)
    expect((await cli('send', session.id.slice(4, 12), 'good', 'evening')).out).toMatch(
      /^Sent to ses_\w+\. {2}“approval”\n$/,
    )
    const echoed = await waitForPending(gateway, session)
    expect((await gateway.call('getSession', { id: session.id })).lastMessage).toContain('“good evening”')
    await cli('answer', echoed.id, '--choose', '2')
    await waitForLastMessage(gateway, session)
    const image = join(gateway.folder, 'dot.png')
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    writeFileSync(image, Buffer.from(png, 'base64'))
    const sent = await runCliAgainst(gateway, ['send', session.id, '-', '--attach', image, '--json'], 'from a pipe')
    const { body } = Command.parse(JSON.parse(sent.out))
    const [attachment] = body.kind === 'message' ? (body.attachments ?? []) : []
    expect(body).toMatchObject({ text: 'from a pipe', attachments: [{ type: 'image', mediaType: 'image/png' }] })
    expect(attachment).toMatchObject({ name: 'dot.png', bytes: 70 })
    expect(attachment && (await downloadAttachment(gateway.call, attachment))).toBe(png)
    expect((await runCliAgainst(gateway, ['send', session.id, '-'], '\n')).code).toBe(2)
    expect((await cli('send', session.id, 'look', '--attach', join(gateway.folder, 'none.png'))).code).toBe(2)
    expect((await cli('send', session.id)).code).toBe(2)
  })

  it('holdpoint mode, model, interrupt and end change a session and print a confirmation', async () => {
    const { session, request } = await rehearse(gateway, 'approval')
    expect((await cli('mode', session.id, 'acceptEdits')).out).toMatch(
      /^Asked the agent of ses_\w+ to change to the mode acceptEdits\. {2}“approval”\n$/,
    )
    expect((await cli('model', session.id, 'small')).out).toMatch(
      /^Asked the agent of ses_\w+ to use the model small\. {2}“approval”\n$/,
    )
    expect(await json('model', session.id, 'large')).toMatchObject({ id: session.id, model: 'large' })
    expect(await json('mode', session.id, 'default')).toMatchObject({ id: session.id, mode: 'default' })
    const strange = await cli('mode', session.id, 'wild')
    expect([strange.code, strange.err]).toEqual([2, expect.stringMatching(/Available: default, acceptEdits/)])
    expect(await json('interrupt', session.id.slice(0, 12))).toMatchObject({ id: session.id, pending: 0 })
    expect((await cli('allow', request.id)).err).toMatch(/canceled: turn interrupted/)
    expect((await cli('end', session.id)).out).toMatch(/^ses_\w+ has ended\. {2}“approval”/)
    expect(await json('end', session.id.slice(0, 12)), 'ending it again is not an error').toMatchObject({
      state: 'ended',
    })
    expect((await cli('interrupt', session.id)).code).toBe(1)
    expect(await cli('model', session.id, 'small')).toMatchObject({ code: 1, out: '' })
  })
})

describe('holdpoint watch', () => {
  it('holdpoint watch prints events as JSON lines, filtered by session, and resumes after a cursor', async () => {
    const { session, request } = await rehearse(gateway, 'approval')
    const words = [holdpoint, 'watch', '--json', '--session', session.id.slice(0, 14)]
    const child = spawn(process.execPath, words, { env: environmentFor(gateway), stdio: ['ignore', 'pipe', 'inherit'] })
    const seen: Event[] = []
    const lines = createInterface(child.stdout)
    // The stream sends nothing until something changes, so keep changing the session until an event arrives.
    const startNudging = () =>
      setInterval(() => nudge(gateway.call('patchSession', { id: session.id, title: 'nudged' })), 100)
    let nudging = startNudging()
    for await (const line of lines) {
      if (seen.push(JSON.parse(line)) === 1) {
        clearInterval(nudging)
        await cli('deny', request.id, '--reason', 'no')
      }
      if (seen.at(-1)?.type === 'turn.finished') break
    }
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(seen.map(event => event.session)).toEqual(seen.map(() => session.id))
    const resolved = seen.find(event => event.type === 'request.resolved')
    expect(resolved).toMatchObject({ request: request.id, resolution: { answer: { kind: 'deny', reason: 'no' } } })
    // `watch` notices that `head` has closed the pipe only when it writes the next event.
    nudging = startNudging()
    // Filter by session, because events of other sessions may come right after the first event that was seen.
    const after = `--session ${session.id} --after ${seen[0]?.cursor}`
    const again = await bash(gateway, `holdpoint watch --json ${after} | head -1`)
    clearInterval(nudging)
    expect(JSON.parse(again.out), 'the pipe gets the event after the cursor').toEqual(seen[1])
  })

  it('holdpoint watch prints readable lines and reconnects when the gateway restarts at another address', async () => {
    const own = await startGateway({ runner: 'none' })
    const child = spawn(process.execPath, [holdpoint, 'watch'], {
      env: environmentFor(own),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const printed = { out: '', err: '' }
    child.stdout.on('data', chunk => {
      printed.out += chunk
    })
    child.stderr.on('data', chunk => {
      // On a busy machine, the program also says that it waits for the gateway.
      printed.err += String(chunk).replace(/^holdpoint: .*\n/gm, '')
    })
    const waitForOutput = async (what: RegExp, where: keyof typeof printed = 'out') => {
      while (!what.test(printed[where])) await shortPause()
    }
    const nudging = setInterval(() => nudge(own.call('startSession', { driver: 'external', title: 'nudge' })), 100)
    await withTimeout(waitForOutput(/nudge {2}opened ses_/))
    clearInterval(nudging)
    await own.kill()
    await withTimeout(waitForOutput(/^Lost the connection to the gateway\. Reconnecting…\n$/, 'err'))
    own.changePort()
    await own.start()
    await withTimeout(waitForOutput(/Lost.*\nReconnected\.\n$/, 'err'))
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
    await withTimeout(
      waitForOutput(/after {2}asks req_\w+: (?:Notable|Dangerous) +Run a command {2}a ↵ b\\u\{1b\}\[2J\n/),
    )
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('holdpoint watch refuses a malformed cursor', async () => {
    expect((await cli('watch', '--after', 'yesterday')).code).toBe(2)
  })
})

it('a command exits with 5 if nothing listens at the given URL, and does not suggest starting a local gateway', async () => {
  const env = { ...environmentFor(gateway), HOLDPOINT_URL: 'http://127.0.0.1:1' }
  const { code, err } = await runCli(['inbox'], { env })
  expect([code, err]).toEqual([5, expect.stringMatching(/Cannot reach.*127\.0\.0\.1:1.*HOLDPOINT_URL/)])
  expect(err).not.toContain('holdpoint up')
})

it('a command exits with 5 if the gateway stops responding, even while it waits in a long poll', async () => {
  const own = await startGateway({ runner: 'none' })
  const ask = spawn(process.execPath, [holdpoint, 'ask', 'Deploy?'], { env: environmentFor(own), stdio: 'ignore' })
  const askEnded = once(ask, 'exit')
  process.kill(own.pid, 'SIGSTOP')
  const { code, err } = await runCli(['inbox'], { env: environmentFor(own) })
  expect([code, err]).toEqual([5, expect.stringMatching(/does not answer.*holdpoint down/)])
  expect(await askEnded, 'ask had not got its first reply').toEqual([5, null])
  process.kill(own.pid, 'SIGCONT')
  expect((await runCli(['inbox'], { env: environmentFor(own) })).code).toBe(0)
})

it('a command exits with 1 if it cannot write its output, but with 0 if the reader closed the pipe', async () => {
  for (const words of ['sessions --all', 'sessions --all --json', '--help']) {
    const { code, err } = await bash(gateway, `holdpoint ${words} > /dev/full`)
    expect([words, code, err]).toEqual([
      words,
      1,
      expect.stringMatching(/^holdpoint: Could not write the whole output .*ENOSPC.*\n$/),
    ])
  }
  expect(await bash(gateway, 'set -o pipefail; holdpoint --help | true')).toEqual({ code: 0, out: '', err: '' })
})
