/** Calls every operation with random inputs from its schema, as every role, over HTTP and over a socket. Every reply must be a success or a documented fault, and a refused call must change nothing. */
import { once } from 'node:events'
import {
  accessColumns,
  contract,
  FaultBody,
  faultStatus,
  type Json,
  type OperationName,
  type Role,
} from '@holdpoint/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { formatRequest } from '../../packages/client/src/connection.ts'
import { type ApiServer, openApiServer } from './api-server.ts'
import { garbageBodies, type KnownIds, type RandomInput, randomInput } from './random-inputs.ts'
import { validInputs } from './valid-inputs.ts'

const operations = Object.keys(contract) as OperationName[] // the keys of the contract are the names of the operations
/** `npm run fuzz:api` runs many more. A failure reports its seed. */
const runsPerOperation = Number(process.env.HOLDPOINT_ROUNDS ?? '1') * 6
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)

let api: ApiServer
const sockets = new Map<Role, WebSocket>()
beforeAll(async () => {
  api = await openApiServer()
})
afterAll(async () => {
  for (const socket of sockets.values()) socket.terminate()
  await api.close()
})

type Sender = Role | 'nobody'
interface Reply {
  readonly status: number
  readonly body: unknown
}

function tokenOf(role: Sender): string | null {
  return role === 'nobody' ? null : api.actors[role].token
}

async function sendOverHttp(role: Sender, op: OperationName, body: string | null, path: string): Promise<Reply> {
  const token = tokenOf(role)
  const hasBody = body !== null && body !== ''
  const reply = await fetch(`${api.url}/api/v1${path}`, {
    method: contract[op].method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
    },
    ...(hasBody && contract[op].method !== 'GET' ? { body } : {}),
  })
  return { status: reply.status, body: await reply.json() }
}

async function socketOf(role: Role): Promise<WebSocket> {
  const known = sockets.get(role)
  if (known && known.readyState === WebSocket.OPEN) return known
  const headers = { authorization: `Bearer ${tokenOf(role)}` }
  const socket = new WebSocket(`${api.url.replace('http', 'ws')}/api/v1/socket`, { headers })
  await once(socket, 'open')
  sockets.set(role, socket)
  return socket
}
async function sendOverSocket(role: Role, op: OperationName, input: Json): Promise<Reply> {
  const socket = await socketOf(role)
  socket.send(JSON.stringify({ id: 1, op, input }))
  const [data] = (await once(socket, 'message')) as [Buffer]
  return JSON.parse(String(data)) as Reply // a reply frame has these fields
}

/** A long poll would only wait, and signing out would end the test's own credential. */
function withoutEffectsOnTheTest(op: OperationName, input: Json): Json {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input
  const fields = input as Readonly<Record<string, Json>> // neither a list nor null
  return 'wait' in fields && 'wait' in contract[op].input.shape ? { ...fields, wait: 0 } : fields
}

/** Returns the input with texts in place of the objects and lists that would be in the URL. */
function inUrl(op: OperationName, input: object): object {
  const { method, path } = contract[op]
  const isInUrl = (name: string) => method === 'GET' || method === 'DELETE' || path.includes(`:${name}`)
  const fields = Object.entries(input).map(([name, value]: [string, unknown]) => {
    const isText = !isInUrl(name) || typeof value !== 'object'
    return [name, isText ? value : JSON.stringify(value)]
  })
  return Object.fromEntries(fields)
}

/** The labels of changes that a refused call may write: that it was refused, that a credential was used or exposed, and that a deadline had passed. Background work of the gateway has the other labels. */
const allowedLabels = new Set(['refused', 'alarm', 'tokenUse', 'deadline', 'sweep', 'applyRules', 'releaseSession'])

function checkReply(op: OperationName, { status, body }: Reply): void {
  const writes = api.takeWrites().filter(({ label }) => !allowedLabels.has(label))
  expect(api.bugs, 'errors that are not faults').toEqual([])
  expect(({} as { polluted?: unknown }).polluted, 'Object.prototype').toBeUndefined()
  if (status < 400) return
  const { error } = FaultBody.parse(body)
  expect(error.message, 'the message of the fault').toMatch(/\w/)
  expect(faultStatus[error.code], 'the status of the fault').toBe(status)
  expect(status, `${op}: ${error.message}`).toBeLessThan(500)
  expect(writes, `what ${op} stored although it was refused with ${error.code}`).toEqual([])
}

/** Objects that random inputs can name. Tokens of the test itself are not among them. */
async function knownIds(op: OperationName): Promise<KnownIds> {
  const { owner, runner, agent } = api.actors
  const found: Record<string, string[]> = { run: [runner.runner ?? ''], cursor: ['e1-1', 'zz-999'] }
  for (const actor of [owner, runner, agent]) {
    const { request, session } = await actor.request()
    const { command } = await actor.command()
    const ids = [session.id, request.id, command.id, await actor.attachment()]
    for (const id of ids) found[id.slice(0, 3)] = [...(found[id.slice(0, 3)] ?? []), id]
  }
  found.rul = [(await validInputs.removeRule(owner, api.actors)).id]
  found.tok = [(await validInputs.removeToken(owner, api.actors)).id]
  const created = await owner.call('addToken', { role: 'person', name: `for ${op}` })
  found.per = created.person === null ? [] : [created.person]
  return found
}

describe.each(operations.filter(op => op !== 'signOut'))('operation %s', op => {
  it(`operation ${op} replies to random inputs with a success or a documented fault, and changes nothing if it refuses`, async () => {
    // Random inputs of an earlier operation may have retired the runner or changed its drivers.
    await api.actors.runner.announce()
    const known = await knownIds(op)
    api.takeWrites()
    const check = async ({ value }: RandomInput, role: Sender, overSocket: boolean) => {
      const input = withoutEffectsOnTheTest(op, value)
      if (overSocket && role !== 'nobody') return checkReply(op, await sendOverSocket(role, op, input))
      const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
      const { path, body } = formatRequest(op, isObject ? inUrl(op, input) : { id: 'x' })
      checkReply(op, await sendOverHttp(role, op, isObject ? body : JSON.stringify(input), path))
    }
    await fc.assert(fc.asyncProperty(randomInput(op, known), fc.constantFrom(...accessColumns), fc.boolean(), check), {
      numRuns: runsPerOperation,
      seed,
    })
  })
})

describe('a body that is not a valid JSON object', () => {
  const writing = operations.filter(op => contract[op].method !== 'GET' && op !== 'signOut')
  it.each(garbageBodies)('every operation refuses the body %j with a fault, and changes nothing', async body => {
    api.takeWrites()
    for (const op of writing) {
      const { path } = formatRequest(op, { id: 'x' })
      const reply = await sendOverHttp('owner', op, body, path)
      if (body !== '') expect(reply.status, op).toBeGreaterThanOrEqual(400)
      checkReply(op, reply)
    }
  })
})
