/** Tests watchers on SQLite, in a gateway that is killed with SIGKILL at each step of the change that stores a moment: the event and its effects are stored together or not at all, and a repeated call has no second effect. */
import { writeFileSync } from 'node:fs'
import { httpCall } from '@holdpoint/client'
import { type Call, Fault, type Input, type OperationName, type SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../support/gateway.ts'

const file = {
  vars: { starts: 0, calls: 0 },
  watch: [
    { name: 'start', on: 'start', do: { set: { starts: 'vars.starts + 1' } } },
    { name: 'after', on: 'after', do: { set: { calls: 'vars.calls + 1' } } },
    { name: 'stop', on: 'stop', do: { say: 'Not yet.' } },
  ],
}

let gateway: GatewayProcess
let runner: Call
beforeAll(async () => {
  gateway = await startGateway({ runner: 'none' })
  writeFileSync(gateway.home.rulesFile, JSON.stringify(file))
  runner = gateway.callAs(gateway.home.runnerToken())
})
afterAll(closeGateways)

/** Starts a session, and attaches it as the runner of the gateway's machine. */
async function startAgent(): Promise<{ readonly id: SessionId; readonly fence: number }> {
  const driver = { name: 'test', title: 'Test', capabilities: ['resumable', 'messages'], modes: [], ready: true }
  const own = gateway.home.runnerId()
  const { incarnation } = await runner('announceRunner', { id: own, name: 'here', drivers: [driver] as never }) // the capabilities are those of the contract
  const { id } = await gateway.call('startSession', { driver: 'test', cwd: gateway.folder })
  const { fence } = await runner('attachSession', { id, runner: own, incarnation })
  return { id, fence }
}

let crashes = 0
/** Makes a call that the gateway does not survive, and repeats it after the restart. Calls `afterCrash` in between. */
async function crashAndRepeat<K extends OperationName>(
  operation: K,
  input: Input<K>,
  afterCrash: () => Promise<void>,
): Promise<void> {
  const once = httpCall({ url: gateway.url, token: gateway.home.runnerToken(), attempts: 1 })
  const idempotencyKey = `crash-${crashes++}`
  await expect(once(operation, input, { idempotencyKey })).rejects.not.toBeInstanceOf(Fault)
  expect((await gateway.exited).signal).toBe('SIGKILL')
  await gateway.start({})
  await afterCrash()
  await runner(operation, input, { idempotencyKey })
}

async function effectsOf(id: SessionId) {
  const [variables, commands, events] = await Promise.all([
    gateway.call('listVariables', { id }),
    runner('listCommands', { id }),
    gateway.call('listEvents', { id }),
  ])
  return {
    values: Object.fromEntries(variables.items.map(({ name, value }) => [name, value])),
    messages: commands.items.length,
    fired: events.items.flatMap(event => (event.type === 'watch.fired' ? [event.watcher.name] : [])),
  }
}

/** The steps of a change, and whether the change is stored if the gateway is killed there. */
const steps = [
  { step: 'begun', isStored: false },
  { step: 'decided', isStored: false },
  { step: 'written', isStored: false },
  { step: 'committed', isStored: true },
  { step: 'replying', isStored: true },
] as const

describe('watchers after kill -9', () => {
  it.each(steps)(
    'after kill -9, the end of a turn sends the agent back to work once (killed when it is $step)',
    async ({ step, isStored }) => {
      await gateway.kill()
      await gateway.start({ HOLDPOINT_CRASH_AT: `${step}:appendEvents` })
      const { id, fence } = await startAgent()
      const none = { values: { starts: 0, calls: 0 }, messages: 0, fired: [] }
      const all = { values: { starts: 1, calls: 0 }, messages: 1, fired: ['start', 'stop'] }
      const items: Input<'appendEvents'>['items'] = [{ type: 'turn.finished', ending: 'done' }]
      await crashAndRepeat('appendEvents', { id, fence, items }, async () =>
        expect(await effectsOf(id)).toEqual(isStored ? all : none),
      )
      expect(await effectsOf(id)).toEqual(all)
      await gateway.call('endSession', { id })
    },
  )

  it.each(steps)(
    'after kill -9, the report of a call causes effects once (killed when it is $step)',
    async ({ step, isStored }) => {
      await gateway.kill()
      await gateway.start({ HOLDPOINT_CRASH_AT: step === 'replying' ? 'replying:reportMoment' : `${step}:moment` })
      const { id, fence } = await startAgent()
      const none = { values: { starts: 0, calls: 0 }, messages: 0, fired: [] }
      const all = { values: { starts: 1, calls: 1 }, messages: 0, fired: ['start', 'after'] }
      const report = { id, fence, moment: 'after', key: 'k', result: { ok: true } } as const
      await crashAndRepeat('reportMoment', report, async () =>
        expect(await effectsOf(id)).toEqual(isStored ? all : none),
      )
      // The event of the same call comes in another call, and has no further effect.
      await runner('appendEvents', { id, fence, items: [{ type: 'tool.finished', block: 'k', ok: true }] })
      expect(await effectsOf(id)).toEqual(all)
      await gateway.call('endSession', { id })
    },
  )
})
