/** The page of someone who is signed in: it follows the inbox, and shows either everything that waits or one session. */
import { type Connection, Inbox, type InboxSnapshot, watchEvents } from '@holdpoint/client'
import { type Call, type Session, SessionId } from '@holdpoint/protocol'
import { Cards } from './cards.ts'
import { Conversation } from './conversation.ts'
import { el, readFragment, setText } from './dom.ts'
import { Sidebar } from './sidebar.ts'
import { Starter, said } from './starter.ts'
import { Transcript } from './transcript.ts'

const rehearsalWords =
  'A rehearsal is a small built-in agent that plays every kind of question. It needs no key and does no harm.'
const awayWords = 'The gateway is out of reach; trying again. What you see may be old.'

export class Page {
  readonly #inbox: Inbox
  readonly #cards: Cards
  readonly #transcript: Transcript
  readonly #conversation: Conversation
  readonly #starter: Starter
  readonly #sidebar: Sidebar
  readonly #nothing = el('p')
  readonly #newcomer: HTMLElement
  readonly #empty: HTMLElement
  readonly #bar = el('div.bar', { role: 'status' })
  readonly #main: HTMLElement
  readonly #onEnded: (error: Error) => void
  #shown: SessionId | null | undefined

  constructor(connection: Connection, call: Call, onEnded: (error: Error) => void) {
    this.#onEnded = onEnded
    const transcript = new Transcript(call)
    this.#transcript = transcript
    this.#inbox = new Inbox({
      call,
      watch: async function* (options) {
        for await (const frame of watchEvents(connection, options)) {
          transcript.frame(frame)
          yield frame
        }
      },
    })
    this.#cards = new Cards({
      send: (request, answer) => this.#inbox.answer(request.id, answer),
      fetchRequest: id => call('getRequest', { id }),
    })
    this.#conversation = new Conversation(call)
    this.#starter = new Starter(call, session => {
      location.hash = `session=${session}`
    })
    this.#sidebar = new Sidebar(() => void this.#starter.open())
    this.#newcomer = this.#drawNewcomer()
    this.#empty = el('section.empty', {}, this.#nothing, this.#newcomer)
    const { head, composer } = this.#conversation
    this.#main = el('main', {}, head, transcript.root, this.#empty, this.#cards.root, composer, this.#cards.receipts)
    const app = el('div.app', {}, this.#sidebar.root, this.#main)
    document.body.replaceChildren(this.#bar, app, this.#starter.dialog, this.#cards.news)
    this.#inbox.subscribe(this.#render)
    addEventListener('hashchange', this.#render)
    this.#render()
  }

  #drawNewcomer(): HTMLElement {
    const trouble = el('p.problem', { role: 'alert' })
    const onclick = () => void this.#starter.rehearse().catch((error: unknown) => setText(trouble, said(error)))
    const button = el('button.primary', { type: 'button', onclick }, 'Start a rehearsal')
    return el('div.empty', {}, el('p.hint', {}, rehearsalWords), button, trouble)
  }

  readonly #render = (): void => {
    const snapshot = this.#inbox.getSnapshot()
    if (snapshot.ended) {
      this.#inbox.close()
      removeEventListener('hashchange', this.#render)
      this.#onEnded(snapshot.ended)
      return
    }
    const selected = SessionId.safeParse(readFragment('session')).data
    const session = selected && snapshot.sessions.get(selected)
    this.#turnTo(session)
    this.#sidebar.render(snapshot, session?.id ?? null)
    this.#transcript.live(snapshot)
    const waiting = this.#cards.render(snapshot, session?.id ?? null)
    this.#empty.hidden = waiting > 0 || snapshot.status === 'connecting' || !snapshot.complete
    this.#newcomer.hidden = snapshot.sessions.size > 0
    setText(this.#nothing, `Nothing waits for you. ${countWorking(snapshot)} working.`)
    document.title = snapshot.pendingCount > 0 ? `(${snapshot.pendingCount}) Holdpoint` : 'Holdpoint'
    const away = snapshot.status === 'reconnecting'
    document.body.classList.toggle('away', away)
    setText(this.#bar, away ? awayWords : '')
  }

  #turnTo(session: Session | undefined): void {
    const id = session?.id ?? null
    this.#main.className = session ? 'one' : 'all'
    if (session) this.#conversation.render(session)
    if (this.#shown === id) return
    this.#shown = id
    void this.#transcript.show(id)
  }
}

function countWorking({ sessions }: InboxSnapshot): string {
  const busy = [...sessions.values()].filter(({ state }) => state === 'working' || state === 'starting').length
  return busy === 1 ? '1 agent is' : `${busy === 0 ? 'No' : busy} agents are`
}
