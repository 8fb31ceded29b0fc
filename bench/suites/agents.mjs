/** Measures the time that Holdpoint adds to a permission call of Codex and of opencode, and, for comparison, a whole call with a bare client. The agents are real, and their model is scripted. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'
import { codexDriver, opencodeDriver } from '../../packages/drivers/dist/index.js'
import { installAgents } from '../../test/agents/install.mjs'
import { startGateway } from '../kit/gateway.mjs'
import { openHttpClient } from '../kit/http-client.mjs'
import { median, msSince } from '../kit/numbers.mjs'
import { startActor } from '../kit/spawn-actor.mjs'
import { startTimedRunner } from '../kit/timed-runner.mjs'

const agents = [
  { name: 'codex', client: 'CodexClient', driver: codexDriver },
  { name: 'opencode', client: 'OpencodeClient', driver: opencodeDriver },
]

export async function measure({ folder, quick }) {
  const calls = quick ? 6 : 20
  const missing = await installAgents(agents.map(({ name }) => name))
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} could not be installed`)
  const gateway = await startGateway({ home: join(folder, 'home') })
  const person = startActor('person')
  await person.call('watch', { url: gateway.url, token: gateway.token })
  const results = {}
  for (const agent of agents) {
    const bare = await bareDurations(agent, join(folder, `${agent.name}-bare`), calls)
    const { added, whole } = await timedDurations(agent, join(folder, agent.name), calls, gateway)
    for (const { length } of [bare, added, whole])
      if (length !== calls) throw new Error(`measured ${length} calls instead of ${calls}`)
    results[`${agent.name}_overhead_ms`] = { measured: median(added), bare: median(bare) }
    results[`${agent.name}_added_ms`] = { measured: median(whole) - median(bare), bare: median(bare) }
  }
  await person.stop()
  await gateway.stop()
  return results
}

/** The modules of the tests with real agents are TypeScript, which Node 20 cannot import. */
async function importTest(path) {
  const file = fileURLToPath(new URL(`../../test/agents/${path}`, import.meta.url))
  return (await runnerImport(file, { configFile: false })).module
}

/** Starts a model that makes many calls in one turn, and records how long each of them takes. */
async function prepare({ name }, home, calls) {
  const { ModelServer } = await importTest('model/server.ts')
  const { say, shell } = await importTest('model/script.ts')
  const { agentRecipe } = await importTest('recipes.ts')
  const cwd = join(home, 'work')
  mkdirSync(cwd, { recursive: true })
  const model = await ModelServer.start()
  const durations = []
  let sent
  const reply = part => () => {
    if (sent !== undefined) durations.push(msSince(sent))
    sent = process.hrtime.bigint()
    return part
  }
  const touch = Array.from({ length: calls }, (_, number) => reply(shell(`touch many${number}`)))
  model.script('touch many files', ...touch, reply(say('done')))
  const recipe = agentRecipe(name, { model: model.url, home, cwd })
  recipe.prepare()
  return { model, recipe, cwd, durations }
}

/** Runs the calls without Holdpoint, in a program that allows every call at once. */
async function bareDurations(agent, home, calls) {
  const { model, recipe, cwd, durations } = await prepare(agent, home, calls)
  const { [agent.client]: Client } = await importTest(`clients/${agent.name}.ts`)
  const client = await Client.start(recipe, cwd, { decide: () => 'allow', choose: () => '' })
  await client.prompt('touch many files')
  await client.close()
  await model.close()
  return durations
}

/** Runs the calls in a session. Returns the time from each permission call until its answer is sent back, and the time of each whole call. */
async function timedDurations({ name, driver, ...agent }, home, calls, gateway) {
  const { model, recipe, cwd, durations } = await prepare({ name, ...agent }, home, calls)
  const timed = `${name}-timed`
  const runner = await startTimedRunner({
    ...gateway,
    name: timed,
    driver: driver({ folder: join(home, 'driver'), env: recipe.env }),
  })
  const http = await openHttpClient(gateway.url)
  const get = path => http.get(path, gateway.token)
  while (!(await get('/drivers')).items.some(found => found.name === timed)) await sleep(20)
  const session = { driver: timed, cwd, prompt: 'touch many files', parkAfterMs: null }
  const { id } = await http.post('/sessions', gateway.token, session)
  while ((await get(`/sessions/${id}`)).lastTurn === undefined) await sleep(50)
  await runner.stop()
  http.close()
  await model.close()
  return { added: runner.durations, whole: durations }
}
