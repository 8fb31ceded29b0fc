/** Tests what happens to a session of the real Codex when Codex, its runner or its gateway is lost while a call waits. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Request, SessionId } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createSignal, say, shell, waitFor } from '../../../../test/agents/model/script.ts'
import { ModelServer } from '../../../../test/agents/model/server.ts'
import { expectNoProcessLeft } from '../../../../test/agents/process-check.ts'
import { agentRecipe, createAgentHome } from '../../../../test/agents/recipes.ts'
import { type GatewayProcess, shortPause, startGateway } from '../../../../test/support/gateway.ts'
import { processStartTime } from '../../src/process-start-time.ts'
import { CodexFixture } from './codex-fixture.ts'

const append = 'echo ran >> out.txt'
/** The gateway notices a dead runner when its lease expires. */
const slow = { timeout: 60_000 }

describe('a session whose Codex process ends', () => {
  let codex: CodexFixture
  afterEach(() => codex.close())

  async function startAndAsk(): Promise<{ session: SessionId; request: Request }> {
    codex = await CodexFixture.create()
    codex.model.script('work', shell(append), shell(append), say('It is done.'))
    codex.startRunner()
    const session = await codex.start('work')
    return { session, request: await codex.nthRequest() }
  }
  const isParked = (id: SessionId) =>
    codex.waitForEvent('session.changed', event => event.session === id && event.value.state === 'parked')

  it('if Codex is killed while a call waits, its model reads a denial in the resumed conversation, and nothing runs', async () => {
    const { session, request } = await startAndAsk()
    process.kill(-codex.pidOf(session), 'SIGKILL')
    await isParked(session)
    await codex.answer(request, { kind: 'deny', reason: 'not on a Tuesday' })
    await codex.waitForTurnEnd()

    expect(codex.readFile('out.txt')).toBeNull()
    expect(codex.model.hasRead('not on a Tuesday')).toBe(true)
  })

  it('if Codex is killed while it works, the turn fails with an explanation, and the next message continues', async () => {
    codex = await CodexFixture.create()
    const never = createSignal()
    codex.model.script('think', [say('I think'), waitFor(never.fired)])
    codex.model.script('again', say('I remember.'))
    codex.startRunner()
    const session = await codex.start('think')
    await codex.model.waitForCall(({ marker }) => marker === 'think')
    process.kill(-codex.pidOf(session), 'SIGKILL')
    expect(await codex.waitForTurnEnd()).toMatchObject({ ending: 'failed' })
    expect(codex.eventsOf('error.raised').at(-1)?.message).toMatch(
      /^Codex was stopped by SIGKILL in the middle of the turn/,
    )

    await codex.asPerson('sendMessage', { id: session, text: 'again' })
    await codex.waitForTurnEnd(2)
    const { messages } = await codex.model.waitForCall(({ marker }) => marker === 'again')
    expect(messages.filter(({ role }) => role === 'user').map(({ text }) => text)).toEqual(
      expect.arrayContaining(['think', 'again']),
    )
  })

  it('a runner that is stopped while a call waits ends Codex, and the answer resumes the conversation', async () => {
    const { session, request } = await startAndAsk()
    const pid = codex.pidOf(session)
    await codex.stopRunner()
    await expectNoProcessLeft(codex.home)
    expect(() => process.kill(pid, 0)).toThrow()
    await codex.answer(request, { kind: 'allow' })
    codex.startRunner()
    expect(await codex.waitForTurnEnd()).toMatchObject({ ending: 'done' })
    expect(codex.readFile('out.txt')).toBe('ran\n')
  })

  it('the end of a session ends Codex and every command that it runs', async () => {
    codex = await CodexFixture.create()
    codex.model.script('sleep', shell('echo started > started.txt; sleep 1000'))
    codex.startRunner()
    const session = await codex.start('sleep')
    await codex.answer(await codex.nthRequest(), { kind: 'allow' })
    await expect.poll(() => codex.readFile('started.txt')).toBe('started\n')
    await codex.asPerson('endSession', { id: session })
    await codex.waitForEvent('session.ended')
    await expectNoProcessLeft(codex.home)
    expect(existsSync(codex.socketOf(session))).toBe(false)
  })
})

describe('a Codex session whose connection is cut in the middle of an answer', () => {
  let codex: CodexFixture
  afterEach(() => codex.close())

  async function answerAndCut(at: 'reply' | 'turn/steer'): Promise<Request> {
    codex = await CodexFixture.create()
    codex.useProxy()
    codex.model.script('work', shell(append, 'call_cut'), say('It is done.'))
    codex.startRunner()
    await codex.start('work')
    const request = await codex.nthRequest()
    codex.cutAt(at)
    await codex.answer(request, { kind: 'allow', ...(at === 'turn/steer' && { note: 'only this once' }) })
    expect(await codex.waitForTurnEnd()).toMatchObject({ ending: 'done' })
    expect(codex.isCutAwaited).toBe(false)
    return codex.getRequest(request)
  }

  it('if Codex does not get an allow that the driver has sent, it asks again, gets the allow, and runs the command once', async () => {
    const request = await answerAndCut('reply')
    expect(codex.readFile('out.txt')).toBe('ran\n')
    expect(request.delivery.state).toBe('taken')
    expect(codex.eventsOf('request.opened')).toHaveLength(1)
    expect(codex.agentTexts()).toEqual(['It is done.'])
  })

  it('if the connection breaks before the driver can send an allow, Codex asks again, gets the allow with its note, and runs the command once', async () => {
    const request = await answerAndCut('turn/steer')
    expect(codex.readFile('out.txt')).toBe('ran\n')
    expect(request.delivery.state).toBe('taken')
    expect(codex.model.hasRead('only this once')).toBe(true)
    expect(codex.eventsOf('request.opened')).toHaveLength(1)
    expect(codex.agentTexts()).toEqual(['It is done.'])
  })
})

describe('a Codex session whose runner ends', () => {
  let gateway: GatewayProcess
  let model: ModelServer
  let folders: ReturnType<typeof createAgentHome>

  beforeAll(async () => {
    folders = createAgentHome()
    model = await ModelServer.start()
    const recipe = agentRecipe('codex', { model: model.url, ...folders })
    recipe.prepare()
    const env = Object.fromEntries(Object.entries(recipe.env).filter(([, value]) => value !== undefined))
    gateway = await startGateway({ runner: 'process', env: env as Record<string, string> }) // the filter leaves only texts
    const isReady = async () =>
      (await gateway.call('listDrivers', {})).items.some(({ name, ready }) => name === 'codex' && ready)
    while (!(await isReady())) await shortPause()
  })
  afterAll(async () => {
    for (const { id } of (await gateway.call('listSessions', {})).items) await gateway.call('endSession', { id })
    await expectNoProcessLeft(folders.cwd)
    await gateway.close()
    folders.remove()
    await model.close()
  })

  async function startAndAsk(prompt: string, file: string): Promise<{ session: SessionId; request: Request }> {
    model.script(prompt, shell(`echo ran >> ${file}`), say(`${prompt} is done.`))
    const session = await startSession(prompt)
    for (;;) {
      const [request] = (await gateway.call('listRequests', { session, status: 'pending' })).items
      if (request) return { session, request }
      await shortPause()
    }
  }
  const startSession = async (prompt: string) =>
    (await gateway.call('startSession', { driver: 'codex', cwd: folders.cwd, prompt })).id
  const answer = ({ id, digest }: Request, kind: 'allow' | 'deny') =>
    gateway.call('answerRequest', { id, digest, answer: { kind } })
  const recordOf = (session: SessionId) => join(gateway.home.path, 'codex', session, 'process.json')
  const pidOf = (session: SessionId): number => JSON.parse(readFileSync(recordOf(session), 'utf8')).pid
  const eventsOf = async (session: SessionId) => (await gateway.call('listEvents', { id: session, limit: 500 })).items
  const endingsOf = async (session: SessionId) =>
    (await eventsOf(session)).flatMap(event => (event.type === 'turn.finished' ? [event.ending] : []))
  const textsOf = async (session: SessionId) =>
    (await eventsOf(session)).flatMap(event => (event.type === 'message.added' ? [event.text] : []))
  const readFile = (name: string) => {
    const path = join(folders.cwd, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : null
  }

  it('if the runner and the gateway are killed while a call waits, Codex continues the same call after the answer', async () => {
    const { session, request } = await startAndAsk('first', 'first.txt')
    const pid = pidOf(session)
    await gateway.kill()
    await gateway.killRunner()
    await gateway.start()
    await answer(request, 'allow')
    await expect.poll(() => endingsOf(session), slow).toEqual(['done'])

    expect(readFile('first.txt')).toBe('ran\n')
    expect(pidOf(session)).toBe(pid)
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
    expect(model.hasRead('Your process was lost')).toBe(false)
    expect((await textsOf(session)).filter(text => text !== 'first')).toEqual(['first is done.'])
  })

  it('if the runner is killed while Codex works, the log is complete after the restart', async () => {
    const replied = createSignal()
    model.script('second', [say('I work.'), waitFor(replied.fired), say(' I worked alone.')])
    const session = await startSession('second')
    const { outcome } = await model.waitForCall(({ marker }) => marker === 'second')
    await gateway.killRunner()
    replied.fire()
    expect(await outcome).toBe('sent')
    await expect.poll(() => endingsOf(session), slow).toEqual(['done'])
    expect((await textsOf(session)).filter(text => text !== 'second')).toEqual(['I work. I worked alone.'])
  })

  it('an interrupt while the runner is dead ends the turn of Codex, and nothing runs', async () => {
    const { session } = await startAndAsk('third', 'third.txt')
    await gateway.killRunner()
    await gateway.call('interruptSession', { id: session })
    await expect.poll(() => endingsOf(session), slow).toEqual(['interrupted'])
    expect(readFile('third.txt')).toBeNull()
    expect(existsSync(recordOf(session))).toBe(false)
  })

  it('a runner that stops ends the Codex servers of an earlier runner, and a new server gets the answer', async () => {
    const { session, request } = await startAndAsk('fourth', 'fourth.txt')
    const pid = pidOf(session)
    const starts = async () => (await gateway.call('listRunners', {})).items.map(({ incarnation }) => incarnation)
    const [before = 0] = await starts()
    await gateway.killRunner()
    await expect.poll(starts, slow).toEqual([before + 1])
    expect((await gateway.call('getSession', { id: session })).state).toBe('parked')
    expect(processStartTime(pid)).not.toBe('')
    process.kill(await gateway.runnerStarted(), 'SIGTERM')
    await expect.poll(() => existsSync(recordOf(session)), slow).toBe(false)
    expect(processStartTime(pid)).toBe('')

    await answer(request, 'deny')
    await expect.poll(() => endingsOf(session), slow).toEqual(['done'])
    expect(readFile('fourth.txt')).toBeNull()
    expect(model.hasRead('Your process was lost while you waited for answers')).toBe(true)
  })
})
