/** Calls every operation with ids of objects that belong to somebody else. The reply must be the one for an id that does not exist, and nothing may change. The matrix comes from the contract, so a new operation or id is covered. */
import { once } from 'node:events'
import { accessOf, contract, type Json, type OperationName } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { formatRequest } from '../../packages/client/src/connection.ts'
import type { Actor } from './actors.ts'
import { type ApiServer, openApiServer } from './api-server.ts'
import { idPrefix, inputSchema, type JsonSchema, optionsOf, smallest } from './hostile-inputs.ts'
import { validInputs } from './valid-inputs.ts'

const operations = Object.keys(contract) as OperationName[] // the keys of the contract are the names of the operations

let api: ApiServer
/** Objects of people, agents and runners, by the prefix of their ids. */
let foreign: readonly {
  readonly owner: string
  readonly ids: Readonly<Record<string, string>>
  readonly fence: number
}[]
beforeAll(async () => {
  api = await openApiServer()
  const { owner, agent, runner } = api.actors
  foreign = await Promise.all([owner, agent, runner].map(objectsOf))
})
afterAll(() => api.close())

async function objectsOf(actor: Actor) {
  const { request, session } = await actor.request()
  const { command } = await actor.command()
  const who = await actor.call('whoAmI', {})
  const { owner } = api.actors
  const { id: rule } = await owner.call('addRule', { effect: 'ask', tool: 'a tool that nobody has' })
  const own = { ses: session.id, req: request.id, cmd: command.id, att: await actor.attachment(), rul: rule }
  const people = { tok: who.token, per: (await owner.call('whoAmI', {})).id, run: api.actors.runner.runner ?? '' }
  return { owner: actor.role, ids: { ...own, ...people }, fence: session.fence ?? 0 }
}

type Path = readonly (string | number)[]
/** Returns the paths of all ids in an input. */
function idPaths(schema: JsonSchema, path: Path = []): { readonly path: Path; readonly prefix: string }[] {
  const prefix = idPrefix(schema)
  if (prefix) return [{ path, prefix }]
  const inOptions = (optionsOf(schema) ?? []).flatMap(option => idPaths(option, path))
  const inItems = schema.items ? idPaths(schema.items, [...path, 0]) : []
  const inFields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => idPaths(field, [...path, name]))
  return [...inOptions, ...inItems, ...inFields]
}
function withValue(base: Json | undefined, [name, ...rest]: Path, value: Json): Json {
  if (name === undefined) return value
  if (typeof name === 'number') return [withValue(Array.isArray(base) ? base[name] : undefined, rest, value)]
  const fields = (base ?? {}) as Readonly<Record<string, Json>> // the path names a field, so this is an object
  return { ...fields, [name]: withValue(fields[name], rest, value) }
}

interface Reply {
  readonly status: number
  readonly body: string
}
async function send(actor: Actor, op: OperationName, input: object): Promise<Reply> {
  const { path, body } = formatRequest(op, input)
  const reply = await fetch(`${api.url}/api/v1${path}`, {
    method: contract[op].method,
    headers: { authorization: `Bearer ${actor.token}`, 'content-type': 'application/json' },
    ...(body === null ? {} : { body }),
  })
  return { status: reply.status, body: await reply.text() }
}
const missingId = (prefix: string) => `${prefix}_${'z'.repeat(20)}`
const withoutId = ({ status, body }: Reply, id: string) => ({ status, body: body.replaceAll(id, 'ID') })

/** Returns the ids that an actor can name. Only a runner attaches a session for a runner; the field means nothing to others. */
function idsOf(op: OperationName, { role }: Actor): ReturnType<typeof idPaths> {
  const found = idPaths(inputSchema(op))
  return op === 'attachSession' && role !== 'runner' ? found.filter(({ prefix }) => prefix !== 'run') : found
}

/** The inputs in which the stranger names an object of somebody else: with the stranger's own values in all other fields, and with the fence of the object's owner. */
function inputsWith(base: Json, schema: JsonSchema, path: Path, id: string, fence: number): Json[] {
  const input = withValue(base, path, id)
  return 'fence' in (schema.properties ?? {}) ? [input, withValue(input, ['fence'], fence)] : [input]
}

describe.each(['agent', 'runner'] as const)('A16: an %s that names an object of another caller', role => {
  it.each(operations.filter(op => idPaths(inputSchema(op)).length > 0))(
    'a caller gets the same reply from %s for an object of another caller as for an unknown id, and changes nothing',
    async op => {
      const stranger = api.others[role]
      const schema = inputSchema(op)
      const isAllowed = accessOf(role, op) !== 'no'
      const base = (isAllowed ? await validInputs[op](stranger, api.actors) : smallest(schema)) as Json // an input is JSON
      for (const { path, prefix } of idsOf(op, stranger))
        for (const { owner, ids, fence } of isAllowed ? foreign : foreign.slice(0, 1)) {
          const id = ids[prefix] ?? ''
          const before = await api.state()
          const missing = inputsWith(base, schema, path, missingId(prefix), fence)
          for (const [i, input] of inputsWith(base, schema, path, id, fence).entries()) {
            const expected = withoutId(await send(stranger, op, missing[i] as object), missingId(prefix))
            const reply = withoutId(await send(stranger, op, input as object), id)
            expect(reply, `${path.join('.')} of the ${owner}`).toEqual(expected)
            expect(reply.status).toBeGreaterThanOrEqual(400)
          }
          expect(await api.state(), `${path.join('.')} of the ${owner}`).toBe(before)
        }
    },
  )
})

describe('A16: a person who names an object of another person', () => {
  const own = operations.filter(op => accessOf('person', op) === 'own' && idPaths(inputSchema(op)).length > 0)
  const drafts: readonly OperationName[] = ['putDraft', 'getDraft', 'deleteDraft']

  it.each(own.filter(op => !drafts.includes(op)))(
    'A16: a person who names an object of another person is refused by %s, and changes nothing',
    async op => {
      const schema = inputSchema(op)
      const base = (await validInputs[op](api.others.person, api.actors)) as Json // an input is JSON
      for (const { path, prefix } of idsOf(op, api.others.person))
        for (const { owner, ids, fence } of foreign) {
          const before = await api.state()
          for (const input of inputsWith(base, schema, path, ids[prefix] ?? '', fence)) {
            const reply = await send(api.others.person, op, input as object)
            expect([403, 404], `${path.join('.')} of the ${owner}: ${reply.body}`).toContain(reply.status)
          }
          expect(await api.state(), `${path.join('.')} of the ${owner}`).toBe(before)
        }
    },
  )

  it('A16: a person who names an object of another person has a separate draft, and neither sees nor deletes the other person’s draft', async () => {
    const { owner } = api.actors
    const { person } = api.others
    const { request } = await owner.request()
    await owner.call('putDraft', { id: request.id, draft: 'the words of the owner' })
    expect(JSON.stringify(await person.call('getDraft', { id: request.id }))).not.toContain('the words of the owner')
    await person.call('putDraft', { id: request.id, draft: 'others' })
    await person.call('deleteDraft', { id: request.id })
    expect((await owner.call('getDraft', { id: request.id })).draft?.draft).toBe('the words of the owner')
  })
})

describe('A16: a stream of events', () => {
  const open = (actor: Actor, session: string, cursor?: string) =>
    fetch(`${api.url}/api/v1/events?session=${session}`, {
      headers: { authorization: `Bearer ${actor.token}`, ...(cursor ? { 'last-event-id': cursor } : {}) },
    })

  it.each(['agent', 'runner'] as const)(
    'A16: a stream of events is refused to another %s as for an unknown session',
    async role => {
      const stranger = api.others[role]
      for (const { ids } of foreign) {
        const missing = await open(stranger, missingId('ses'))
        const reply = await open(stranger, ids.ses ?? '')
        expect(reply.status).toBeGreaterThanOrEqual(400)
        const expected = { status: missing.status, body: await missing.text() }
        expect(withoutId({ status: reply.status, body: await reply.text() }, ids.ses ?? '')).toEqual(
          withoutId(expected, missingId('ses')),
        )
      }
    },
  )

  it.each(['agent', 'runner'] as const)(
    'A16: a stream of events is refused to another %s over a socket as for an unknown session',
    async role => {
      const ws = new WebSocket(`${api.url.replace('http', 'ws')}/api/v1/socket`, {
        headers: { authorization: `Bearer ${api.others[role].token}` },
      })
      await once(ws, 'open')
      const subscribe = async (session: string) => {
        ws.send(JSON.stringify({ subscribe: { session } }))
        const [data] = (await once(ws, 'message')) as [Buffer]
        return String(data).replaceAll(session, 'ID')
      }
      const missing = await subscribe(missingId('ses'))
      expect(missing).toContain('"error"')
      for (const { ids } of foreign) expect(await subscribe(ids.ses ?? '')).toBe(missing)
      ws.terminate()
    },
  )

  it('A16: a stream of events resumes with events of the agent’s own session only, whichever event the cursor names', async () => {
    const { agent } = api.others
    const { id } = await agent.session()
    const { items } = await api.actors.owner.call('listEvents', { id: foreign[0]?.ids.ses as typeof id }) // the id of a session
    await agent.call('appendEvents', { id, items: [{ type: 'message.added', block: 'b', text: 'own' }] })
    const reply = await open(agent, id, items[0]?.cursor)
    let received = ''
    for await (const chunk of reply.body ?? []) {
      received += Buffer.from(chunk).toString()
      if (received.includes('"own"')) break
    }
    for (const { ids } of foreign) expect(received).not.toContain(ids.ses)
    expect(received).toContain(id)
  })
})

describe('F10: an agent', () => {
  it('F10: an agent lists and finds only its own sessions, with every search', async () => {
    const { agent } = api.others
    const title = 'the secret plan'
    const { id } = await api.actors.agent.call('startSession', { driver: 'external', title, cwd: '/srv/secret' })
    const own = (await agent.session()).id
    const listed = async (input: object) =>
      (await agent.call('listSessions', input)).items.map((session: { id: string }) => session.id)
    expect(await listed({})).toContain(own)
    for (const input of [{}, { q: 'secret' }, { q: 'the' }, { q: '' }, { q: 'external' }, { state: 'idle' }] as const) {
      const found = await listed(input)
      expect(found).not.toContain(id)
      for (const { ids } of foreign) expect(found).not.toContain(ids.ses)
    }
    expect((await listed({ q: 'secret' })).length).toBe(0)
  })
})
