/** The way in: a one-use code becomes a cookie, and whoever has none is told how to get one. */
import './jitless.ts'
import { type Connection, httpCall } from '@holdpoint/client'
import { Fault } from '@holdpoint/protocol'
import { el, readFragment } from './dom.ts'
import { Page } from './page.ts'
import { said } from './starter.ts'

const connection: Connection = { url: location.origin, via: 'page' }
const call = httpCall(connection)

async function start(): Promise<void> {
  const code = readFragment('code')
  // A code works once, but an address is copied, synced and shown: it goes before anything else happens.
  if (code !== null) history.replaceState(null, '', '/')
  addEventListener('hashchange', () => readFragment('code') !== null && location.reload())
  try {
    // A link that was used up matters only to a browser that is not signed in.
    const refusal = code === null ? null : await call('signIn', { code }).then(() => null, keep)
    await call('whoAmI', {}).catch((error: unknown) => Promise.reject(refusal ?? error))
    new Page(connection, call, showDoor)
  } catch (error) {
    showDoor(error)
  }
}

function keep(error: unknown): unknown {
  return error
}

/** What someone sees whom the gateway does not know, or who cannot reach it. */
function showDoor(error: unknown): void {
  const stranger = error instanceof Fault && error.status === 401
  const again = el('button', { type: 'button', onclick: () => location.reload() }, 'Try again')
  document.title = 'Holdpoint'
  document.body.className = ''
  document.body.replaceChildren(
    el(
      'main.door',
      {},
      el('img', { src: '/favicon.svg', alt: '', width: 48, height: 48 }),
      el('h1', {}, stranger ? 'This browser is not signed in' : 'Holdpoint cannot be opened'),
      stranger && el('p', {}, 'On the machine where Holdpoint runs, type'),
      stranger && el('pre.code', {}, 'holdpoint link'),
      stranger && el('p', {}, 'and open the address that it prints. It works once, for ten minutes.'),
      el('p.hint', {}, said(error)),
      again,
    ),
  )
}

void start()
