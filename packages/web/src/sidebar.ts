/** Every session by what it does now, those that wait for a person first. */
import type { InboxSnapshot } from '@holdpoint/client'
import type { Session, SessionId } from '@holdpoint/protocol'
import { words } from './agent-text.ts'
import { arrange, el, setText, underPointer } from './dom.ts'

const groups = ['waiting', 'starting', 'working', 'idle', 'parked', 'ended'] as const
type Group = (typeof groups)[number]
const signs: Record<Group, string> = { waiting: '', starting: '◌', working: '◌', idle: '·', parked: '‖', ended: '✕' }
/** Ended sessions are history: only the newest stand here. */
const endedShown = 30

export class Sidebar {
  readonly root: HTMLElement
  readonly #list = el('div.sessions')
  readonly #count = el('span.count')
  readonly #inbox = el('a.entry', { href: '#' }, el('span', {}, 'Inbox'), this.#count)
  readonly #headings = new Map(groups.map(group => [group, el('h2', {}, group)]))
  readonly #entries = new Map<
    SessionId,
    { link: HTMLAnchorElement; sign: HTMLElement; title: HTMLElement; count: HTMLElement }
  >()
  #arrange = () => {}

  constructor(start: () => void) {
    const button = el('button', { type: 'button', onclick: start }, 'New session…')
    const brand = el(
      'a.brand',
      { href: '#' },
      el('img', { src: '/favicon.svg', alt: '', width: 20, height: 20 }),
      'Holdpoint',
    )
    this.root = el('nav.side', { ariaLabel: 'Sessions' }, el('div.top', {}, brand, button), this.#inbox, this.#list)
    this.#list.addEventListener('pointerleave', () => this.#arrange())
  }

  render({ sessions, pendingCount }: InboxSnapshot, selected: SessionId | null): void {
    setText(this.#count, pendingCount > 0 ? String(pendingCount) : '')
    this.#inbox.ariaCurrent = selected === null ? 'page' : null
    const sorted = [...sessions.values()].sort((a, b) => b.startedAt - a.startedAt)
    for (const session of sorted) this.#draw(session, session.id === selected)
    this.#arrange = () => arrange(this.#list, this.#order(sorted))
    if (!underPointer(this.#list)) this.#arrange()
  }

  #order(sorted: readonly Session[]): HTMLElement[] {
    return groups.flatMap(group => {
      const members = sorted.filter(session => groupOf(session) === group)
      const links = members
        .slice(0, group === 'ended' ? endedShown : undefined)
        .flatMap(({ id }) => this.#entries.get(id)?.link ?? [])
      const heading = this.#headings.get(group)
      return heading && links.length > 0 ? [heading, ...links] : []
    })
  }

  #draw(session: Session, selected: boolean): void {
    const known = this.#entries.get(session.id)
    const entry = known ?? {
      link: el('a.entry', { href: `#session=${session.id}` }),
      sign: el('span.sign'),
      title: el('span.title'),
      count: el('span.count'),
    }
    if (!known) {
      entry.link.append(entry.sign, entry.title, entry.count)
      this.#entries.set(session.id, entry)
    }
    const group = groupOf(session)
    setText(entry.sign, signs[group])
    entry.sign.title = group
    entry.sign.classList.toggle('hand', group === 'waiting')
    setText(entry.title, words(session.title || session.driver).textContent)
    setText(entry.count, session.pending > 0 ? String(session.pending) : '')
    entry.link.classList.toggle('waiting', group === 'waiting')
    entry.link.ariaCurrent = selected ? 'page' : null
  }
}

function groupOf({ state, pending }: Session): Group {
  return pending > 0 && state !== 'ended' ? 'waiting' : state
}
