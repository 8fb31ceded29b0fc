/** The page: signs in, follows the inbox, and shows either everything that waits or one session. */
import './jitless.ts'
import { type Connection, httpCall, Inbox, watchEvents } from '@holdpoint/client'
import { Fault, SessionId } from '@holdpoint/protocol'
import { Cards } from './cards.ts'
import { Conversation } from './conversation.ts'
import { el, setText } from './dom.ts'
import { Sidebar } from './sidebar.ts'
import { Starter, said } from './starter.ts'
import { Transcript } from './transcript.ts'

const connection: Connection = { url: location.origin, via: 'page' }
const call = httpCall(connection)
const rehearsalWords =
  'A rehearsal is a small built-in agent that plays every kind of question. It needs no key and does no harm.'

async function start(): Promise<void> {
  const code = readFragment('code')
  // A code works once, but an address is copied, synced and shown: it goes before anything else happens.
  if (code !== null) history.replaceState(null, '', '/')
  addEventListener('hashchange', () => readFragment('code') !== null && location.reload())
  try {
    // A link that was used up matters only to a browser that is not signed in.
    const refusal = code === null ? null : await call('signIn', { code }).then(() => null, keep)
    await call('whoAmI', {}).catch((error: unknown) => Promise.reject(refusal ?? error))
    openPage()
  } catch (error) {
    showDoor(error)
  }
}

function keep(error: unknown): unknown {
  return error
}

function openPage(): void {
  const transcript = new Transcript(call)
  const inbox = new Inbox({
    call,
    watch: async function* (options) {
      for await (const frame of watchEvents(connection, options)) {
        transcript.frame(frame)
        yield frame
      }
    },
  })
  const cards = new Cards({
    send: (request, answer) => inbox.answer(request.id, answer),
    fetchRequest: id => call('getRequest', { id }),
  })
  const conversation = new Conversation(call)
  const starter = new Starter(call, session => {
    location.hash = `session=${session}`
  })
  const sidebar = new Sidebar(() => void starter.open())
  const trouble = el('p.problem', { role: 'alert' })
  const rehearse = () => void starter.rehearse().catch((error: unknown) => setText(trouble, said(error)))
  const nothing = el('p')
  const button = el('button.primary', { type: 'button', onclick: rehearse }, 'Start a rehearsal')
  const newcomer = el('div.empty', {}, el('p.hint', {}, rehearsalWords), button, trouble)
  const empty = el('section.empty', {}, nothing, newcomer)
  const bar = el('div.bar', { role: 'status' })
  const main = el(
    'main',
    {},
    conversation.head,
    transcript.root,
    empty,
    cards.root,
    conversation.composer,
    cards.receipts,
  )
  document.body.replaceChildren(
    bar,
    el('div.app', {}, sidebar.root, main),
    ...document.querySelectorAll('dialog, .offscreen'),
  )

  let shown: SessionId | null | undefined
  const render = () => {
    const snapshot = inbox.getSnapshot()
    if (snapshot.ended) {
      inbox.close()
      return showDoor(snapshot.ended)
    }
    const selected = SessionId.safeParse(readFragment('session')).data
    const session = selected && snapshot.sessions.get(selected)
    if (shown !== (session?.id ?? null)) {
      shown = session?.id ?? null
      void transcript.show(shown)
    }
    main.className = session ? 'one' : 'all'
    if (session) conversation.render(session)
    sidebar.render(snapshot, shown)
    transcript.live(snapshot)
    const waiting = cards.render(snapshot, shown)
    const known = snapshot.status !== 'connecting' && snapshot.complete
    empty.hidden = session !== undefined || waiting > 0 || !known
    const working = [...snapshot.sessions.values()].filter(
      each => each.state === 'working' || each.state === 'starting',
    ).length
    setText(
      nothing,
      `Nothing waits for you. ${working === 1 ? '1 agent is' : `${working === 0 ? 'No' : working} agents are`} working.`,
    )
    newcomer.hidden = snapshot.sessions.size > 0
    document.title = snapshot.pendingCount > 0 ? `(${snapshot.pendingCount}) Holdpoint` : 'Holdpoint'
    document.body.classList.toggle('away', snapshot.status === 'reconnecting')
    setText(
      bar,
      snapshot.status === 'reconnecting' ? 'The gateway is out of reach; trying again. What you see may be old.' : '',
    )
  }
  inbox.subscribe(render)
  addEventListener('hashchange', render)
  render()
}

/** What someone sees whom the gateway does not know. */
function showDoor(error: unknown): void {
  const stranger = error instanceof Fault && error.status === 401
  const again = el('button', { type: 'button', onclick: () => location.reload() }, 'Try again')
  document.title = 'Holdpoint'
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

function readFragment(name: string): string | null {
  return new URLSearchParams(location.hash.slice(1)).get(name)
}

void start()
