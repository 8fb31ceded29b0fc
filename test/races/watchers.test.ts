/** Tests watchers under contention, on one gateway and on two gateways with one PostgreSQL: each moment has effects once, whichever gateway sees it first. */
import { type Caller, callAs, type Gateway, openGateway, type RuleFile, type RuleFileReader } from '@holdpoint/engine'
import { type Call, formatId, type SessionId } from '@holdpoint/protocol'
import { parseRuleFile } from '@holdpoint/rules'
import { openMemory, openPostgres } from '@holdpoint/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, hasPostgres } from '../support/postgres.ts'
import { effectsOf, fileFor, readyMadeUses } from '../support/ready-made-uses.ts'

const owner: Caller = { role: 'owner', id: 'per_ada', name: 'ada', token: 'tok_ada', via: 'page' }
const runner = formatId('run', new Uint8Array(20))
const runnerCaller: Caller = { role: 'runner', id: runner, name: 'runner', token: 'tok_runner', via: 'api' }
const ownFile = '/home/ada/holdpoint.rules.json'
const content = {
  vars: { starts: 0, before: 0, after: 0 },
  watch: [
    { name: 'start', on: 'start', do: { set: { starts: 'vars.starts + 1' } } },
    { name: 'before', on: 'before', do: { set: { before: 'vars.before + 1' } } },
    { name: 'after', on: 'after', do: { set: { after: 'vars.after + 1' } } },
    { name: 'stop', on: 'stop', do: { say: 'Not yet.' } },
  ],
}
const stateWith = (value: object): RuleFile => ({
  file: ownFile,
  folder: null,
  trust: 'trusted',
  content: { kind: 'rules', ...parseRuleFile(JSON.stringify(value), null) },
})
let state = stateWith(content)
const ruleFiles: RuleFileReader = { ownFile, filesFor: () => [], read: () => state }
/** Only the first gateway has the file. The other one gets the watchers from the store. */
const machine = { runner, home: '/home/ada', files: { realPath: (path: string) => path }, ruleFiles }

interface Setup {
  readonly gateways: readonly Gateway[]
  readonly close: () => Promise<void>
}
async function openOne(): Promise<Setup> {
  const store = await openMemory({})
  const gateway = await openGateway({ store, machine })
  return {
    gateways: [gateway],
    close: async () => {
      await gateway.close()
      await store.close()
    },
  }
}
async function openTwo(): Promise<Setup> {
  const database = await freshDatabase()
  const stores = [await openPostgres({ url: database.url }), await openPostgres({ url: database.url })]
  const gateways = await Promise.all(
    stores.map((store, index) => openGateway({ store, ...(index === 0 ? { machine } : {}) })),
  )
  return {
    gateways,
    close: async () => {
      for (const gateway of gateways) await gateway.close()
      for (const store of stores) await store.close()
      await database.drop()
    },
  }
}

const setups: readonly (readonly [string, () => Promise<Setup>])[] = [
  ['one gateway', openOne],
  ...((await hasPostgres()) ? [['two gateways on one PostgreSQL', openTwo] as const] : []),
]
const times = 8
const capabilities = ['resumable', 'messages'] as const
const driver = { name: 'test', title: 'Test', capabilities: [...capabilities], modes: [], ready: true }

describe.each(setups)('watchers on %s', (_name, open) => {
  let setup: Setup
  let people: readonly Call[]
  let agents: readonly Call[]
  let id: SessionId
  let fence: number
  beforeAll(async () => {
    setup = await open()
    people = setup.gateways.map(gateway => callAs(gateway, owner))
    agents = setup.gateways.map(gateway => callAs(gateway, runnerCaller))
  })
  beforeEach(async () => {
    const { incarnation } = await agent(0)('announceRunner', { id: runner, name: 'here', drivers: [driver] })
    id = (await person()('startSession', { driver: 'test', cwd: '/srv' })).id
    fence = (await agent(0)('attachSession', { id, runner, incarnation })).fence
  })
  afterAll(() => setup.close())

  const person = (): Call => people.at(-1) as Call // there is at least one gateway
  const agent = (n: number): Call => agents[n % agents.length] as Call // the index is within the list
  /** Makes the same call several times at once, on all gateways in turn. */
  const atOnce = <T>(call: (agent: Call) => Promise<T>) =>
    Promise.all(Array.from({ length: times }, (_, n) => call(agent(n))))
  const values = async () => {
    const { items } = await person()('listVariables', { id })
    return Object.fromEntries(items.map(({ name, value }) => [name, value]))
  }
  const firings = async () => {
    const { items } = await person()('listEvents', { id })
    return items.flatMap(event => (event.type === 'watch.fired' ? [event.watcher.name] : []))
  }

  it('watchers act once on a call that is checked several times at once', async () => {
    const call = { id, fence, key: 'k', tool: 'Bash', input: { command: 'ls' } }
    const verdicts = await atOnce(checks => checks('checkTool', call))
    expect(new Set(verdicts.map(verdict => JSON.stringify(verdict))).size).toBe(1)
    const result = { ok: true }
    await atOnce(reports => reports('reportMoment', { id, fence, moment: 'after', key: 'k', result }))
    await atOnce(appends =>
      appends('appendEvents', { id, fence, items: [{ type: 'tool.finished', block: 'k', ok: true }] }),
    )
    expect(await values()).toEqual({ starts: 1, before: 1, after: 1 })
    expect((await firings()).sort()).toEqual(['after', 'before', 'start'])
  })

  it('watchers act once on each of several calls at once, and once on the start of the session', async () => {
    await Promise.all(
      Array.from({ length: times }, (_, n) =>
        agent(n)('checkTool', { id, fence, key: `k${n}`, tool: 'Bash', input: { command: `ls ${n}` } }),
      ),
    )
    expect(await values()).toEqual({ starts: 1, before: times, after: 0 })
  })

  it('watchers send the agent back to work once if the end of a turn is appended several times at once', async () => {
    const end = { id, fence, items: [{ type: 'turn.finished' as const, ending: 'done' as const }] }
    await atOnce(appends => appends('appendEvents', end, { idempotencyKey: 'the end' }))
    const { items } = await agent(0)('listCommands', { id })
    expect(items.map(({ body, madeBy }) => [body, madeBy])).toEqual([
      [{ kind: 'message', text: 'Not yet.' }, 'watcher stop'],
    ])
    expect((await firings()).filter(name => name === 'stop')).toEqual(['stop'])
  })

  it.each(readyMadeUses)(
    'the watcher $name acts once if the same moment is reported several times at once',
    async use => {
      state = stateWith(fileFor(use))
      // A session of the first gateway reads the file again.
      const { incarnation } = await agent(0)('announceRunner', { id: runner, name: 'here', drivers: [driver] })
      const { id } = await (people[0] as Call)('startSession', { driver: 'test', cwd: '/srv' }) // there is at least one gateway
      const { fence } = await agent(0)('attachSession', { id, runner, incarnation })
      const session = { id, fence, agent: agent(0), person: person() }
      await use.prepare?.(session)
      const [operation, input] = use.acts(session)
      // Only the end of a turn has no key of its own.
      const options = operation === 'appendEvents' ? { idempotencyKey: `end-${id}` } : {}
      const replies = await atOnce(reports => reports(operation, input, options))
      if (operation !== 'appendEvents') expect(new Set(replies.map(reply => JSON.stringify(reply))).size).toBe(1)
      expect(await effectsOf(use, session)).toEqual({ firings: 1, messages: use.name === 'reminder-at-stop' ? 1 : 0 })
      state = stateWith(content)
    },
  )

  it('an answer that sends the agent back to work is applied once even if several people give it', async () => {
    for (let n = 0; n < 4; n++)
      await agent(n)('appendEvents', { id, fence, items: [{ type: 'turn.finished', ending: 'done' }] })
    const [request] = (await person()('listRequests', { session: id, status: 'pending' })).items
    if (!request) throw new Error('the gateway has not asked')
    const answer = { kind: 'answers' as const, answers: [{ id: 'stop', chosen: ['Send it back'] }] }
    await Promise.all(
      Array.from({ length: times }, (_, n) => {
        const call = people[n % people.length] as Call // the index is within the list
        return call('answerRequest', { id: request.id, digest: request.digest, answer })
      }),
    )
    expect((await agent(0)('listCommands', { id })).items).toHaveLength(4)
  })
})
