/** Checks that no call and no reply blocks the event loop of a gateway for long. A real gateway with SQLite measures its own CPU time, because the time on the clock says little on a busy machine. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import {
  accessOf,
  apiRoot,
  contract,
  type Input,
  type Json,
  limits,
  type OperationName,
  operationGroups,
  rolesFor,
  type SessionId,
} from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { formatRequest } from '../../packages/client/src/connection.ts'
import { approval } from '../../packages/server/test/test-server.ts'
import { GatewayProcess } from '../support/gateway.ts'
import { Actor, type ActorSession } from './actors.ts'
import { BlockedTimes, probeArguments, type Sent } from './blocked-time.ts'
import {
  type HostileContent,
  hostileJson,
  hostileTexts,
  inputSchema,
  jsonContent,
  type LargeField,
  largeFields,
  largestInput,
  longestSearched,
  textContent,
} from './hostile-inputs.ts'
import { type ApiActors, validInputs } from './valid-inputs.ts'

const timeoutMs = 900_000
const operations = Object.keys(contract) as OperationName[] // the keys of the contract are the names of the operations

/** Watchers that look at everything that an agent sends. */
const watchers = {
  vars: { counter: { default: 0, setBy: 'agent' } },
  watch: [
    { name: 'risk', on: 'before', when: "risk.level == 'dangerous'", do: { set: { counter: 'vars.counter + 1' } } },
    { name: 'command', on: 'before', when: "action.command.contains('rm -rf')", do: { ask: 'This deletes files.' } },
    {
      name: 'paths',
      on: 'before',
      when: "action.paths.exists(p, p.endsWith('.env'))",
      do: { ask: 'This is a secret.' },
    },
    { name: 'loop', on: 'before', when: "recent('10m').exists(r, r.digest == action.digest)", do: { say: 'Again.' } },
    { name: 'result', on: 'after', when: "result.text.contains('failed')", do: { set: { counter: '0' } } },
    { name: 'prompt', on: 'prompt', when: "prompt.text.contains('deploy')", do: { say: 'It is Friday.' } },
    { name: 'stop', on: 'stop', when: 'vars.counter > 1000', do: { say: 'There is more.' } },
  ],
}

let gateway: GatewayProcess
let actors: ApiActors
let blocked: BlockedTimes
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

beforeAll(async () => {
  gateway = new GatewayProcess({ runner: 'none', execArgv: probeArguments })
  writeFileSync(gateway.home.rulesFile, JSON.stringify(watchers))
  const probe = join(gateway.folder, 'probe')
  await gateway.start({ PROBE_SOCKET: probe })
  const { url, folder } = gateway
  const owner = new Actor('owner', url, gateway.token, null)
  actors = { owner, folder, agent: await owner.create(url, 'agent', 'robot'), ...(await newCallers(owner)) }
  for (const rule of rules) await owner.call('addRule', rule)
  const onTooMany = async () => void Object.assign(actors, await newCallers(owner))
  blocked = new BlockedTimes(probe, onTooMany, isComplete ? 25 : undefined)
})
afterAll(async () => {
  if (isComplete) console.log(blocked.longest(30))
  agent.destroy()
  await gateway.close()
})

/** Rules of all kinds, so that the gateway evaluates them for every ask. */
const rules: readonly Input<'addRule'>[] = [
  { effect: 'deny', command: 'rm -rf' },
  { effect: 'ask', command: 'git push' },
  { effect: 'allow', command: 'npm test', args: 'grammar', scope: { cwd: '/' } },
  { effect: 'allow', group: 'only-reads', scope: { cwd: '/' } },
  { effect: 'allow', group: 'project-code', scope: { cwd: '/' } },
  { effect: 'deny', action: 'write', path: '/etc/**' },
  { effect: 'deny', host: 'evil.test' },
]

/** Returns a person and the runner of the gateway's machine, both with new tokens, because a token can write a limited number of bytes per minute. */
async function newCallers(owner: Actor): Promise<Pick<ApiActors, 'person' | 'runner'>> {
  const { home, url } = gateway
  const { items } = await owner.call('listTokens', {})
  const runnerToken = items.find(({ role, runner }) => role === 'runner' && runner === home.runnerId())
  if (runnerToken) await owner.call('rotateToken', { id: runnerToken.id })
  const runner = new Actor('runner', url, home.runnerToken(), owner.call, home.runnerId())
  return { runner, person: await owner.create(url, 'person', 'bob') }
}

/** Returns who calls the operation: the runner for an agent, or a person. Rules are proposed only to the owner. */
function callerOf(op: OperationName): Actor {
  const { owner, person, runner } = actors
  if (Object.hasOwn(operationGroups.agents, op) || accessOf('owner', op) === 'no') return runner
  return accessOf('person', op) === 'no' || op === 'proposeRules' ? owner : person
}

function send(actor: Actor, method: string, path: string, body: string | Buffer | null): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${actor.token}`,
      ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const request = httpRequest(`${gateway.url}${apiRoot}${path}`, { agent, method, headers }, reply => {
      const chunks: Buffer[] = []
      reply.on('data', (chunk: Buffer) => chunks.push(chunk))
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
      reply.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}
function callRaw(actor: Actor, op: OperationName, input: object): Promise<Sent> {
  const { path, body } = formatRequest(op, input)
  return send(actor, contract[op].method, path, body)
}

/** The operations whose valid input can be used only once. */
const consuming = new Set<OperationName>([
  'sendMessage',
  'answerRequest',
  'answerRequests',
  'addAttachment',
  'appendAttachment',
  'finishCommand',
  'detachSession',
  'reportDelivery',
])
/** How many requests of the largest size one session can have. */
const requestsPerSession = 10

/** Returns a function that makes a valid input for each call of an operation. */
function inputsFor(op: OperationName): () => Promise<object> {
  let valid: object | null = null
  let uses = 0
  return async () => {
    const caller = callerOf(op)
    const isUsedUp = consuming.has(op) || (op === 'openRequest' && uses % requestsPerSession === 0)
    uses++
    if (valid && isUsedUp) await endSessionOf(valid)
    if (!valid || isUsedUp) valid = await validInputs[op](caller, actors)
    else if (caller.runner && op !== 'renewRunner') await caller.incarnation()
    return op === 'openRequest' ? { ...valid, key: caller.key() } : valid
  }
}
/** A request that stays pending would be evaluated again whenever a rule changes. */
async function endSessionOf(input: object): Promise<void> {
  const id = 'id' in input ? String(input.id) : ''
  if (id.startsWith('ses_')) await actors.owner.call('endSession', { id: id as SessionId }) // the id of a session
}

describe.each(operations)('operation %s', op => {
  it(
    `operation ${op} blocks the event loop only briefly for its largest inputs with hostile text`,
    async () => {
      const isPublic = rolesFor(op).includes('nobody')
      const bodyMax = isPublic ? limits.publicBodyMaxBytes : limits.bodyMaxBytes
      const bytesMax = (contract[op].method === 'GET' ? 8 * 1024 : bodyMax) - 1024
      const nextInput = inputsFor(op)
      for (const field of fieldsOf(op))
        for (const [name, content] of contentsFor(op, field)) {
          const generated = topLevel(field, largestInput(field, content, bytesMax))
          const input = async () => ({ ...(await nextInput()), ...generated })
          await blocked.measure(`${op} ${field.name} with ${name}`, input, prepared =>
            callRaw(callerOf(op), op, prepared),
          )
        }
      const last = await nextInput()
      const { status, body } = await callRaw(callerOf(op), op, last)
      expect(status, body.slice(0, 300)).toBeLessThan(300)
      if (op === 'openRequest') await endSessionOf(last)
      expect(blocked.problems()).toEqual([])
    },
    timeoutMs,
  )
})

/** Measuring every field with every hostile text takes about an hour. Without HOLDPOINT_ROUNDS, a sample is measured, which is the same in each run. */
const isComplete = process.env.HOLDPOINT_ROUNDS !== undefined
/** Fields whose text the gateway interprets. */
const interpreted = /^openRequest input\.ask\/0\.(?:input|action\/0\.shell)$/
const everyThird = <T>(items: readonly T[]): readonly T[] => items.filter((_, index) => index % 3 === 0)

const allFields = new Map(
  operations.map(op => [op, largeFields(inputSchema(op)).filter(({ max }) => max >= 4096)] as const),
)
/** Returns the large fields of an operation. The sample has every third field, without those that an earlier operation has too. */
function fieldsOf(op: OperationName): readonly LargeField[] {
  const fields = allFields.get(op) ?? []
  if (isComplete) return fields
  const earlier = operations.slice(0, operations.indexOf(op)).flatMap(other => allFields.get(other) ?? [])
  const known = new Set(earlier.map(({ name }) => name))
  const sample = new Set([...fields.slice(0, 1), ...everyThird(fields.filter(({ name }) => !known.has(name)))])
  return fields.filter(field => sample.has(field) || interpreted.test(`${op} ${field.name}`))
}

type NamedContent = readonly [string, HostileContent]
const texts: readonly NamedContent[] = Object.entries(hostileTexts).map(([name, text]) => [name, textContent(text)])
const commands: readonly NamedContent[] = Object.entries(longestSearched).map(([name, text]) => [
  name,
  textContent(length => text.slice(0, length)),
])
const jsons: readonly NamedContent[] = Object.entries(hostileJson).map(([name, json]) => [name, jsonContent(json)])
let nextContent = 0

/** Returns what the field is filled with. The sample has one text for each field that is not interpreted, and each time the next one. */
function contentsFor(op: OperationName, field: LargeField): readonly NamedContent[] {
  const ownJsons = field.takesJson ? jsons : []
  if (isComplete) return [...texts, ...commands, ...ownJsons]
  if (interpreted.test(`${op} ${field.name}`))
    return field.takesJson ? [...everyThird(texts.slice(1)), ...jsons] : [...commands, ...everyThird(texts)]
  nextContent++
  const at = <T>(items: readonly T[]) => items.slice(nextContent % items.length).slice(0, 1)
  return [...at(texts), ...(field.takesJson ? at(jsons) : [])]
}

/** Returns the field of the input in which the large field is, without the other fields. */
function topLevel({ name }: LargeField, generated: Json): object {
  const property = /^input\.(\w+)/.exec(name)?.[1] ?? ''
  return { [property]: (generated as Readonly<Record<string, Json>>)[property] } // the input of an operation is an object
}

describe('the largest replies', () => {
  /** Texts that become much longer in JSON. */
  const escaped = '\u0001'.repeat(150_000)
  let session: ActorSession
  let missedAfter = ''

  beforeAll(async () => {
    const { person } = actors
    session = await person.session()
    for (let i = 0; i < 6; i++) {
      const ask = { ...approval('large', { command: escaped }), editable: true }
      await person.call('openRequest', { ...session, key: `large ${i}`, ask })
      const { request } = await person.request(ask)
      await person.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'deny' } })
      const text = { type: 'message.added', block: `b${i}`, text: escaped } as const
      const { cursor } = await person.call('appendEvents', { ...session, items: [text] })
      // The following events are just small enough to be sent as missed events.
      if (i === 3) missedAfter = cursor ?? ''
    }
    const small = Array.from({ length: 190 }, (_, i) => ({ type: 'message.added', block: `s${i}`, text: 'x' }) as const)
    for (let i = 0; i < 3; i++) await person.call('appendEvents', { ...session, items: small })
  })

  const nothing = async () => null
  const get = (path: string) => () => send(actors.owner, 'GET', path, null)
  it('the largest pages of requests, events and the audit log block the event loop only briefly', async () => {
    const { id } = session
    await blocked.measure('listRequests', nothing, get('/requests?limit=500'))
    await blocked.measure('listRequests of a session', nothing, get(`/requests?session=${id}&limit=500`))
    await blocked.measure('listEvents', nothing, get(`/sessions/${id}/events?limit=500`))
    await blocked.measure('listEvents backward', nothing, get(`/sessions/${id}/events?limit=500&before=end`))
    await blocked.measure('listAudit', nothing, get('/audit?limit=500'))
    await blocked.measure('listAudit with notices', nothing, get('/audit?limit=500&include=notices&before=end'))
    await blocked.measure('listAudit with a search', nothing, get('/audit?limit=500&q=nowhere'))
    await blocked.measure('listSessions', nothing, get('/sessions?limit=500'))
    await blocked.measure('listSessions with a search', nothing, get('/sessions?limit=500&q=nowhere'))
    expect(blocked.problems()).toEqual([])
  })

  /** Reads an event stream until it contains the text. */
  function readStream(path: string, cursor: string | null, wanted: string): Promise<Sent> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${actors.owner.token}`,
        ...(cursor === null ? {} : { 'last-event-id': cursor }),
      }
      const request = httpRequest(`${gateway.url}${apiRoot}${path}`, { agent: false, headers }, reply => {
        let tail = ''
        reply.on('data', (chunk: Buffer) => {
          tail = tail.slice(-wanted.length) + chunk.toString('latin1')
          if (!tail.includes(wanted)) return
          request.destroy()
          resolve({ status: reply.statusCode ?? 0, body: '' })
        })
        reply.on('error', reject)
      })
      request.on('error', reject)
      request.end()
    })
  }
  it('the largest snapshot and the longest list of missed events block the event loop only briefly', async () => {
    await blocked.measure('a snapshot', nothing, () => readStream('/events', null, '\n\n'))
    const last = `"block":"s189"`
    await blocked.measure('missed events', nothing, () =>
      readStream(`/events?session=${session.id}`, missedAfter, last),
    )
    expect(blocked.problems()).toEqual([])
  })
})

describe('many requests at once', () => {
  async function openSocket({ token }: Actor): Promise<WebSocket> {
    const headers = { authorization: `Bearer ${token}` }
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}${apiRoot}/socket`, { headers })
    await once(socket, 'open')
    return socket
  }
  /** Resolves after this many messages. */
  function countReplies(socket: WebSocket, count: number): Promise<void> {
    return new Promise(resolve => {
      let replies = 0
      socket.on('message', function onMessage() {
        if (++replies < count) return
        socket.off('message', onMessage)
        resolve()
      })
    })
  }

  it('many requests at once block the event loop only briefly, on one connection', async () => {
    const port = Number(new URL(gateway.url).port)
    const lines = ['GET /api/v1/me HTTP/1.1', `Host: localhost:${port}`, `Authorization: Bearer ${actors.owner.token}`]
    const burst = `${lines.join('\r\n')}\r\n\r\n`.repeat(500)
    const work = async () => {
      const socket = connect(port, '127.0.0.1')
      let replies = 0
      const done = new Promise<void>(resolve => {
        socket.on('data', chunk => {
          replies += chunk.toString('latin1').split('HTTP/1.1 200').length - 1
          if (replies >= 500) resolve()
        })
      })
      socket.write(burst)
      await done
      socket.destroy()
      return { status: 200, body: '' }
    }
    await blocked.measure('500 requests', async () => null, work)
    expect(blocked.problems()).toEqual([])
  })

  it('many requests at once, each with hostile text, block the event loop only briefly', async () => {
    const session = await actors.runner.session()
    const socket = await openSocket(actors.runner)
    const command = longestSearched['different commands'] ?? ''
    const work = async () => {
      const replies = countReplies(socket, 16)
      for (let id = 0; id < 16; id++) {
        const input = { ...session, key: actors.runner.key(), ask: approval('hostile', { command }) }
        socket.send(JSON.stringify({ id, op: 'openRequest', input }))
      }
      await replies
      return { status: 200, body: '' }
    }
    await blocked.measure('16 hostile requests', async () => null, work)
    socket.terminate()
    await endSessionOf(session)
    expect(blocked.problems()).toEqual([])
  })

  it('many requests at once block the event loop only briefly, on one socket', async () => {
    const socket = await openSocket(actors.owner)
    const work = async () => {
      const replies = countReplies(socket, 1000)
      for (let id = 0; id < 1000; id++) socket.send(JSON.stringify({ id, op: 'whoAmI', input: {} }))
      await replies
      return { status: 200, body: '' }
    }
    await blocked.measure('1000 frames', async () => null, work)
    const frame = JSON.stringify({ id: 1, op: 'whoAmI', input: { x: 'a '.repeat(120 * 1024) } })
    await blocked.measure(
      'a frame of the largest size',
      async () => null,
      async () => {
        socket.send(frame)
        await once(socket, 'message')
        return { status: 200, body: '' }
      },
    )
    socket.terminate()
    expect(blocked.problems()).toEqual([])
  })
})
