import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, request as onward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Answer, Request } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, glance, holdpoint, startGateway } from '../../../test/support/gateway.ts'
import { bash, environmentFor } from './support/cli-process.ts'
import { waitForResolution } from './support/gateway-fixture.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'none' })
})
afterAll(closeGateways)

async function asked(of = gateway): Promise<Request> {
  for (;;) {
    const [request] = (await of.call('listRequests', { status: 'pending' })).items
    if (request) return request
    await glance()
  }
}
async function give(answer: Answer, of = gateway): Promise<Request> {
  const request = await asked(of)
  await of.call('answerRequest', { id: request.id, digest: request.digest, answer })
  return request
}
async function sessionOf({ session }: Request, of = gateway) {
  for (;;) {
    const found = await of.call('getSession', { id: session })
    if (found.state === 'ended') return found
    await glance()
  }
}
/** Without a terminal of its own, as from a service: one would give Ctrl+C to the command by itself. */
function guarding(command: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, [holdpoint, 'guard', '--', ...command], {
    env: { ...environmentFor(gateway), ...env },
    cwd: gateway.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
}
/** A way to the gateway on which the first report of a delivery is held back until it is released. */
async function heldLine() {
  let hold = (_: () => void) => {}
  const held = new Promise<() => void>(resolve => {
    hold = resolve
  })
  const server = createServer((request, reply) => {
    const { method, url: path, headers: given } = request
    const headers = { ...given, host: new URL(gateway.url).host }
    const pass = () =>
      request.pipe(
        onward(new URL(path ?? '', gateway.url), { method, headers }, answered => {
          reply.writeHead(answered.statusCode ?? 0, answered.headers)
          answered.pipe(reply)
        }),
      )
    if (!path?.endsWith('/delivery')) return void pass()
    hold(pass)
    hold = release => release()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a server on TCP has one
  return { url: `http://127.0.0.1:${port}`, held, close: () => server.close() }
}
const choose = (label: string): Answer => ({ kind: 'answers', answers: [{ id: 'answer', chosen: [label] }] })
const choices = '--choice yes --choice no'

describe('holdpoint ask, in a script', () => {
  it('prints what was chosen, as the script that it says it is, and is over then', async () => {
    const running = bash(gateway, `said=$(holdpoint ask 'Deploy?' ${choices} --as ci) && echo "$said, then"`)
    const request = await give(choose('yes'))
    expect(request.ask).toMatchObject({
      questions: [{ question: 'Deploy?', options: [{ label: 'yes' }, { label: 'no' }], allowOther: false }],
    })
    expect(await running).toMatchObject({ code: 0, out: 'yes, then\n', err: expect.stringContaining(request.id) })
    expect(await sessionOf(request)).toMatchObject({ driver: 'external', title: 'ci', ending: { reason: 'done' } })
    expect((await waitForResolution(gateway, request.id)).delivery.state).toBe('taken')
  })

  it.each<[string, string, Answer, { code: number; out: string; err: RegExp }]>([
    ['a choice that is not the first', choices, choose('no'), { code: 0, out: 'no\n', err: /Waiting for a person/ }],
    [
      'declined',
      choices,
      { kind: 'decline', reason: 'ask Ana' },
      { code: 1, out: 'decline\n', err: /Declined: ask Ana/ },
    ],
    ['allowed', '', { kind: 'allow', note: 'go on' }, { code: 0, out: 'allow\n', err: /Note: go on/ }],
    ['denied', '', { kind: 'deny', reason: 'not yet' }, { code: 1, out: 'deny\n', err: /Denied: not yet/ }],
    [
      'in their own words',
      '--text',
      { kind: 'answers', answers: [{ id: 'answer', chosen: [], other: 'two\nlines \u001b[1m' }] },
      { code: 0, out: 'two\nlines \u001b[1m\n', err: /Waiting for a person/ },
    ],
    [
      'in their own words beside choices',
      `${choices} --text`,
      { kind: 'answers', answers: [{ id: 'answer', chosen: [], other: 'maybe' }] },
      { code: 0, out: 'maybe\n', err: /Waiting for a person/ },
    ],
  ])('says by its exit code what the answer is: %s', async (_what, flags, answer, { code, out, err }) => {
    const running = bash(gateway, `holdpoint ask 'Well?' ${flags}`)
    await give(answer)
    expect(await running).toMatchObject({ code, out, err: expect.stringMatching(err) })
  })

  it('prints the request as JSON, with the same exit codes', async () => {
    const running = bash(gateway, `holdpoint ask 'Well?' --json`)
    const { id } = await give({ kind: 'deny' })
    const { code, out } = await running
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      { id, ask: { kind: 'approval', input: { prompt: 'Well?' } }, resolution: { answer: { kind: 'deny' } } },
    ])
  })

  it('ends with 124 when nobody answers in time', async () => {
    const { code, out, err } = await bash(gateway, `holdpoint ask 'Well?' --deadline 1s`)
    expect([code, out]).toEqual([124, ''])
    expect(err).toMatch(/Nobody answered in time/)
  })

  it.each([`''`, `'x' --choice a --choice a`, `'x' --deadline soon`, `'x' --deadline 400d`, `'x' --deadline 0s`, ''])(
    'refuses holdpoint ask %s: exit code 2',
    async words => {
      expect((await bash(gateway, `holdpoint ask ${words}`)).code).toBe(2)
      expect((await gateway.call('listRequests', { status: 'pending' })).items).toEqual([])
    },
  )

  it('is told when a person ends its session instead: exit code 1', async () => {
    const running = bash(gateway, `holdpoint ask 'Well?'`)
    await gateway.call('endSession', { id: (await asked()).session })
    expect(await running).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/session_ended/) })
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('withdraws the question at %s and ends with %i', async (signal, code) => {
    const child = spawn(process.execPath, [holdpoint, 'ask', 'Well?'], {
      env: environmentFor(gateway),
      stdio: 'ignore',
    })
    const request = await asked()
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([code, null])
    expect((await waitForResolution(gateway, request.id)).resolution).toMatchObject({
      by: 'agent',
      reason: 'withdrawn',
    })
    expect(await sessionOf(request)).toMatchObject({ ending: { reason: 'stopped' } })
  })

  it('waits through a kill of the gateway, and finds it at another address', async () => {
    const own = await startGateway({ runner: 'none' })
    const running = bash(own, `holdpoint ask 'Well?' ${choices}`)
    const { id } = await asked(own)
    await own.kill()
    own.forgetPort()
    await own.start()
    expect((await give(choose('yes'), own)).id).toBe(id)
    expect(await running).toMatchObject({ code: 0, out: 'yes\n' })
  })

  it('speaks with an agent’s credential as well', async () => {
    const { secret } = await gateway.call('addToken', { role: 'agent', name: 'ci' })
    const running = bash(gateway, `HOLDPOINT_URL=${gateway.url} HOLDPOINT_TOKEN=${secret} holdpoint ask 'Well?'`)
    const request = await give({ kind: 'allow' })
    expect(await running).toMatchObject({ code: 0, out: 'allow\n' })
    expect((await sessionOf(request)).ending).toMatchObject({ reason: 'done' })
  })
})

describe('holdpoint guard, in a script', () => {
  it('shows the command and its folder, and runs exactly that when it is allowed', async () => {
    const running = bash(
      gateway,
      `echo in | holdpoint guard --as deploy -- bash -c 'cat; printf "%s|" "$@"; exit 7' 'a b' '$HOME' '' "it's"`,
    )
    const request = await give({ kind: 'allow' })
    const argv = ['bash', '-c', 'cat; printf "%s|" "$@"; exit 7', 'a b', '$HOME', '', "it's"]
    expect(request.ask).toMatchObject({
      tool: 'Bash',
      cwd: gateway.folder,
      editable: false,
      input: { argv, command: `bash -c 'cat; printf "%s|" "$@"; exit 7' 'a b' '$HOME' '' 'it'\\''s'` },
    })
    expect(await running).toMatchObject({ code: 7, out: "in\n$HOME||it's|" })
    const session = await sessionOf(request)
    expect(session).toMatchObject({ title: 'deploy', ending: { reason: 'done' } })
    const told = (await gateway.call('listEvents', { id: session.id })).items
    expect(told.find(event => event.type === 'tool.finished')).toMatchObject({ ok: false, output: 'exit 7' })
    expect((await waitForResolution(gateway, request.id)).delivery.state).toBe('taken')
  })

  it('takes options only before the command', async () => {
    const running = bash(gateway, 'holdpoint guard echo --json --as x')
    const request = await give({ kind: 'allow' })
    expect(await running).toMatchObject({ code: 0, out: '--json --as x\n' })
    expect((await sessionOf(request)).title).toBe('guard')
  })

  it('cannot be edited into something else', async () => {
    const running = bash(gateway, 'holdpoint guard -- echo mine')
    const request = await asked()
    const answer: Answer = { kind: 'allow', input: { command: 'echo yours', argv: ['echo', 'yours'] } }
    await expect(
      gateway.call('answerRequest', { id: request.id, digest: request.digest, answer }),
    ).rejects.toMatchObject({ code: 'answer_mismatch' })
    await give({ kind: 'allow' })
    expect((await running).out).toBe('mine\n')
  })

  it.each<[string, Answer | null, string, number, RegExp]>([
    ['denied', { kind: 'deny', reason: 'not \u001b[2J on main' }, '', 1, /Denied: not \\u\{1b\}\[2J on main/],
    ['left without an answer', null, '--deadline 1s', 124, /Nobody answered/],
  ])('runs nothing when it is %s', async (_what, answer, flags, code, sentence) => {
    const running = bash(gateway, `holdpoint guard ${flags} -- touch ran.txt`)
    if (answer) await give(answer)
    const said = await running
    expect([said.code, said.out, said.err]).toEqual([code, '', expect.stringMatching(sentence)])
    expect(existsSync(join(gateway.folder, 'ran.txt'))).toBe(false)
  })

  it.each([
    ['there is no such program', './nowhere', 127],
    ['it may not be run', './holdpoint.config.json', 126],
    ['a signal ends it', `bash -c 'kill -TERM $$'`, 143],
  ])('ends as a shell does when %s', async (_what, words, code) => {
    const running = bash(gateway, `holdpoint guard -- ${words}`)
    await give({ kind: 'allow' })
    expect((await running).code).toBe(code)
  })

  it.each(['TERM', 'HUP', 'INT'] as const)('passes SIG%s on to the command that runs', async name => {
    const begun = `begun-${name}.txt`
    const script = `trap 'echo ended; exit 9' ${name}; touch ${begun}; while :; do sleep 0.02; done`
    const child = guarding(['bash', '-c', script])
    await give({ kind: 'allow' })
    while (!existsSync(join(gateway.folder, begun))) await glance()
    child.kill(`SIG${name}`)
    expect(await once(child, 'exit')).toEqual([9, null])
  })

  it('runs nothing when it is told to stop while the allow is on its way, and says so', async () => {
    const line = await heldLine()
    const child = guarding(['touch', 'late.txt'], { HOLDPOINT_URL: line.url })
    const request = await give({ kind: 'allow' })
    const release = await line.held
    child.kill('SIGTERM')
    // Nothing tells that a signal has arrived.
    setTimeout(release, 500)
    expect(await once(child, 'exit')).toEqual([143, null])
    line.close()
    expect(existsSync(join(gateway.folder, 'late.txt'))).toBe(false)
    expect((await waitForResolution(gateway, request.id)).delivery.state).toBe('undeliverable')
    expect(await sessionOf(request)).toMatchObject({ ending: { reason: 'stopped' } })
  })

  it('needs a command: exit code 2', async () => {
    expect((await bash(gateway, 'holdpoint guard --')).code).toBe(2)
  })
})
