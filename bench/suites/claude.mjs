/** Measures the cost that Holdpoint adds to Claude Code: the time per permission call, the memory while a request is pending, and the time to resume. The CLI is real, and its model is scripted. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '@anthropic-ai/claude-agent-sdk'
import { scriptedEnvironment, startScriptedModel } from '../../packages/drivers/dist/claude/setup/scripted-model.js'
import { claudeDriver } from '../../packages/drivers/dist/index.js'
import { startGateway } from '../kit/gateway.mjs'
import { openHttpClient } from '../kit/http-client.mjs'
import { median, msSince } from '../kit/numbers.mjs'
import { rssMbOf } from '../kit/process-stats.mjs'
import { startActor } from '../kit/spawn-actor.mjs'
import { startTimedRunner } from '../kit/timed-runner.mjs'

const liveSessions = 3
const timedDriver = 'claude-timed'

export async function measure({ folder, quick }) {
  const calls = quick ? 6 : 20
  const parked = quick ? 5 : 20
  const workspace = { home: join(folder, 'person'), cwd: join(folder, 'work'), durations: [] }
  for (const path of [workspace.home, workspace.cwd]) mkdirSync(path)
  const model = await startScriptedModel(scriptOf(workspace, calls))
  Object.assign(process.env, scriptedEnvironment(model.url, workspace.home))
  const bareDurations = await bareTurn(workspace)
  const person = startActor('person')
  const client = await openClient(folder)
  // The first session that parks loads the SDK and runs the self-test, so do not measure this session.
  await resume(client, workspace, await park(client, workspace, 'first'))

  // The process ends with the turn, shortly after the command has run.
  while (client.processes().length > 0) await sleep(20)
  const memory = { before: client.memoryMb() }
  const running = []
  for (let n = 0; n < liveSessions; n++) running.push(await startAndWait(client, workspace, `live${n}`, null))
  memory.live = (client.memoryMb() - memory.before) / liveSessions
  memory.process = median(client.processes().map(rssMbOf))
  for (const { id } of running) await client.post(`/sessions/${id}/end`)
  while (client.processes().length > 0) await sleep(20)

  memory.before = client.memoryMb()
  const parkedSessions = []
  for (let n = 0; n < parked; n++) parkedSessions.push(await park(client, workspace, `parked${n}`))
  if (client.processes().length > 0) throw new Error('a parked session still has a process')
  memory.parked = Math.max(0, client.memoryMb() - memory.before) / parked
  const resumes = []
  for (const session of parkedSessions.slice(0, 5)) resumes.push(await resume(client, workspace, session))

  await person.call('watch', { url: client.gateway.url, token: client.gateway.token })
  const durations = await timedTurn(client, workspace, folder)
  if (durations.length !== calls) throw new Error(`measured ${durations.length} calls instead of ${calls}`)
  await person.stop()
  await client.close()
  await model.close()
  return {
    claude_overhead_ms: { measured: median(durations), bare: median(bareDurations) },
    waiting_live_mb: { measured: memory.live, bare: memory.process },
    waiting_parked_mb: { measured: memory.parked, bare: memory.process },
    revive_ms: { measured: median(resumes), bare: workspace.startMs },
  }
}

/** A scripted model that makes one or many tool calls in a turn, and records how long each of the many calls takes. */
function scriptOf(workspace, calls) {
  let sent
  return ({ messages, tools }) => {
    if (!tools?.some(tool => tool.name === 'Bash')) return [{ type: 'text', text: 'a title' }]
    const text = JSON.stringify(messages)
    const done = text.split('"type":"tool_result"').length - 1
    const [, name] = /play (\w+)/.exec(text)
    // Measure only the turn with many calls, because other sessions use the same model.
    if (name === 'many' && done > 0) workspace.durations.push(msSince(sent))
    if (name === 'many') sent = process.hrtime.bigint()
    if (done >= (name === 'many' ? calls : 1)) return [{ type: 'text', text: 'done' }]
    const command = `touch ${join(workspace.cwd, name === 'many' ? `many${done}` : name)}`
    return [{ type: 'tool_use', id: `toolu_${name}_${done}`, name: 'Bash', input: { command, description: 'touch' } }]
  }
}

/** Runs the same calls without Holdpoint, in a program that allows every call at once. */
async function bareTurn(workspace) {
  workspace.durations = []
  const start = process.hrtime.bigint()
  const noop = [{ hooks: [async () => ({})] }]
  const hooks = { PreToolUse: noop, PostToolUse: noop }
  const options = { cwd: workspace.cwd, permissionMode: 'default', includePartialMessages: true, hooks }
  const canUseTool = async (_tool, updatedInput) => {
    workspace.startMs ??= msSince(start)
    return { behavior: 'allow', updatedInput }
  }
  let end
  const open = new Promise(resolve => {
    end = resolve
  })
  async function* input() {
    yield { type: 'user', message: { role: 'user', content: 'play many' }, parent_tool_use_id: null }
    await open
  }
  for await (const message of query({ prompt: input(), options: { ...options, canUseTool } }))
    if (message.type === 'result') end()
  return [...workspace.durations]
}

async function openClient(folder) {
  const home = join(folder, 'home')
  const gateway = await startGateway({ home, runner: 'process' })
  const http = await openHttpClient(gateway.url)
  const runner = await gateway.runnerPid()
  const get = path => http.get(path, gateway.token)
  while (!(await get('/drivers')).items.some(driver => driver.name === 'claude')) await sleep(20)
  const sessions = join(home, 'claude')
  const processes = () =>
    (existsSync(sessions) ? readdirSync(sessions) : [])
      .map(id => join(sessions, id, 'process.json'))
      .filter(file => existsSync(file))
      .map(file => JSON.parse(readFileSync(file, 'utf8')).pid)
  return {
    gateway,
    get,
    post: (path, body) => http.post(path, gateway.token, body),
    processes,
    memoryMb: () => [gateway.pid, runner, ...processes()].reduce((sum, pid) => sum + rssMbOf(pid), 0),
    async close() {
      http.close()
      await gateway.stop()
    },
  }
}

async function startAndWait(client, workspace, name, parkAfterMs) {
  const session = { driver: 'claude', cwd: workspace.cwd, prompt: `play ${name}`, parkAfterMs }
  const { id } = await client.post('/sessions', session)
  for (;;) {
    const { items } = await client.get(`/requests?status=pending&session=${id}`)
    if (items.length > 0) return { id, name, request: items[0] }
    await sleep(20)
  }
}
async function park(client, workspace, name) {
  const asked = await startAndWait(client, workspace, name, 0)
  while ((await client.get(`/sessions/${asked.id}`)).state !== 'parked') await sleep(20)
  return asked
}
/** Measures the time from the answer until the command has run. */
async function resume(client, workspace, { name, request }) {
  const start = process.hrtime.bigint()
  await client.post(`/requests/${request.id}/answer`, { digest: request.digest, answer: { kind: 'allow' } })
  while (!existsSync(join(workspace.cwd, name))) await sleep(5)
  return msSince(start)
}
/** Runs the turn with a runner in this process. The runner measures the time from the CLI's permission call until the answer is sent back. */
async function timedTurn(client, workspace, folder) {
  const runner = await startTimedRunner({
    ...client.gateway,
    name: timedDriver,
    driver: claudeDriver({ folder: join(folder, 'timed') }),
  })
  while (!(await client.get('/drivers')).items.some(driver => driver.name === timedDriver)) await sleep(20)
  const session = { driver: timedDriver, cwd: workspace.cwd, prompt: 'play many', parkAfterMs: null }
  const { id } = await client.post('/sessions', session)
  while ((await client.get(`/sessions/${id}`)).lastTurn === undefined) await sleep(50)
  await runner.stop()
  return runner.durations
}
