/** Fills archives before a gateway opens them: with requests that wait, through the desk; or with a long history, straight into the tables. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { openGateway } from '../../packages/engine/dist/index.js'
import { openSqlite } from '../../packages/store/dist/index.js'
import { askNumbered, cwd } from '../kit/asks.mjs'
import { writeHistory } from '../kit/history.mjs'
import { openBare } from '../kit/sqlite.mjs'

const person = { role: 'person', name: 'owner', token: 'tok_person', via: 'api' }

export async function pending({ file, sessions, each }) {
  const store = await openSqlite({ file })
  const desk = await openGateway({ store })
  for (let s = 0; s < sessions; s++) {
    const { id } = (await desk.dispatch(person, 'startSession', { driver: 'external', cwd })).body
    const asks = Array.from({ length: each }, (_, n) => ({ id, key: `ask-${n}`, ask: askNumbered(n) }))
    await Promise.all(asks.map(ask => desk.dispatch(person, 'openRequest', ask)))
  }
  await desk.close()
  await store.close()
}

/** Returns the id of a session with a past that is still open. */
export async function history({ file, requests, sessions }) {
  // What is said here about a request is what the desk itself said about one.
  const store = await openSqlite({ file: `${file}-model` })
  const desk = await openGateway({ store })
  const session = (await desk.dispatch(person, 'startSession', { driver: 'external', cwd })).body
  const request = (await desk.dispatch(person, 'openRequest', { id: session.id, key: 'ask-0', ask: askNumbered(0) }))
    .body
  await desk.dispatch(person, 'answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
  await desk.dispatch(person, 'reportDelivery', { id: request.id, state: 'handed' })
  await desk.dispatch(person, 'reportDelivery', { id: request.id, state: 'taken' })
  await desk.close()
  await store.close()
  const known = writeHistory(await openBare(file), `${file}-model`, { requests, sessions })
  // Gigabytes that the system has still to write would slow down whoever waits for the disk afterwards.
  const written = openSync(file, 'r+')
  fsyncSync(written)
  closeSync(written)
  return known
}

/** A conversation as long as wanted: words, calls of tools and their results. Returns its session. */
export async function talk({ file, events }) {
  const store = await openSqlite({ file })
  const desk = await openGateway({ store })
  const { id } = (await desk.dispatch(person, 'startSession', { driver: 'external', cwd, title: 'A long talk' })).body
  const perPost = 200
  for (let from = 0; from < events; from += perPost)
    await desk.dispatch(person, 'appendEvents', {
      id,
      items: Array.from({ length: Math.min(perPost, events - from) }, (_, i) => saying(from + i)),
    })
  await desk.dispatch(person, 'appendEvents', {
    id,
    items: [{ type: 'message.added', block: 'last', text: 'The newest line.' }],
  })
  await desk.close()
  await store.close()
  return id
}
function saying(n) {
  const block = `b${Math.floor(n / 4)}`
  switch (n % 4) {
    case 0:
      return { type: 'message.added', block: `m${n}`, text: words(n) }
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
function words(n) {
  const lines = [
    'I looked at the failing test first.',
    '- it waits for a port',
    '- the port is taken',
    '```ts\nconst port = 0\n```',
  ]
  return lines.slice(0, 1 + (n % lines.length)).join('\n')
}
