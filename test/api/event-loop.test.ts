/** Checks that no call and no reply blocks the event loop of a gateway for long. A real gateway with SQLite measures its own CPU time, because the time on the clock says little on a busy machine. */
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import {
  accessOf,
  apiRoot,
  contract,
  faultStatus,
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
import {
  hostileJson,
  hostileTexts,
  inputSchema,
  jsonContent,
  type LargeField,
  largeFields,
  largestInput,
  textContent,
} from './hostile-inputs.ts'
import { type ApiActors, validInputs } from './valid-inputs.ts'

const timeoutMs = 900_000
/** How often a call is measured that seems to take too long. */
const attemptsMax = 8
/** The longest time for which other clients may have to wait. */
const blockedMaxMs = 50
const operations = Object.keys(contract) as OperationName[] // the keys of the contract are the names of the operations

let gateway: GatewayProcess
let actors: ApiActors
let probe = ''
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

beforeAll(async () => {
  const probeFile = join(import.meta.dirname, 'event-loop-probe.mjs')
  gateway = new GatewayProcess({ runner: 'none', execArgv: ['--single-threaded', '--import', probeFile] })
  probe = join(gateway.folder, 'probe')
  await gateway.start({ PROBE_SOCKET: probe })
  const { url, folder } = gateway
  const owner = new Actor('owner', url, gateway.token, null)
  actors = { owner, folder, agent: await owner.create(url, 'agent', 'robot'), ...(await newCallers(owner)) }
  for (const rule of rules) await owner.call('addRule', rule)
})
afterAll(async () => {
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

interface Sent {
  readonly status: number
  readonly body: string
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

/** How long the reference work of the probe takes on an idle machine with two cores. */
const idleReferenceMs = 1.3

/** Returns the longest time for which the gateway was blocked during the work, in milliseconds of CPU time. On a machine that is slow or busy, the time is reduced in proportion to the time of the reference work. */
async function blockedMs(work: () => Promise<unknown>): Promise<number> {
  const socket = connect(probe)
  await once(socket, 'data')
  let answer = ''
  socket.on('data', chunk => {
    answer += chunk
  })
  await work()
  socket.end()
  await once(socket, 'close')
  const [longest = Number.NaN, reference = Number.NaN] = answer.split(' ').map(Number)
  return longest / Math.max(1, reference / idleReferenceMs)
}

const measured: { name: string; ms: number; status: number }[] = []
/** Measures a call. A call that takes long is measured again, because garbage collection and compiling may have disturbed it. */
async function measure<T>(
  name: string,
  prepare: () => Promise<T>,
  work: (prepared: T) => Promise<Sent>,
): Promise<void> {
  let ms = Number.POSITIVE_INFINITY
  let status = 0
  for (let attempt = 0; attempt < attemptsMax && ms >= blockedMaxMs; attempt++) {
    const prepared = await prepare()
    const found = await blockedMs(async () => {
      status = (await work(prepared)).status
    })
    if (status === faultStatus.too_many) Object.assign(actors, await newCallers(actors.owner))
    else ms = Math.min(ms, found)
  }
  measured.push({ name, ms, status })
}
function tooLong(): string[] {
  return measured.splice(0).flatMap(({ name, ms, status }) => {
    if (status >= 500) return [`${name}: status ${status}`]
    return ms < blockedMaxMs ? [] : [`${name}: blocked for ${ms.toFixed(0)} ms (status ${status})`]
  })
}

/** The operations whose valid input can be used once. */
const consuming = new Set<OperationName>([
  'openRequest',
  'sendMessage',
  'answerRequest',
  'answerRequests',
  'addAttachment',
  'appendAttachment',
  'finishCommand',
  'detachSession',
  'reportDelivery',
])

describe.each(operations)('operation %s', op => {
  it(
    'blocks the event loop only briefly for its largest inputs with hostile text',
    async () => {
      const fields = largeFields(inputSchema(op)).filter(({ max }) => max >= 4096)
      const isPublic = rolesFor(op).includes('nobody')
      const bodyMax = isPublic ? limits.publicBodyMaxBytes : limits.bodyMaxBytes
      const bytesMax = (contract[op].method === 'GET' ? 8 * 1024 : bodyMax) - 1024
      let valid = await validInputs[op](callerOf(op), actors)
      const prepare = async () => {
        // A request that stays pending would be evaluated again whenever a rule changes.
        if (op === 'openRequest' && 'id' in valid) await actors.owner.call('endSession', { id: valid.id as SessionId }) // the id of a session
        if (consuming.has(op)) valid = await validInputs[op](callerOf(op), actors)
        else if (callerOf(op).runner && op !== 'renewRunner') await callerOf(op).incarnation()
        return valid
      }
      for (const field of fields)
        for (const [name, content] of contentsFor(op, field)) {
          const generated = largestInput(field, content, bytesMax)
          const input = async () => ({ ...(await prepare()), ...topLevel(field, generated) })
          await measure(`${op} ${field.name} with ${name}`, input, prepared => callRaw(callerOf(op), op, prepared))
        }
      const { status, body } = await callRaw(callerOf(op), op, await prepare())
      expect(status, body.slice(0, 300)).toBeLessThan(300)
      expect(tooLong()).toEqual([])
    },
    timeoutMs,
  )
})

const isComplete = process.env.HOLDPOINT_ROUNDS !== undefined
/** Fields whose text the gateway interprets. They get every hostile text, and other fields get a few that change from run to run. */
const interpreted = /^openRequest input\.ask\/0\.(?:input|action\/0\.shell)$/
let nextText = Date.now() % Object.keys(hostileTexts).length

function contentsFor(op: OperationName, field: LargeField) {
  const texts = Object.entries(hostileTexts).map(([name, text]) => [name, textContent(text)] as const)
  const jsons = Object.entries(hostileJson).map(([name, json]) => [name, jsonContent(json)] as const)
  const all = field.takesJson ? [...texts, ...jsons] : texts
  if (isComplete || interpreted.test(`${op} ${field.name}`)) return all
  nextText++
  return [texts[nextText % texts.length], field.takesJson ? jsons[nextText % jsons.length] : undefined].filter(
    content => content !== undefined,
  )
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
      // What follows is just small enough to be sent as missed events.
      if (i === 3) missedAfter = cursor ?? ''
    }
    const small = Array.from({ length: 190 }, (_, i) => ({ type: 'message.added', block: `s${i}`, text: 'x' }) as const)
    for (let i = 0; i < 3; i++) await person.call('appendEvents', { ...session, items: small })
  })

  const nothing = async () => null
  const get = (path: string) => () => send(actors.owner, 'GET', path, null)
  it('block the event loop only briefly, as pages of requests, events and the audit log', async () => {
    const { id } = session
    await measure('listRequests', nothing, get('/requests?limit=500'))
    await measure('listRequests of a session', nothing, get(`/requests?session=${id}&limit=500`))
    await measure('listEvents', nothing, get(`/sessions/${id}/events?limit=500`))
    await measure('listEvents backward', nothing, get(`/sessions/${id}/events?limit=500&before=end`))
    await measure('listAudit', nothing, get('/audit?limit=500'))
    await measure('listAudit with notices', nothing, get('/audit?limit=500&include=notices&before=end'))
    await measure('listAudit with a search', nothing, get('/audit?limit=500&q=nowhere'))
    await measure('listSessions', nothing, get('/sessions?limit=500'))
    await measure('listSessions with a search', nothing, get('/sessions?limit=500&q=nowhere'))
    expect(tooLong()).toEqual([])
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
  it('block the event loop only briefly, as a snapshot and as missed events', async () => {
    await measure('a snapshot', nothing, () => readStream('/events', null, '\n\n'))
    const last = `"block":"s189"`
    await measure('missed events', nothing, () => readStream(`/events?session=${session.id}`, missedAfter, last))
    expect(tooLong()).toEqual([])
  })
})

describe('many requests at once', () => {
  it('block the event loop only briefly, on one connection', async () => {
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
    await measure('500 requests', async () => null, work)
    expect(tooLong()).toEqual([])
  })

  it('block the event loop only briefly, on one socket', async () => {
    const headers = { authorization: `Bearer ${actors.owner.token}` }
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}${apiRoot}/socket`, { headers })
    await once(socket, 'open')
    const work = async () => {
      let replies = 0
      const done = new Promise<void>(resolve => {
        socket.on('message', () => {
          if (++replies === 1000) resolve()
        })
      })
      for (let id = 0; id < 1000; id++) socket.send(JSON.stringify({ id, op: 'whoAmI', input: {} }))
      await done
      socket.removeAllListeners('message')
      return { status: 200, body: '' }
    }
    await measure('1000 frames', async () => null, work)
    const frame = JSON.stringify({ id: 1, op: 'whoAmI', input: { x: 'a '.repeat(120 * 1024) } })
    await measure(
      'a frame of the largest size',
      async () => null,
      async () => {
        socket.send(frame)
        await once(socket, 'message')
        return { status: 200, body: '' }
      },
    )
    socket.terminate()
    expect(tooLong()).toEqual([])
  })
})
