import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Request, SessionId } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../../test/support/gateway.ts'
import { scriptedEnvironment } from '../../src/claude/setup/scripted-model.ts'
import { isAlive, waitUntil } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps, TestModel, toolUse } from './model.ts'

let home: string
let cwd: string
let model: TestModel
let gateway: GatewayProcess
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdpoint-claude-'))
  cwd = join(home, 'work')
  mkdirSync(cwd)
})
afterEach(async () => {
  await closeGateways()
  await model.server.close()
  rmSync(home, { recursive: true, force: true })
})

const ran = () => (existsSync(join(cwd, 'ran.txt')) ? readFileSync(join(cwd, 'ran.txt'), 'utf8') : null)

/** A gateway with its runner, and a Claude Code that has asked. */
async function ask(
  command: string,
  script: ModelScript = steps([bash(command)]),
): Promise<{ id: SessionId; request: Request; pid: number }> {
  model = await TestModel.open(script)
  const plain = Object.entries(scriptedEnvironment(model.server.url, home)).filter(([, value]) => value !== undefined)
  gateway = await startGateway({ env: Object.fromEntries(plain) as Record<string, string> })
  await ready()
  const { id } = await gateway.call('startSession', { driver: 'claude', cwd, prompt: 'go', parkAfterMs: null })
  const request = await pending(id)
  const folder = join(gateway.home.path, 'claude', id)
  const { pid } = JSON.parse(readFileSync(join(folder, 'process.json'), 'utf8'))
  const holds = (name: string) =>
    name.endsWith('.jsonl') && readFileSync(join(folder, name), 'utf8').includes('toolu_1')
  await waitUntil(() => readdirSync(folder).some(holds))
  return { id, request, pid }
}
async function ready(): Promise<void> {
  while (!(await gateway.call('listDrivers', {})).items.some(driver => driver.name === 'claude' && driver.ready))
    await glance()
}
async function pending(session: SessionId): Promise<Request> {
  for (;;) {
    const [request] = (await gateway.call('listRequests', { session, status: 'pending' })).items
    if (request) return request
    await glance()
  }
}
const glance = () => new Promise(resolve => setTimeout(resolve, 20))
const allow = ({ id, digest }: Request) => gateway.call('answerRequest', { id, digest, answer: { kind: 'allow' } })
async function idle(id: SessionId): Promise<void> {
  while ((await gateway.call('getSession', { id })).state !== 'idle') await glance()
}

describe('with processes of their own', () => {
  it('a killed gateway is not noticed by Claude Code: answered after its return, the command runs once', async () => {
    const { id, request, pid } = await ask('echo ran >> ran.txt')
    const calls = model.calls.length
    await gateway.kill()
    expect(isAlive(pid)).toBe(true)
    await gateway.start()
    await allow(request)
    await idle(id)
    expect(ran()).toBe('ran\n')
    expect(isAlive(pid)).toBe(true)
    expect(model.calls).toHaveLength(calls + 1)
  })

  it('a killed runner leaves no orphan and no word to the model; answered later, the command runs once', async () => {
    const { id, request, pid } = await ask('echo ran >> ran.txt')
    const calls = model.calls.length
    await gateway.killRunner()
    await waitUntil(() => !isAlive(pid))
    expect(model.calls).toHaveLength(calls)
    expect((await gateway.call('getRequest', { id: request.id })).status).toBe('pending')
    await allow(request)
    await idle(id)
    expect(ran()).toBe('ran\n')
    expect(model.toolResult()).not.toContain('stream closed')
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
  })

  it('a runner that is killed while Claude Code waits in a turn that it began by itself loses nothing: answered later, the command runs once', async () => {
    const beside = toolUse('Bash', { command: 'sleep 0.2', description: 'b', run_in_background: true }, 'toolu_beside')
    const script: ModelScript = ({ results, conversation }) => {
      if (results.length === 0) return [beside]
      return results.length === 1 && conversation.includes('<task-notification>')
        ? [bash('echo ran >> ran.txt')]
        : [say('done')]
    }
    const { id, request, pid } = await ask('', script)
    expect((await gateway.call('getSession', { id })).state).toBe('working')
    await gateway.killRunner()
    await waitUntil(() => !isAlive(pid))
    expect((await gateway.call('getRequest', { id: request.id })).status).toBe('pending')
    await allow(request)
    await idle(id)
    expect(ran()).toBe('ran\n')
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
  })

  it('a runner that is told to stop says in its log and in the session’s what it leaves unfinished', async () => {
    const { id, request } = await ask('echo $$ > pid.txt; echo ran >> ran.txt; sleep 60')
    await allow(request)
    await waitUntil(() => ran() !== null)
    process.kill(gateway.runnerPid()!, 'SIGTERM')
    const lines = () => readFileSync(gateway.home.runnerLog, 'utf8').split('\n')
    await waitUntil(() => lines().some(line => line.includes('session.unfinished') && line.includes(id)))
    const { items } = await gateway.call('listEvents', { id })
    const raised = items.find(event => event.type === 'error.raised')
    expect(raised).toMatchObject({ code: 'unfinished', message: expect.stringContaining('outcome is unknown') })
    await idle(id)
    expect(ran()).toBe('ran\n')
  })

  it('a runner that is killed while the command runs does not run it twice, and its shell ends', async () => {
    const { id, request } = await ask('echo $$ > pid.txt; echo ran >> ran.txt; sleep 60')
    await allow(request)
    await waitUntil(() => ran() !== null)
    await gateway.killRunner()
    await idle(id)
    expect(ran()).toBe('ran\n')
    expect(model.toolResult()).toContain('its outcome is unknown')
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('unknown')
    await waitUntil(() => !isAlive(Number(readFileSync(join(cwd, 'pid.txt'), 'utf8'))))
  })
})
