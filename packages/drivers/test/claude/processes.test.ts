/** Runs Claude Code with the gateway and the runner as separate processes, which the tests kill. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Request, SessionId } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../../test/support/gateway.ts'
import { isAlive, waitUntil, wrapClaude } from './claude-fixture.ts'
import { bash, claudeEnvironment, type ModelScript, say, steps, TestModel, toolUse } from './model.ts'

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
/** Returns the content of the transcript in the CLI's own folder. */
const cliTranscript = () => {
  const projects = join(home, 'config', 'projects')
  const files = readdirSync(projects, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.jsonl'))
  return files.map(name => readFileSync(join(projects, name), 'utf8')).join('')
}

/** Starts a gateway, a runner, and a session with a pending request. */
async function openRequest(
  command: string,
  script: ModelScript = steps([bash(command)]),
  moreEnv: Readonly<Record<string, string>> = {},
): Promise<{ id: SessionId; request: Request; pid: number }> {
  model = await TestModel.open(script)
  const env = { ...claudeEnvironment(model, home), ...moreEnv }
  const defined = Object.entries(env).filter(([, value]) => value !== undefined)
  gateway = await startGateway({ env: Object.fromEntries(defined) as Record<string, string> })
  await waitForDriver()
  const { id } = await gateway.call('startSession', { driver: 'claude', cwd, prompt: 'go', parkAfterMs: null })
  const request = await waitForPending(id)
  const folder = join(gateway.home.path, 'claude', id)
  const { pid } = JSON.parse(readFileSync(join(folder, 'process.json'), 'utf8'))
  const contains = (name: string) =>
    name.endsWith('.jsonl') && readFileSync(join(folder, name), 'utf8').includes('toolu_1')
  await waitUntil(() => readdirSync(folder).some(contains))
  return { id, request, pid }
}
async function waitForDriver(): Promise<void> {
  while (!(await gateway.call('listDrivers', {})).items.some(driver => driver.name === 'claude' && driver.ready))
    await shortDelay()
}
async function waitForPending(session: SessionId): Promise<Request> {
  for (;;) {
    const [request] = (await gateway.call('listRequests', { session, status: 'pending' })).items
    if (request) return request
    await shortDelay()
  }
}
const shortDelay = () => new Promise(resolve => setTimeout(resolve, 20))
const allow = ({ id, digest }: Request) => gateway.call('answerRequest', { id, digest, answer: { kind: 'allow' } })
async function waitForIdle(id: SessionId): Promise<void> {
  while ((await gateway.call('getSession', { id })).state !== 'idle') await shortDelay()
}

describe('Claude Code with separate gateway and runner processes', () => {
  it('Claude Code with separate gateway and runner processes keeps running when the gateway is killed, and a command that is allowed after the restart runs once', async () => {
    const { id, request, pid } = await openRequest('echo ran >> ran.txt')
    const callCount = model.calls.length
    await gateway.kill()
    expect(isAlive(pid)).toBe(true)
    await gateway.start()
    await allow(request)
    await waitForIdle(id)
    expect(ran()).toBe('ran\n')
    expect(isAlive(pid)).toBe(true)
    expect(model.calls).toHaveLength(callCount + 1)
  })

  it('Claude Code with separate gateway and runner processes leaves no process running and does not call the model when its runner is killed, and a command that is allowed later runs once', async () => {
    const { id, request, pid } = await openRequest('echo ran >> ran.txt')
    const callCount = model.calls.length
    await gateway.killRunner()
    await waitUntil(() => !isAlive(pid))
    expect(model.calls).toHaveLength(callCount)
    expect((await gateway.call('getRequest', { id: request.id })).status).toBe('pending')
    await allow(request)
    await waitForIdle(id)
    expect(ran()).toBe('ran\n')
    expect(model.toolResult()).not.toContain('stream closed')
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
  })

  it('Claude Code gets a summary of the decisions if it outlived its runner and recorded the waiting call as failed, and an equal call runs once', async () => {
    const script: ModelScript = ({ results, conversation }) => {
      const isAgain = conversation.includes('make exactly the same call again')
      if (results.length > (isAgain ? 1 : 0)) return [say('done')]
      return [bash('echo ran >> ran.txt', `toolu_${results.length + 1}`)]
    }
    const { id, request } = await openRequest('', script, { HOLDPOINT_CLAUDE: wrapClaude('"$claude" "$@"; exit $?') })
    // Kill the gateway first, because it would restart its runner, and the next runner ends the CLI.
    await gateway.kill()
    await gateway.killRunner()
    await waitUntil(() => cliTranscript().includes('stream closed'))
    await gateway.start()
    await allow(request)
    await waitForIdle(id)
    expect(ran()).toBe('ran\n')
    expect(model.toolResult()).toContain('stream closed')
    expect(model.calls.at(-1)?.results.map(result => result.failed)).toEqual([true, false])
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
  })

  it('Claude Code with separate gateway and runner processes resumes a turn that it started by itself after its runner is killed, and a command that is allowed later runs once', async () => {
    const backgroundTask = toolUse(
      'Bash',
      { command: 'sleep 0.2', description: 'b', run_in_background: true },
      'toolu_beside',
    )
    const script: ModelScript = ({ results, conversation }) => {
      if (results.length === 0) return [backgroundTask]
      return results.length === 1 && conversation.includes('<task-notification>')
        ? [bash('echo ran >> ran.txt')]
        : [say('done')]
    }
    const { id, request, pid } = await openRequest('', script)
    expect((await gateway.call('getSession', { id })).state).toBe('working')
    await gateway.killRunner()
    await waitUntil(() => !isAlive(pid))
    expect((await gateway.call('getRequest', { id: request.id })).status).toBe('pending')
    await allow(request)
    await waitForIdle(id)
    expect(ran()).toBe('ran\n')
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
  })

  it('a running call of Claude Code is reported as unfinished in the runner log and in the session log when its runner is stopped', async () => {
    const { id, request } = await openRequest('echo $$ > pid.txt; echo ran >> ran.txt; sleep 60')
    await allow(request)
    await waitUntil(() => ran() !== null)
    process.kill(gateway.runnerPid()!, 'SIGTERM')
    const lines = () => readFileSync(gateway.home.runnerLog, 'utf8').split('\n')
    await waitUntil(() => lines().some(line => line.includes('session.unfinished') && line.includes(id)))
    const { items } = await gateway.call('listEvents', { id })
    const error = items.find(event => event.type === 'error.raised')
    expect(error).toMatchObject({ code: 'unfinished', message: expect.stringContaining('outcome is unknown') })
    await waitForIdle(id)
    expect(ran()).toBe('ran\n')
  })

  it('Claude Code with separate gateway and runner processes does not run a command twice if its runner is killed while the command runs, and the command’s shell ends', async () => {
    const { id, request } = await openRequest('echo $$ > pid.txt; echo ran >> ran.txt; sleep 60')
    await allow(request)
    await waitUntil(() => ran() !== null)
    await gateway.killRunner()
    await waitForIdle(id)
    expect(ran()).toBe('ran\n')
    expect(model.toolResult()).toContain('its outcome is unknown')
    expect((await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('unknown')
    await waitUntil(() => !isAlive(Number(readFileSync(join(cwd, 'pid.txt'), 'utf8'))))
  })
})
