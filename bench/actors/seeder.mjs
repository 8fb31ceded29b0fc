/** Fills databases before the measured gateway opens them. Pending requests and conversations are written through a gateway, and a long history directly in SQL. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { openGateway } from '../../packages/engine/dist/index.js'
import { openSqlite } from '../../packages/store/dist/index.js'
import { askNumbered, cwd } from '../kit/asks.mjs'
import { writeHistory } from '../kit/history.mjs'
import { openBare } from '../kit/sqlite.mjs'

const person = { role: 'owner', id: 'per_owner', name: 'owner', token: 'tok_person', via: 'api' }

export async function pending({ file, sessions, each }) {
  const store = await openSqlite({ file })
  const gateway = await openGateway({ store })
  for (let s = 0; s < sessions; s++) {
    const { id } = (await gateway.dispatch(person, 'startSession', { driver: 'external', cwd })).body
    const asks = Array.from({ length: each }, (_, n) => ({ id, key: `ask-${n}`, ask: askNumbered(n) }))
    await Promise.all(asks.map(ask => gateway.dispatch(person, 'openRequest', ask)))
  }
  await gateway.close()
  await store.close()
}

/** Returns the id of an open session with a long history, and the token of the agent that started it. */
export async function history({ file, requests, sessions }) {
  // A real gateway writes the template rows.
  const store = await openSqlite({ file: `${file}-template` })
  const gateway = await openGateway({ store })
  const added = (await gateway.dispatch(person, 'addToken', { role: 'agent', name: 'bench' })).body
  const agent = { role: 'agent', id: added.id, name: 'bench', token: added.id, via: 'api' }
  const session = (await gateway.dispatch(agent, 'startSession', { driver: 'external', cwd })).body
  const request = (await gateway.dispatch(agent, 'openRequest', { id: session.id, key: 'ask-0', ask: askNumbered(0) }))
    .body
  await gateway.dispatch(person, 'answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
  await gateway.dispatch(agent, 'reportDelivery', { id: request.id, state: 'handed' })
  await gateway.dispatch(agent, 'reportDelivery', { id: request.id, state: 'taken' })
  await gateway.close()
  await store.close()
  const openSession = writeHistory(await openBare(file), `${file}-template`, { requests, sessions })
  // Flush now, because gigabytes of dirty pages would slow down the disk during the measurement.
  const written = openSync(file, 'r+')
  fsyncSync(written)
  closeSync(written)
  return { session: openSession, token: added.secret }
}

/** Writes a conversation of messages, tool calls and results. Returns the session. */
export async function conversation({ file, events }) {
  const store = await openSqlite({ file })
  const gateway = await openGateway({ store })
  const { id } = (
    await gateway.dispatch(person, 'startSession', { driver: 'external', cwd, title: 'A long conversation' })
  ).body
  const perPost = 200
  for (let from = 0; from < events; from += perPost)
    await gateway.dispatch(person, 'appendEvents', {
      id,
      items: Array.from({ length: Math.min(perPost, events - from) }, (_, i) => eventNumbered(from + i)),
    })
  await gateway.dispatch(person, 'appendEvents', {
    id,
    items: [{ type: 'message.added', block: 'last', text: 'The newest line.' }],
  })
  await gateway.close()
  await store.close()
  return id
}
function eventNumbered(n) {
  const block = `b${Math.floor(n / 4)}`
  switch (n % 4) {
    case 0:
      return { type: 'message.added', block: `m${n}`, text: messageText(n) }
    case 1:
      return { type: 'tool.started', block, tool: 'Bash', input: { command: `npm test -- --shard ${n}` } }
    case 2:
      return {
        type: 'tool.finished',
        block: `b${Math.floor((n - 1) / 4)}`,
        ok: n % 11 > 0,
        output: `${n} passed\n`.repeat(1 + (n % 7)),
      }
    default:
      return { type: 'message.added', block: `m${n}`, text: `Step **${n}** is done: \`src/part-${n}.ts\`.` }
  }
}
function messageText(n) {
  const lines = [
    'I looked at the failing test first.',
    '- it waits for a port',
    '- the port is taken',
    '```ts\nconst port = 0\n```',
  ]
  return lines.slice(0, 1 + (n % lines.length)).join('\n')
}
