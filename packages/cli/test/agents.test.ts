import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EventRecorder, isEvent, withTimeout } from '../../../test/support/event-recorder.ts'
import { closeGateways, GatewayProcess, shortPause, startGateway } from '../../../test/support/gateway.ts'
import { runCli } from './support/cli-process.ts'

/** A folder outside the repository, from which Node cannot resolve @holdpoint/*. */
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-agents-'))
})
afterEach(async () => {
  await closeGateways()
  rmSync(folder, { recursive: true })
})

function writeModule(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
/** Writes an agent module whose `run` has this body. */
function writeAgent(name: string, body: string): string {
  const text = `import { approval, defineAgent, say, step } from '@holdpoint/drivers'
    export default defineAgent({ name: '${name}', title: '${name}', async *run(turn) { ${body} } })`
  return writeModule(`${name}.mjs`, text)
}
async function waitForDriver(gateway: GatewayProcess, name: string) {
  for (;;) {
    const driver = (await gateway.call('listDrivers', {})).items.find(item => item.name === name)
    if (driver) return driver
    await shortPause()
  }
}
async function startSession(gateway: GatewayProcess, driver: string) {
  await waitForDriver(gateway, driver)
  return (await gateway.call('startSession', { driver, prompt: 'go' })).id
}
const runners = ['process', 'inline'] as const
const readLog = (gateway: GatewayProcess, runner: (typeof runners)[number]) =>
  runner === 'inline' ? gateway.stderr : readFileSync(gateway.home.runnerLog, 'utf8')
async function waitForLogEntry(gateway: GatewayProcess, runner: (typeof runners)[number], event: string) {
  for (;;) {
    const lines = readLog(gateway, runner).split('\n').slice(0, -1)
    const found = lines.map(line => JSON.parse(line)).find(line => line.event === event)
    if (found) return found
    await shortPause()
  }
}

describe('the agent in the README', () => {
  it('the agent in the README runs from any folder without changes', async () => {
    const readme = readFileSync(resolve(import.meta.dirname, '../../../README.md'), 'utf8')
    const code = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
    const config = /holdpoint\.config\.json: (\{.*\})$/m.exec(code)?.[1] ?? ''
    const gateway = new GatewayProcess({ config: JSON.parse(config) })
    mkdirSync(join(gateway.folder, 'agents'))
    writeFileSync(join(gateway.folder, /^\/\/ (\S+)/.exec(code)?.[1] ?? ''), code)
    await gateway.start()
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    const id = await startSession(gateway, 'cleanup')
    const { value: first } = await withTimeout(recorder.waitFor(isEvent(id, 'request.opened')))
    await gateway.call('answerRequest', { id: first.id, digest: first.digest, answer: { kind: 'deny', reason: 'no' } })
    await withTimeout(recorder.waitFor(isEvent(id, 'turn.finished')))
    expect(
      recorder.eventsOf(id).some(event => event.type === 'message.added' && event.text.includes('Left alone: no')),
    ).toBe(true)
    await recorder.close()
  })
})

describe.each(runners)('a faulty agent in a runner (%s)', runner => {
  it('a faulty agent in a runner cannot stop the runner or another session with an unhandled rejection or a throwing timer', async () => {
    const agents = {
      good: writeAgent('good', `yield say((yield* approval('May I?')).allowed ? 'allowed' : 'denied')`),
      bad: writeAgent(
        'bad',
        `Promise.reject(new Error('stray \\u001b[31m promise'))
         setTimeout(() => { throw new Error('stray timer') }, 1)
         yield* approval('Well?')`,
      ),
    }
    const gateway = await startGateway({ runner, config: { agents } })
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    const good = await startSession(gateway, 'good')
    const { value: request } = await withTimeout(recorder.waitFor(isEvent(good, 'request.opened')))
    await withTimeout(recorder.waitFor(isEvent(await startSession(gateway, 'bad'), 'request.opened')))
    expect(await waitForLogEntry(gateway, runner, 'unhandledRejection')).toMatchObject({
      message: 'stray \\u{1b}[31m promise',
    })
    expect(await waitForLogEntry(gateway, runner, 'uncaughtException')).toMatchObject({ message: 'stray timer' })
    const { id, digest } = request
    await gateway.call('answerRequest', { id, digest, answer: { kind: 'allow' } })
    await withTimeout(recorder.waitFor(isEvent(good, 'turn.finished')))
    expect((await gateway.call('listRunners', {})).items.map(item => item.incarnation)).toEqual([1])
    await recorder.close()
  })

  it('a faulty agent in a runner has its console output logged as JSON lines with invisible characters escaped', async () => {
    const text = 'two\\nlines \\u001b]0;title\\u0007 \\u202e'
    const agents = { loud: writeAgent('loud', `console.log('${text}'); console.error('also'); yield 'x'`) }
    const gateway = await startGateway({ runner, config: { agents } })
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    await withTimeout(recorder.waitFor(isEvent(await startSession(gateway, 'loud'), 'turn.finished')))
    expect(await waitForLogEntry(gateway, runner, 'console')).toMatchObject({
      stream: 'stdout',
      message: 'two\\u{a}lines \\u{1b}]0;title\\u{7} \\u{202e}',
    })
    expect(readLog(gateway, runner)).not.toMatch(/[^\P{C}\n]/u)
    await recorder.close()
  })

  it('F19: an agent’s environment contains none of Holdpoint’s variables', async () => {
    const names = `Object.keys(process.env).filter(name => name.startsWith('HOLDPOINT_'))`
    const agents = { nosy: writeAgent('nosy', `yield 'variables: ' + ${names}.join()`) }
    const store = `file:${join(folder, 'kept.db')}`
    const env = {
      HOLDPOINT_TOKEN: 'hp_secret',
      HOLDPOINT_STORE: store,
      HOLDPOINT_URL: 'http://x',
      HOLDPOINT_HOST: '127.0.0.1',
    }
    const gateway = await startGateway({ runner, config: { agents }, env })
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    const id = await startSession(gateway, 'nosy')
    await withTimeout(recorder.waitFor(isEvent(id, 'turn.finished')))
    const messages = recorder.eventsOf(id).flatMap(event => (event.type === 'message.added' ? event.text : []))
    expect(messages).toEqual(['variables: '])
    await recorder.close()
  })

  it('an agent that cannot be loaded is listed as not ready with the reason, and other drivers stay ready', async () => {
    const agents = {
      good: writeAgent('good', `yield 'here'`),
      lost: join(folder, 'nowhere.mjs'),
      broken: writeModule('broken.mjs', 'export default {'),
      vague: writeModule('vague.mjs', `export default { name: 'vague', title: '${'t'.repeat(400)}', run() {} }`),
    }
    const gateway = await startGateway({ runner, config: { agents } })
    expect(await waitForDriver(gateway, 'good')).toMatchObject({ ready: true })
    expect(await waitForDriver(gateway, 'rehearsal')).toMatchObject({ ready: true })
    for (const [name, why] of [
      ['lost', /nowhere\.mjs cannot be loaded: Cannot find module/],
      ['broken', /broken\.mjs cannot be loaded: /],
      ['vague', /vague\.mjs exports no agent: .*title/],
    ] as const) {
      expect(await waitForDriver(gateway, name)).toMatchObject({ ready: false, missing: expect.stringMatching(why) })
      await expect(gateway.call('startSession', { driver: name, prompt: 'go' })).rejects.toMatchObject({
        code: 'no_runner',
        message: expect.stringMatching(why),
      })
    }
    await expect.poll(() => gateway.stderr).toMatch(/"vague" is not ready/)
    await expect.poll(() => gateway.stderr).toMatch(/^holdpoint: The agent "lost" is not ready: .*nowhere\.mjs/m)
    expect(gateway.stderr).not.toMatch(/"good"|"rehearsal"/)
  })
})

it('a runner stops on SIGTERM even if an agent left a timer running', async () => {
  const agents = { restless: writeAgent('restless', `setInterval(() => {}, 1000); yield* approval('Well?')`) }
  const gateway = await startGateway({ runner: 'none', config: { agents } })
  const running = runCli(['runner', '--url', gateway.url, '--home', gateway.home.path], { cwd: gateway.folder })
  const recorder = await EventRecorder.connect(gateway.url, gateway.token)
  await withTimeout(recorder.waitFor(isEvent(await startSession(gateway, 'restless'), 'request.opened')))
  process.kill(await gateway.runnerStarted(), 'SIGTERM')
  expect(await withTimeout(running)).toMatchObject({ code: 0 })
  await recorder.close()
})
