/** Tests each ready-made watcher with a session whose start was missed, in a gateway that is killed with SIGKILL while it stores the moment at which the watcher acts: the watcher acts once. */
import { writeFileSync } from 'node:fs'
import { httpCall } from '@holdpoint/client'
import { type Call, Fault } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../support/gateway.ts'
import { effectsOf, fileFor, type ReadyMadeUse, readyMadeUses, type UsedSession } from '../support/ready-made-uses.ts'

let gateway: GatewayProcess
let agent: Call
beforeAll(async () => {
  gateway = await startGateway({ runner: 'none' })
  agent = gateway.callAs(gateway.home.runnerToken())
})
afterAll(closeGateways)

async function startSession(use: ReadyMadeUse): Promise<UsedSession> {
  writeFileSync(gateway.home.rulesFile, JSON.stringify(fileFor(use)))
  const driver = { name: 'test', title: 'Test', capabilities: ['resumable', 'messages'], modes: [], ready: true }
  const own = gateway.home.runnerId()
  const { incarnation } = await agent('announceRunner', { id: own, name: 'here', drivers: [driver] as never }) // the capabilities are those of the contract
  const { id } = await gateway.call('startSession', { driver: 'test', cwd: gateway.folder })
  const { fence } = await agent('attachSession', { id, runner: own, incarnation })
  return { id, fence, agent, person: gateway.call }
}

const labels = { checkTool: 'check', appendEvents: 'appendEvents', reportMoment: 'moment' } as const
/** All steps are tested with `npm run crash`. */
const steps = process.env.HOLDPOINT_ROUNDS ? ['begun', 'decided', 'written', 'committed'] : ['committed']

describe.each(readyMadeUses)('the ready-made watcher $name', use => {
  it.each(steps)(
    `the ready-made watcher ${use.name} acts once if the gateway is killed when the change is %s`,
    async step => {
      const session = await startSession(use)
      await use.prepare?.(session)
      expect((await effectsOf(use, session)).firings).toBe(0)
      const [operation, input] = use.acts(session)
      await gateway.kill()
      await gateway.start({ HOLDPOINT_CRASH_AT: `${step}:${labels[operation]}` })
      const once = httpCall({ url: gateway.url, token: gateway.home.runnerToken(), attempts: 1 })
      const idempotencyKey = `${use.name}-${step}`
      await expect(once(operation, input, { idempotencyKey })).rejects.not.toBeInstanceOf(Fault)
      expect((await gateway.exited).signal).toBe('SIGKILL')
      await gateway.start({})
      const reply = await agent(operation, input, { idempotencyKey })
      const expected = { firings: 1, messages: use.name === 'reminder-at-stop' ? 1 : 0 }
      expect(await effectsOf(use, session)).toEqual(expected)
      // The same call under another idempotency key is the same moment, except for the end of a turn, which is another turn.
      if (operation !== 'appendEvents') expect(await agent(operation, input)).toEqual(reply)
      expect(await effectsOf(use, session)).toEqual(expected)
      await gateway.call('endSession', { id: session.id })
    },
  )
})
