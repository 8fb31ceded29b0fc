import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, Request } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  closeGateways,
  type GatewayProcess,
  holdpoint,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { bash, environmentFor } from './support/cli-process.ts'
import { waitForResolution } from './support/gateway-fixture.ts'
import { openSocketProxy, passOn } from './support/socket-proxy.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'none' })
})
afterAll(closeGateways)

async function waitForRequest(target = gateway): Promise<Request> {
  for (;;) {
    const [request] = (await target.call('listRequests', { status: 'pending' })).items
    if (request) return request
    await shortPause()
  }
}
async function answerNext(answer: Answer, target = gateway): Promise<Request> {
  const request = await waitForRequest(target)
  await target.call('answerRequest', { id: request.id, digest: request.digest, answer })
  return request
}
async function endedSession({ session }: Request, target = gateway) {
  for (;;) {
    const found = await target.call('getSession', { id: session })
    if (found.state === 'ended') return found
    await shortPause()
  }
}
/** Starts `guard` without a controlling terminal, as a service does, because a terminal would send Ctrl+C directly to the guarded command too. */
function spawnGuard(command: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return spawn(process.execPath, [holdpoint, 'guard', '--', ...command], {
    env: { ...environmentFor(gateway), ...env },
    cwd: gateway.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
}
/** Starts a proxy to the gateway that delays the first delivery report. `held` resolves with a function that forwards the report. */
async function delayingProxy() {
  let hold = (_: () => void) => {}
  const held = new Promise<() => void>(resolve => {
    hold = resolve
  })
  const proxy = await openSocketProxy(gateway, async (request, reply, pass) => {
    if (request.url?.endsWith('/delivery')) {
      await new Promise<void>(release => hold(release))
      hold = release => release()
    }
    passOn(reply, await pass())
  })
  return { ...proxy, held }
}
const choose = (label: string): Answer => ({ kind: 'answers', answers: [{ id: 'answer', chosen: [label] }] })
const choices = '--choice yes --choice no'

describe('holdpoint ask in a script', () => {
  it('holdpoint ask in a script prints the chosen option, shows the name from --as, and ends its session', async () => {
    const running = bash(gateway, `said=$(holdpoint ask 'Deploy?' ${choices} --as ci) && echo "$said, then"`)
    const request = await answerNext(choose('yes'))
    expect(request.ask).toMatchObject({
      questions: [{ question: 'Deploy?', options: [{ label: 'yes' }, { label: 'no' }], allowOther: false }],
    })
    const { code, out, err } = await running
    expect([code, out]).toEqual([0, 'yes, then\n'])
    expect(err).toContain(`holdpoint show ${request.id}\n`)
    expect(err).toContain(`Answer it on the page: ${gateway.url}/#/inbox/${request.id}\n`)
    expect(await endedSession(request)).toMatchObject({ driver: 'external', title: 'ci', ending: { reason: 'done' } })
    expect((await waitForResolution(gateway, request.id)).delivery.state).toBe('taken')
  })

  it.each<[string, string, Answer, { code: number; out: string; err: RegExp }]>([
    ['the second choice', choices, choose('no'), { code: 0, out: 'no\n', err: /Waiting for a person/ }],
    [
      'the answer "decline"',
      choices,
      { kind: 'decline', reason: 'ask Ana' },
      { code: 1, out: 'decline\n', err: /Declined: ask Ana/ },
    ],
    ['the answer "allow"', '', { kind: 'allow', note: 'go on' }, { code: 0, out: 'allow\n', err: /Note: go on/ }],
    ['the answer "deny"', '', { kind: 'deny', reason: 'not yet' }, { code: 1, out: 'deny\n', err: /Denied: not yet/ }],
    [
      'a typed text',
      '--text',
      { kind: 'answers', answers: [{ id: 'answer', chosen: [], other: 'two\nlines \u001b[1m' }] },
      { code: 0, out: 'two\nlines \u001b[1m\n', err: /Waiting for a person/ },
    ],
    [
      'a typed text instead of a choice',
      `${choices} --text`,
      { kind: 'answers', answers: [{ id: 'answer', chosen: [], other: 'maybe' }] },
      { code: 0, out: 'maybe\n', err: /Waiting for a person/ },
    ],
  ])(
    'holdpoint ask in a script prints the answer and exits with the right code for %s',
    async (_what, flags, answer, { code, out, err }) => {
      const running = bash(gateway, `holdpoint ask 'Well?' ${flags}`)
      await answerNext(answer)
      expect(await running).toMatchObject({ code, out, err: expect.stringMatching(err) })
    },
  )

  it('holdpoint ask in a script with --json prints the resolved request and exits with the same code as without --json', async () => {
    const running = bash(gateway, `holdpoint ask 'Well?' --json`)
    const { id } = await answerNext({ kind: 'deny' })
    const { code, out } = await running
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      { id, ask: { kind: 'approval', input: { prompt: 'Well?' } }, resolution: { answer: { kind: 'deny' } } },
    ])
  })

  it('holdpoint ask in a script exits with 124 if nobody answers before the deadline', async () => {
    const { code, out, err } = await bash(gateway, `holdpoint ask 'Well?' --deadline 1s`)
    expect([code, out]).toEqual([124, ''])
    expect(err).toMatch(/Nobody answered in time/)
  })

  it.each([`''`, `'x' --choice a --choice a`, `'x' --deadline soon`, `'x' --deadline 400d`, `'x' --deadline 0s`, ''])(
    'holdpoint ask in a script exits with 2 and opens no request if its arguments are invalid: %s',
    async words => {
      expect((await bash(gateway, `holdpoint ask ${words}`)).code).toBe(2)
      expect((await gateway.call('listRequests', { status: 'pending' })).items).toEqual([])
    },
  )

  it('holdpoint ask in a script exits with 1 and prints the reason if a person ends its session', async () => {
    const running = bash(gateway, `holdpoint ask 'Well?'`)
    await gateway.call('endSession', { id: (await waitForRequest()).session })
    expect(await running).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/session_ended/) })
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('holdpoint ask in a script withdraws the question on %s and exits with %i', async (signal, code) => {
    const child = spawn(process.execPath, [holdpoint, 'ask', 'Well?'], {
      env: environmentFor(gateway),
      stdio: 'ignore',
    })
    const request = await waitForRequest()
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([code, null])
    expect((await waitForResolution(gateway, request.id)).resolution).toMatchObject({
      by: 'agent',
      reason: 'withdrawn',
    })
    expect(await endedSession(request)).toMatchObject({ ending: { reason: 'stopped' } })
  })

  it('holdpoint ask in a script keeps waiting while the gateway is killed and restarted at another address', async () => {
    const own = await startGateway({ runner: 'none' })
    const running = bash(own, `holdpoint ask 'Well?' ${choices}`)
    const { id } = await waitForRequest(own)
    await own.kill()
    own.changePort()
    await own.start()
    expect((await answerNext(choose('yes'), own)).id).toBe(id)
    expect(await running).toMatchObject({ code: 0, out: 'yes\n' })
  })

  it('holdpoint ask in a script works with an agent’s token', async () => {
    const { secret } = await gateway.call('addToken', { role: 'agent', name: 'ci' })
    const running = bash(gateway, `HOLDPOINT_URL=${gateway.url} HOLDPOINT_TOKEN=${secret} holdpoint ask 'Well?'`)
    const request = await answerNext({ kind: 'allow' })
    expect(await running).toMatchObject({ code: 0, out: 'allow\n' })
    expect((await endedSession(request)).ending).toMatchObject({ reason: 'done' })
  })
})

describe('holdpoint guard in a script', () => {
  it('holdpoint guard in a script shows the command and its folder, and runs exactly that command once it is allowed', async () => {
    const running = bash(
      gateway,
      `echo in | holdpoint guard --as deploy -- bash -c 'cat; printf "%s|" "$@"; exit 7' 'a b' '$HOME' '' "it's"`,
    )
    const request = await answerNext({ kind: 'allow' })
    const argv = ['bash', '-c', 'cat; printf "%s|" "$@"; exit 7', 'a b', '$HOME', '', "it's"]
    expect(request.ask).toMatchObject({
      tool: 'Bash',
      cwd: gateway.folder,
      editable: false,
      input: { argv, command: `bash -c 'cat; printf "%s|" "$@"; exit 7' 'a b' '$HOME' '' 'it'\\''s'` },
    })
    expect(await running).toMatchObject({ code: 7, out: "in\n$HOME||it's|" })
    const session = await endedSession(request)
    expect(session).toMatchObject({ title: 'deploy', ending: { reason: 'done' } })
    const events = (await gateway.call('listEvents', { id: session.id })).items
    expect(events.find(event => event.type === 'tool.finished')).toMatchObject({ ok: false, output: 'exit 7' })
    expect((await waitForResolution(gateway, request.id)).delivery.state).toBe('taken')
  })

  it('holdpoint guard in a script parses only the options before the command', async () => {
    const running = bash(gateway, 'holdpoint guard echo --json --as x')
    const request = await answerNext({ kind: 'allow' })
    expect(await running).toMatchObject({ code: 0, out: '--json --as x\n' })
    expect((await endedSession(request)).title).toBe('guard')
  })

  it('holdpoint guard in a script opens a request that cannot be allowed with edited input', async () => {
    const running = bash(gateway, 'holdpoint guard -- echo mine')
    const request = await waitForRequest()
    const answer: Answer = { kind: 'allow', input: { command: 'echo yours', argv: ['echo', 'yours'] } }
    await expect(
      gateway.call('answerRequest', { id: request.id, digest: request.digest, answer }),
    ).rejects.toMatchObject({ code: 'answer_mismatch' })
    await answerNext({ kind: 'allow' })
    expect((await running).out).toBe('mine\n')
  })

  it.each<[string, Answer | null, string, number, RegExp]>([
    ['denied', { kind: 'deny', reason: 'not \u001b[2J on main' }, '', 1, /Denied: not \\u\{1b\}\[2J on main/],
    ['not answered before the deadline', null, '--deadline 1s', 124, /Nobody answered/],
  ])(
    'holdpoint guard in a script does not run the command if the request is %s',
    async (_what, answer, flags, code, sentence) => {
      const running = bash(gateway, `holdpoint guard ${flags} -- touch ran.txt`)
      if (answer) await answerNext(answer)
      const result = await running
      expect([result.code, result.out, result.err]).toEqual([code, '', expect.stringMatching(sentence)])
      expect(existsSync(join(gateway.folder, 'ran.txt'))).toBe(false)
    },
  )

  it.each([
    ['the program does not exist', './nowhere', 127],
    ['the file is not executable', './holdpoint.config.json', 126],
    ['a signal ends the command', `bash -c 'kill -TERM $$'`, 143],
  ])('holdpoint guard in a script exits with the code that a shell uses if %s', async (_what, words, code) => {
    const running = bash(gateway, `holdpoint guard -- ${words}`)
    await answerNext({ kind: 'allow' })
    expect((await running).code).toBe(code)
  })

  it.each(['TERM', 'HUP', 'INT'] as const)(
    'holdpoint guard in a script forwards SIG%s to the running command',
    async name => {
      const startedFile = `started-${name}.txt`
      const script = `trap 'echo ended; exit 9' ${name}; touch ${startedFile}; while :; do sleep 0.02; done`
      const child = spawnGuard(['bash', '-c', script])
      await answerNext({ kind: 'allow' })
      while (!existsSync(join(gateway.folder, startedFile))) await shortPause()
      child.kill(`SIG${name}`)
      expect(await once(child, 'exit')).toEqual([9, null])
    },
  )

  it('holdpoint guard in a script does not run the command if a signal arrives while the answer is handed over, and reports the answer as undeliverable', async () => {
    const proxy = await delayingProxy()
    const child = spawnGuard(['touch', 'late.txt'], { HOLDPOINT_HOME: proxy.home })
    const request = await answerNext({ kind: 'allow' })
    const release = await proxy.held
    child.kill('SIGTERM')
    // The test cannot see when the signal arrives, so wait a little.
    setTimeout(release, 500)
    expect(await once(child, 'exit')).toEqual([143, null])
    proxy.close()
    expect(existsSync(join(gateway.folder, 'late.txt'))).toBe(false)
    expect((await waitForResolution(gateway, request.id)).delivery.state).toBe('undeliverable')
    expect(await endedSession(request)).toMatchObject({ ending: { reason: 'stopped' } })
  })

  it('holdpoint guard in a script exits with 2 if no command is given', async () => {
    expect((await bash(gateway, 'holdpoint guard --')).code).toBe(2)
  })
})
