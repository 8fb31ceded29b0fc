/** What Holdpoint costs a Claude Code that asks: time on the way of an answer, memory while it waits, time to come back. The CLI is real; its model follows a script. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '@anthropic-ai/claude-agent-sdk'
import { scriptedEnvironment, startModel } from '../../packages/drivers/dist/claude/setup/scripted-model.js'
import { startGateway } from '../kit/gateway.mjs'
import { median, msSince } from '../kit/numbers.mjs'
import { rssMbOf } from '../kit/process.mjs'
import { enter } from '../kit/spawn-actor.mjs'
import { startTimedRunner, timedDriver } from '../kit/timed-claude.mjs'
import { openWire } from '../kit/wire.mjs'

const live = 3

export async function measure({ folder, quick }) {
  const calls = quick ? 6 : 20
  const parked = quick ? 5 : 20
  const place = { home: join(folder, 'person'), cwd: join(folder, 'work'), gaps: [] }
  for (const path of [place.home, place.cwd]) mkdirSync(path)
  const model = await startModel(scriptOf(place, calls))
  Object.assign(process.env, scriptedEnvironment(model.url, place.home))
  const bareGaps = await bareTurn(place)
  const person = enter('person')
  const hall = await openHall(folder)
  // The self-test and the SDK itself are loaded once, by the first session that parks.
  await revive(hall, place, await park(hall, place, 'first'))

  // Its process goes with its turn, a moment after the command has run.
  while (hall.processes().length > 0) await sleep(20)
  const waiting = { before: hall.memory() }
  const awake = []
  for (let n = 0; n < live; n++) awake.push(await wait(hall, place, `live${n}`, null))
  waiting.live = (hall.memory() - waiting.before) / live
  waiting.process = median(hall.processes().map(rssMbOf))
  for (const { id } of awake) await hall.post(`/sessions/${id}/end`)
  while (hall.processes().length > 0) await sleep(20)

  waiting.before = hall.memory()
  const asleep = []
  for (let n = 0; n < parked; n++) asleep.push(await park(hall, place, `parked${n}`))
  if (hall.processes().length > 0) throw new Error('a parked session has a process')
  waiting.parked = Math.max(0, hall.memory() - waiting.before) / parked
  const revivals = []
  for (const one of asleep.slice(0, 5)) revivals.push(await revive(hall, place, one))

  await person.call('watch', { url: hall.gateway.url, token: hall.gateway.token })
  const gaps = await timedTurn(hall, place, folder)
  if (gaps.length !== calls) throw new Error(`timed ${gaps.length} calls instead of ${calls}`)
  await person.leave()
  await hall.close()
  await model.close()
  return {
    claude_overhead_ms: { measured: median(gaps), bare: median(bareGaps) },
    waiting_live_mb: { measured: waiting.live, bare: waiting.process },
    waiting_parked_mb: { measured: waiting.parked, bare: waiting.process },
    revive_ms: { measured: median(revivals), bare: place.startMs },
  }
}

/** Many calls in one turn, or one; the model notes how long each is on its way. */
function scriptOf(place, calls) {
  let sent
  return ({ messages, tools }) => {
    if (!tools?.some(tool => tool.name === 'Bash')) return [{ type: 'text', text: 'a title' }]
    const text = JSON.stringify(messages)
    const done = text.split('"type":"tool_result"').length - 1
    const [, word] = /play (\w+)/.exec(text)
    // Only the turn of many calls is timed: sessions that come back meanwhile ask the same model.
    if (word === 'many' && done > 0) place.gaps.push(msSince(sent))
    if (word === 'many') sent = process.hrtime.bigint()
    if (done >= (word === 'many' ? calls : 1)) return [{ type: 'text', text: 'done' }]
    const command = `touch ${join(place.cwd, word === 'many' ? `many${done}` : word)}`
    return [{ type: 'tool_use', id: `toolu_${word}_${done}`, name: 'Bash', input: { command, description: 'touch' } }]
  }
}

/** The same calls, allowed at once by a program that does nothing else. */
async function bareTurn(place) {
  place.gaps = []
  const start = process.hrtime.bigint()
  const silent = [{ hooks: [async () => ({})] }]
  const hooks = { PreToolUse: silent, PostToolUse: silent }
  const options = { cwd: place.cwd, permissionMode: 'default', includePartialMessages: true, hooks }
  const canUseTool = async (_tool, updatedInput) => {
    place.startMs ??= msSince(start)
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
  return [...place.gaps]
}

async function openHall(folder) {
  const home = join(folder, 'home')
  const gateway = await startGateway({ home, runner: 'process' })
  const wire = await openWire(gateway.url)
  const runner = await gateway.runnerPid()
  const get = path => wire.get(path, gateway.token)
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
    post: (path, body) => wire.post(path, gateway.token, body),
    processes,
    memory: () => [gateway.pid, runner, ...processes()].reduce((sum, pid) => sum + rssMbOf(pid), 0),
    async close() {
      wire.close()
      await gateway.stop()
    },
  }
}

async function wait(hall, place, word, parkAfterMs) {
  const session = { driver: 'claude', cwd: place.cwd, prompt: `play ${word}`, parkAfterMs }
  const { id } = await hall.post('/sessions', session)
  for (;;) {
    const { items } = await hall.get(`/requests?status=pending&session=${id}`)
    if (items.length > 0) return { id, word, request: items[0] }
    await sleep(20)
  }
}
async function park(hall, place, word) {
  const asked = await wait(hall, place, word, 0)
  while ((await hall.get(`/sessions/${asked.id}`)).state !== 'parked') await sleep(20)
  return asked
}
/** From the answer to the command running. */
async function revive(hall, place, { word, request }) {
  const start = process.hrtime.bigint()
  await hall.post(`/requests/${request.id}/answer`, { digest: request.digest, answer: { kind: 'allow' } })
  while (!existsSync(join(place.cwd, word))) await sleep(5)
  return msSince(start)
}
/** Its own runner, so that the time is taken where the CLI's call arrives and where its answer leaves. */
async function timedTurn(hall, place, folder) {
  const runner = startTimedRunner({ url: hall.gateway.url, home: join(folder, 'home'), folder: join(folder, 'timed') })
  while (!(await hall.get('/drivers')).items.some(driver => driver.name === timedDriver)) await sleep(20)
  const session = { driver: timedDriver, cwd: place.cwd, prompt: 'play many', parkAfterMs: null }
  const { id } = await hall.post('/sessions', session)
  while ((await hall.get(`/sessions/${id}`)).state !== 'idle') await sleep(50)
  await runner.stop()
  return runner.gaps
}
