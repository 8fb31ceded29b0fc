/** Fills archives before a gateway opens them: with requests that wait, through the desk; or with a long history, straight into the tables. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { openDesk } from '../../packages/engine/dist/index.js'
import { openSqlite } from '../../packages/store/dist/index.js'
import { askNumbered, cwd } from '../kit/asks.mjs'
import { writeHistory } from '../kit/history.mjs'
import { openBare } from '../kit/sqlite.mjs'

const person = { role: 'person', name: 'owner', token: 'tok_person', via: 'api' }

export async function pending({ file, sessions, each }) {
  const store = await openSqlite({ file })
  const desk = await openDesk({ store })
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
  const desk = await openDesk({ store })
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
