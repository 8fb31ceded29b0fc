/** `holdpoint token` against a real gateway: listing, creating, rotating and revoking credentials while agents and commands run. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import type { Output, Token } from '@holdpoint/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import {
  closeGateways,
  type GatewayOptions,
  GatewayProcess,
  holdpoint,
  shortPause,
  startGateway,
} from '../../../test/support/gateway.ts'
import { environmentFor, runCli, runCliAgainst } from './support/cli-process.ts'
import { approvalAsk, askAsExternalAgent, rehearse, waitForLastMessage } from './support/gateway-fixture.ts'
import { closeTerminals, Terminal } from './support/terminal.ts'

const children: ChildProcess[] = []
afterEach(async () => {
  closeTerminals()
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await closeGateways()
})

interface RunningCommand {
  /** Resolves with the exit code once all output is read. */
  readonly exited: Promise<number | null>
  output(): string
}
/** Starts a command that keeps running. */
function start(gateway: GatewayProcess, words: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCommand {
  const child = spawn(process.execPath, [holdpoint, ...words], {
    env: { ...environmentFor(gateway), ...env },
    cwd: gateway.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      output += chunk
    })
  return { exited: new Promise(resolve => child.once('close', resolve)), output: () => output }
}

/** Starts `holdpoint watch` with all events from now on. */
async function startWatch(gateway: GatewayProcess, env: NodeJS.ProcessEnv = {}): Promise<RunningCommand> {
  const { id } = await gateway.call('startSession', { driver: 'external' })
  const cursor = (await gateway.call('listEvents', { id })).items.at(-1)?.cursor ?? ''
  return start(gateway, ['watch', '--after', cursor], env)
}

/** Runs `holdpoint token` and expects success. */
async function token(gateway: GatewayProcess, ...words: string[]): Promise<string> {
  const { code, out, err } = await runCliAgainst(gateway, ['token', ...words])
  expect([code, err], words.join(' ')).toEqual([0, expect.not.stringMatching(/ {4}at /)])
  return out
}
async function tokenJson<T>(gateway: GatewayProcess, ...words: string[]): Promise<T> {
  return JSON.parse(await token(gateway, ...words, '--json')) as T // with --json, a command prints the output of its operation
}
const listed = async (gateway: GatewayProcess) => (await tokenJson<{ items: readonly Token[] }>(gateway, 'list')).items
async function statusOf(gateway: GatewayProcess, secret: string): Promise<number> {
  return (await fetch(`${gateway.url}/api/v1/me`, { headers: { authorization: `Bearer ${secret}` } })).status
}
async function runnerIsLive(gateway: GatewayProcess): Promise<void> {
  while (!(await gateway.call('listRunners', {})).items.some(({ live }) => live)) await shortPause()
}

describe('holdpoint token list', () => {
  it('token list shows who holds each credential, when it was created and last used, and no secret', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const secret = (await token(gateway, 'add', 'ci\u001b[2J', '--expires', '90d')).trim()
    // The gateway records the use of a token a moment after the call.
    await expect.poll(() => token(gateway, 'list')).toMatch(/\towner\tnow\tnow\t/)
    const before = await token(gateway, 'list')
    expect(before).toMatch(/^tok_\w+\towner\tnow\tnow\tnever\towner$/m)
    expect(before).toMatch(/^tok_\w+\trunner\tnow\tnever\tnever\tlocal runner$/m)
    expect(before).toMatch(/^tok_\w+\tagent\tnow\tnever\t\d{4}-\d\d-\d\d\tci\\u\{1b\}\[2J$/m)
    expect(await statusOf(gateway, secret)).toBe(200)
    await expect.poll(() => token(gateway, 'list')).toMatch(/\tagent\tnow\tnow\t/)
    const json = await token(gateway, 'list', '--json')
    for (const hidden of [secret, gateway.token, gateway.home.runnerToken()])
      for (const output of [before, json]) expect(output).not.toContain(hidden)
    const terminal = new Terminal(['token', 'list', '--home', gateway.home.path], { columns: 40 })
    expect(await terminal.exit).toBe(0)
    await terminal.waitFor(/^tok_\w+ +runner .*local runner$/m)
  })
})

describe('holdpoint token add', () => {
  it('token add prints only the secret into a pipe, and the token can do what its role may do', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const { code, out, err } = await runCliAgainst(gateway, ['token', 'add', 'ci'])
    expect([code, out]).toEqual([0, expect.stringMatching(/^hp_\S+\n$/)])
    expect(err).toMatch(/Created tok_\w+ \(agent\) for ci\n.*not shown again/)
    const agent = gateway.callAs(out.trim())
    expect(await agent('whoAmI', {})).toMatchObject({ role: 'agent', person: 'ci' })
    const bob = await tokenJson<Output<'addToken'>>(gateway, 'add', 'bob', '--role', 'person')
    const more = ['add', 'bob’s phone', '--role', 'person', '--person', bob.person ?? '']
    expect(await tokenJson(gateway, ...more)).toMatchObject({ person: bob.person, secret: expect.any(String) })
  })
})

describe.each<['process' | 'inline']>([['process'], ['inline']])(
  'holdpoint token rotate with a runner that is %s',
  runner => {
    const options: GatewayOptions = { runner }
    it('F14: token rotate replaces the owner’s token at once, while the runner and open commands continue', async () => {
      const gateway = await startGateway(options)
      const old = gateway.token
      await runnerIsLive(gateway)
      const pid = gateway.runnerPid()
      const { session, request } = await rehearse(gateway, 'approval')
      const watch = await startWatch(gateway)
      const ask = start(gateway, ['ask', 'Deploy?'])
      await expect.poll(() => ask.output()).toContain('Waiting')
      await expect.poll(() => watch.output()).toContain('Deploy?')
      const ci = await tokenJson<Output<'addToken'>>(gateway, 'add', 'ci')
      const printed = await token(gateway, 'rotate')
      expect(printed).toContain(`The new token is in ${gateway.home.tokenFile}`)
      expect(printed).toMatch(new RegExp(`Also revoked.*\\n *· ${ci.id}  agent  ci`))
      expect([await statusOf(gateway, old), await statusOf(gateway, ci.secret)]).toEqual([401, 401])
      const file = readFileSync(gateway.home.tokenFile, 'utf8').trim()
      expect(file).not.toBe(old)
      expect(statSync(gateway.home.tokenFile).mode & 0o777).toBe(0o600)
      expect(await statusOf(gateway, file)).toBe(200)
      for (const { id, digest } of (await gateway.call('listRequests', { status: 'pending' })).items)
        await gateway.call('answerRequest', { id, digest, answer: { kind: 'allow' } })
      expect(await ask.exited).toBe(0)
      await waitForLastMessage(gateway, session)
      expect(await gateway.call('getRequest', { id: request.id })).toMatchObject({ delivery: { state: 'taken' } })
      await expect.poll(() => watch.output()).toContain('Reconnected.')
      expect(gateway.runnerPid()).toBe(pid)
    })

    it('F14: token rotate replaces the runner’s token, and the runner continues its session', async () => {
      const gateway = await startGateway(options)
      const old = gateway.home.runnerToken()
      await runnerIsLive(gateway)
      const pid = gateway.runnerPid()
      const { session, request } = await rehearse(gateway, 'approval')
      expect(await token(gateway, 'rotate', 'local runner')).toContain(gateway.home.runnerTokenFile)
      expect(await statusOf(gateway, old)).toBe(401)
      expect(await statusOf(gateway, gateway.home.runnerToken())).toBe(200)
      await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
      await waitForLastMessage(gateway, session)
      expect(await gateway.call('getRequest', { id: request.id })).toMatchObject({ delivery: { state: 'taken' } })
      expect((await gateway.call('listRunners', {})).items).toMatchObject([{ live: true }])
      expect(gateway.runnerPid()).toBe(pid)
    })
  },
)

describe('holdpoint token rotate', () => {
  it('a rotated token stays valid after a restart, and the old token stays invalid', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const old = gateway.token
    await token(gateway, 'rotate')
    await gateway.kill()
    await gateway.start()
    expect(await statusOf(gateway, old)).toBe(401)
    expect((await listed(gateway)).filter(({ role }) => role === 'owner')).toHaveLength(1)
  })

  it('token rotate prints the new secret of another token once, for the same holder', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const old = (await token(gateway, 'add', 'ci')).trim()
    const request = await askAsAgent(gateway, old)
    const secret = (await token(gateway, 'rotate', 'ci')).trim()
    expect(await statusOf(gateway, old)).toBe(401)
    expect(await gateway.callAs(secret)('getRequest', { id: request })).toMatchObject({ status: 'pending' })
  })

  async function askAsAgent(gateway: GatewayProcess, secret: string) {
    const call = gateway.callAs(secret)
    const { id } = await call('startSession', { driver: 'external' })
    return (await call('openRequest', { id, key: 'k', ask: approvalAsk({ command: 'ls' }) })).id
  }
})

describe('holdpoint token revoke', () => {
  it('A12: token revoke ends streams, long polls and commands of the token and of what it created', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const bob = await tokenJson<Output<'addToken'>>(gateway, 'add', 'bob', '--role', 'person')
    const asBob = { HOLDPOINT_TOKEN: bob.secret }
    const { code } = await gateway.callAs(bob.secret)('makeLink', {})
    const watch = await startWatch(gateway, asBob)
    const ask = start(gateway, ['ask', 'Deploy?'], asBob)
    await expect.poll(() => ask.output()).toContain('Waiting')
    await expect.poll(() => watch.output()).toContain('Deploy?')
    expect(await token(gateway, 'revoke', bob.id.slice(0, 12))).toMatch(`Revoked ${bob.id} (person) of bob`)
    expect([await watch.exited, await ask.exited]).toEqual([1, 1])
    expect(watch.output()).toMatch(/credential is unknown, expired or revoked/)
    await askAsExternalAgent(gateway, approvalAsk({ command: 'after' }))
    expect(watch.output()).not.toContain('after')
    const signIn = await fetch(`${gateway.url}/api/v1/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
    expect(signIn.status).toBe(401)
    expect((await listed(gateway)).some(({ name }) => name === 'bob')).toBe(false)
  })
})

describe('errors of holdpoint token', () => {
  it('token commands explain unknown, ambiguous and irrevocable tokens, wrong options and missing rights', async () => {
    const gateway = await startGateway({ runner: 'none' })
    const refused = async (...words: string[]) => {
      const { code, out, err } = await runCliAgainst(gateway, ['token', ...words])
      return { code, out, err }
    }
    expect(await refused('revoke', 'nobody')).toMatchObject({
      code: 3,
      err: expect.stringContaining('holdpoint token list'),
    })
    expect(await refused('rotate', `tok_${'0'.repeat(20)}`)).toMatchObject({ code: 3 })
    expect(await refused('revoke', 'tok_')).toMatchObject({ code: 2, err: expect.stringContaining('not an id') })
    const owner = (await listed(gateway)).find(({ role }) => role === 'owner')
    expect(await refused('revoke', 'owner')).toMatchObject({
      code: 2,
      err: expect.stringContaining(`holdpoint token rotate ${owner?.id}`),
    })
    for (const _ of [1, 2]) await token(gateway, 'add', 'twin')
    expect(await refused('revoke', 'twin')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/several tokens named "twin": tok_\w+ or tok_/),
    })
    const ids = await Promise.all(
      Array.from({ length: 33 }, (_, n) => gateway.call('addToken', { role: 'agent', name: `n${n}` })),
    )
    const letters = ids.map(({ id }) => id.slice(4, 5))
    const shared = letters.find((letter, index) => letters.indexOf(letter) !== index) ?? ''
    expect(await refused('revoke', shared)).toMatchObject({
      code: 2,
      err: expect.stringContaining('type more letters'),
    })
    expect(await refused('add', 'x', '--expires', 'soon')).toMatchObject({
      code: 2,
      err: expect.stringContaining('90d'),
    })
    expect(await refused('add', 'x', '--role', 'owner')).toMatchObject({
      code: 2,
      err: expect.stringContaining('agent'),
    })
    expect(await refused('add', 'x', '--role', 'person', '--person', 'bob')).toMatchObject({
      code: 2,
      err: expect.stringContaining('per_'),
    })
    expect(await refused('frobnicate')).toMatchObject({ code: 2 })
    const bob = (await token(gateway, 'add', 'bob', '--role', 'person')).trim()
    const env = { ...environmentFor(gateway), HOLDPOINT_TOKEN: bob }
    expect(await runCli(['token', 'rotate'], { env })).toMatchObject({
      code: 1,
      err: expect.stringContaining('only the owner of this gateway may'),
    })
  })

  it('token commands say that no gateway is running and how to start one', async () => {
    const { home } = new GatewayProcess({})
    for (const words of [['list'], ['add', 'x'], ['rotate'], ['revoke', 'x']]) {
      const { code, err } = await runCli(['token', ...words, '--home', home.path])
      expect([code, err]).toEqual([5, expect.stringMatching(/No gateway is running .* holdpoint up/)])
    }
  })
})

it('completion offers the subcommands of token, their options, and the ids of tokens', async () => {
  const gateway = await startGateway({ runner: 'none' })
  const completed = async (...words: string[]) => {
    const { out } = await runCliAgainst(gateway, ['complete', '--', ...words])
    return out
      .split('\n')
      .filter(Boolean)
      .map(line => line.split('\t'))
  }
  expect((await completed('token', '')).map(([word]) => word)).toEqual(['list', 'add', 'rotate', 'revoke'])
  expect((await completed('token', 'add', '--r')).map(([word]) => word)).toEqual(['--role'])
  expect((await completed('token', 'add', '--role', '')).map(([word]) => word)).toEqual(['person', 'runner', 'agent'])
  const { items } = await gateway.call('listTokens', {})
  expect(await completed('token', 'revoke', 'tok_')).toEqual(
    items.map(({ id, role, name }) => [id, `${role}: ${name}`]),
  )
})
