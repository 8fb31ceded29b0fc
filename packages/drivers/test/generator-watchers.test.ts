/** Tests watchers with generator agents, on a real gateway that reads the watchers from a file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AgentYield,
  approval,
  choice,
  defineAgent,
  generatorDriver,
  StepFailed,
  setVariable,
  step,
  type Turn,
} from '../src/index.ts'
import { RunnerFixture } from './runner-fixture.ts'
import { type WatchMachine, watchMachine } from './watch-machine.ts'

let home: string
let watchers: WatchMachine
let fixture: RunnerFixture
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'holdpoint-generator-watchers-'))
  watchers = watchMachine(home)
})
afterEach(async () => {
  await fixture.close()
  rmSync(home, { recursive: true })
})

type Run = (turn: Turn) => AsyncGenerator<AgentYield, void, unknown>
const driverOf = (run: Run) => generatorDriver(defineAgent({ name: 'a', title: 'A', run }))

async function play(file: object, run: Run) {
  watchers.write(file)
  fixture = await RunnerFixture.open({ machine: watchers.machine })
  const runner = fixture.startRunner([driverOf(run)])
  const id = await fixture.startSession('a', { cwd: home })
  return { id, runner }
}
async function values(id: Awaited<ReturnType<typeof play>>['id']) {
  const { items } = await fixture.asPerson('listVariables', { id })
  return Object.fromEntries(items.map(({ name, value }) => [name, value]))
}

describe('watchers with a generator agent', () => {
  it('watchers give a generator agent their texts before its message, and deny its asks with a reason', async () => {
    const watch = [
      { name: 'context', on: 'start', do: { say: 'Tests: npm test.' } },
      { name: 'no-deploys', on: 'before', tool: 'deploy', do: { deny: 'No deploys today.' } },
      { name: 'no-questions', on: 'before', action: 'question', do: { deny: 'Decide yourself.' } },
    ]
    await play({ watch }, async function* (turn) {
      yield `${turn.text};`
      const answer = yield* approval('Deploy?', { tool: 'deploy', input: {} })
      yield `${answer.allowed ? 'deployed' : answer.reason};`
      yield String(yield* choice('Which?', ['a', 'b']))
    })
    await fixture.waitForTurnEnd()
    expect(fixture.agentTexts().join('')).toBe('Tests: npm test.\n\ngo;No deploys today.;null')
    expect(fixture.eventsOf('request.resolved').map(({ resolution }) => resolution.watcher?.name)).toEqual([
      'no-deploys',
      'no-questions',
    ])
  })

  it('watchers see the steps of a generator agent after they ran, and send the agent back to work when it stops', async () => {
    const watch = [
      { name: 'count', on: 'after', tool: 'build', do: { set: { built: 'vars.built + (result.ok ? 1 : 0)' } } },
      { name: 'build-first', on: 'stop', when: 'vars.built == 0', do: { deny: 'Nothing was built.' } },
    ]
    const { id } = await play({ vars: { built: 0 }, watch }, async function* (turn) {
      if (turn.text !== 'go') yield* step('build', () => 'ok')
      yield turn.text
    })
    await fixture.waitForTurnEnd(2)
    expect(fixture.agentTexts()).toEqual(['go', 'Nothing was built.'])
    expect(await values(id)).toEqual({ built: 1 })
    expect(fixture.eventsOf('watch.fired').map(({ watcher }) => watcher.name)).toEqual(['build-first', 'count'])
  })

  it('a generator agent sets its variables, and reads why it cannot set others', async () => {
    const vars = { task: { default: '', setBy: 'agent' }, tested: false }
    const { id } = await play({ vars }, async function* () {
      yield* setVariable('task', '#12')
      try {
        yield* setVariable('tested', true)
      } catch (error) {
        if (!(error instanceof StepFailed)) throw error
        yield error.message
      }
    })
    await fixture.waitForTurnEnd()
    expect(await values(id)).toEqual({ task: '#12', tested: false })
    expect(fixture.agentTexts().join('')).toContain('The agent may not set tested.')
  })

  it('a replay of a generator agent does not set a variable again that a person has changed in the meantime', async () => {
    const vars = { task: { default: '', setBy: 'agent' } }
    const run: Run = async function* () {
      yield* setVariable('task', '#12')
      const answer = yield* approval('Go on?')
      yield String(answer.allowed)
    }
    const { id, runner } = await play({ vars }, run)
    const request = await fixture.waitForRequest('t1.2')
    await fixture.asPerson('setVariable', { id, name: 'task', value: '#13' })
    runner.kill()
    fixture.startRunner([driverOf(run)])
    await fixture.answer(request, { kind: 'allow' })
    await fixture.waitForTurnEnd()
    expect(await values(id)).toEqual({ task: '#13' })
    expect(fixture.eventsOf('variable.changed').map(({ to }) => to)).toEqual(['#12', '#13'])
  })
})
