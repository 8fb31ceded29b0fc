/** Tests rules that end with a turn or a session, on SQLite, in a gateway that is killed with SIGKILL while the turn or the session ends. */
import { httpCall } from '@holdpoint/client'
import type { RequestId, RuleId, SessionId } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../support/gateway.ts'

let gateway: GatewayProcess
beforeAll(async () => {
  gateway = await startGateway({ runner: 'none' })
})
afterAll(closeGateways)

const command = 'npm test'
let keys = 0

/** Acts as the runner of the gateway's own machine. It survives the gateway, as a runner in a process of its own does. */
class LocalAgent {
  readonly #call = gateway.callAs(gateway.home.runnerToken())
  readonly session: SessionId
  #incarnation = 0
  #fence = 0

  private constructor(session: SessionId) {
    this.session = session
  }
  static async start(): Promise<LocalAgent> {
    const call = gateway.callAs(gateway.home.runnerToken())
    const driver = { name: 'test', title: 'Test', capabilities: ['resumable', 'messages'], modes: [], ready: true }
    const id = gateway.home.runnerId()
    const { incarnation } = await call('announceRunner', { id, name: 'this machine', drivers: [driver] as never }) // the capabilities are those of the contract
    const { id: session } = await gateway.call('startSession', { driver: 'test', cwd: gateway.folder })
    const agent = new LocalAgent(session)
    agent.#incarnation = incarnation
    await agent.attach()
    return agent
  }
  async attach(): Promise<void> {
    const runner = gateway.home.runnerId()
    const { fence } = await this.#call('attachSession', { id: this.session, runner, incarnation: this.#incarnation })
    this.#fence = fence
  }
  /** Asks for the command, and returns the rule that answered; undefined if a person has to answer. */
  async answeringRule(): Promise<RuleId | undefined> {
    const cwd = gateway.folder
    const ask = { kind: 'approval', tool: 'Bash', title: command, input: { command }, cwd, editable: true } as const
    const { id, fence } = { id: this.session, fence: this.#fence }
    const request = await this.#call('openRequest', { id, fence, key: `ask-${keys++}`, ask })
    if (request.status === 'pending') await this.#withdraw(request.id)
    return request.resolution?.rule
  }
  async #withdraw(id: RequestId): Promise<void> {
    await this.#call('withdrawRequest', { id, fence: this.#fence })
  }
  /** Ends the turn with a call that is not repeated. */
  async endTurn(): Promise<void> {
    const once = httpCall({ url: gateway.url, token: gateway.home.runnerToken(), attempts: 1 })
    const items = [{ type: 'turn.finished', ending: 'done' }] as const
    await once('appendEvents', { id: this.session, fence: this.#fence, items: [...items] })
  }
  async hasEvent(type: string): Promise<boolean> {
    const { items } = await gateway.call('listEvents', { id: this.session })
    return items.some(event => event.type === type)
  }
}

function addRule(session: SessionId, until: 'turn' | 'session') {
  return gateway.call('addRule', { effect: 'allow', command, scope: { session }, until })
}

async function isListed(id: RuleId): Promise<boolean> {
  return (await gateway.call('listRules', {})).items.some(rule => rule.id === id)
}

/** Restarts the gateway so that it kills itself at this point. */
async function restartWithCrashAt(point: string): Promise<void> {
  await gateway.kill()
  await gateway.start({ HOLDPOINT_CRASH_AT: point })
}

/** Waits until the gateway has killed itself, and starts it again without crash points. */
async function restartAfterCrash(): Promise<void> {
  expect((await gateway.exited).signal).toBe('SIGKILL')
  await gateway.start({})
}

/** The steps of a change in the gateway, and whether the change is stored if the gateway is killed there. */
const steps = [
  { step: 'begun', isStored: false },
  { step: 'decided', isStored: false },
  { step: 'written', isStored: false },
  { step: 'committed', isStored: true },
  { step: 'replying', isStored: true },
] as const

describe('a rule that ends with a turn, after kill -9', () => {
  it.each(steps)(
    'a rule that ends with a turn answers only if the turn has not ended (killed when the end of the turn is $step)',
    async ({ step, isStored }) => {
      await restartWithCrashAt(`${step}:appendEvents`)
      const agent = await LocalAgent.start()
      const { id } = await addRule(agent.session, 'turn')
      expect(await agent.answeringRule()).toBe(id)
      await expect(agent.endTurn()).rejects.toThrow()
      await restartAfterCrash()
      expect(await agent.hasEvent('turn.finished')).toBe(isStored)
      expect(await agent.answeringRule()).toBe(isStored ? undefined : id)
      // The gateway removes a rule that has ended, and keeps one that has not.
      if (isStored) await expect.poll(() => isListed(id)).toBe(false)
      await gateway.kill()
      await gateway.start({})
      expect(await agent.answeringRule()).toBe(isStored ? undefined : id)
      expect(await isListed(id)).toBe(!isStored)
      await gateway.call('endSession', { id: agent.session })
    },
  )
})

describe('a rule that ends with a session, after kill -9', () => {
  it.each(steps)(
    'a rule that ends with a session does not answer after a message opened the session again (killed when the end of the session is $step)',
    async ({ step, isStored }) => {
      await restartWithCrashAt(`${step}:endSession`)
      const agent = await LocalAgent.start()
      const { id } = await addRule(agent.session, 'session')
      await agent.endTurn()
      expect(await agent.answeringRule()).toBe(id)
      const once = httpCall({ url: gateway.url, token: gateway.token, attempts: 1 })
      await expect(once('endSession', { id: agent.session })).rejects.toThrow()
      await restartAfterCrash()
      if (isStored) {
        await gateway.call('sendMessage', { id: agent.session, text: 'again' })
        await agent.attach()
      }
      expect(await agent.hasEvent('session.ended')).toBe(isStored)
      expect(await agent.answeringRule()).toBe(isStored ? undefined : id)
      await gateway.call('endSession', { id: agent.session })
    },
  )
})
