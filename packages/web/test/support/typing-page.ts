/** A model of the page for keyboard tests, with a fake clock: cards, focus, panels and fields are modelled; the keyboard handler, its runs of keys, the shortcuts and the cooldown are real. */
import type { Ask, RequestId } from '@holdpoint/protocol'
import { vi } from 'vitest'
import type { CardActions } from '../../src/shortcuts/card-actions.ts'
import { type HandledPress, KeyHandler, type ResolvedShortcut } from '../../src/shortcuts/key-handler.ts'
import { KeyRuns } from '../../src/shortcuts/key-runs.ts'
import { type Press, pressProblem } from '../../src/shortcuts/press.ts'
import { actOnCard, isForCard, type ShortcutEffect } from '../../src/shortcuts/shortcuts.ts'
import { inCooldown, startCooldown } from '../../src/ui/input-cooldown.ts'

export type Screen = 'inbox' | 'session' | 'batch'
/** The element that has the focus. Enter and Space press a focused button. */
export type Focus = 'page' | 'allow button' | 'reason' | 'edit' | 'message' | 'search'

interface Card {
  readonly id: RequestId
  readonly ask: Ask
  readonly shownAt: number
  panel: 'main' | 'deny' | 'edit'
}

const fields: ReadonlySet<Focus> = new Set(['reason', 'edit', 'message', 'search'])

export class TypingPage {
  /** Everything that was decided, with the text that led to it. */
  readonly decided: string[] = []
  readonly toasts: string[] = []
  focus: Focus = 'page'
  readonly #screen: Screen
  readonly #runs = new KeyRuns()
  readonly #handler: KeyHandler
  #cards: Card[] = []
  #active: RequestId | null = null
  #count = 0
  /** The fields that have the focus. A field that is gone is not connected. */
  #field = { isConnected: true }

  constructor(screen: Screen) {
    this.#screen = screen
    this.#handler = new KeyHandler({
      runs: this.#runs,
      resolve: (shortcut, isHeld) => this.#resolve(shortcut, isHeld),
      tell: text => this.toasts.push(text),
      onHeld: () => {},
      now: () => performance.now(),
    })
  }

  get cards(): number {
    return this.#cards.length
  }
  /** Shows a request. On the session screen, the first card is active. */
  ask(ask: Ask): void {
    const id = `req_${++this.#count}` as RequestId // no gateway reads it
    this.#cards.push({ id, ask, shownAt: performance.now(), panel: 'main' })
    startCooldown()
  }
  /** Removes the active card, as if somebody else had answered it. A field in the card disappears with it. */
  answerElsewhere(): void {
    const card = this.#activeCard
    if (!card) return
    this.#cards = this.#cards.filter(each => each !== card)
    this.#active = this.#cards[0]?.id ?? null
    if (this.focus !== 'message' && this.focus !== 'search') this.#moveFocus('page')
    startCooldown()
  }
  activate(): void {
    this.#active = this.#cards[0]?.id ?? null
  }
  focusOn(focus: Focus): void {
    this.#moveFocus(focus)
  }
  wait(ms: number): void {
    vi.advanceTimersByTime(ms)
  }

  /** Presses a key as a browser would: first the focused field, then the page's shortcuts, then the browser itself. */
  press(key: string, repeat = false): void {
    const typing = fields.has(this.focus)
    const press: HandledPress = {
      key,
      repeat,
      typing,
      at: performance.now(),
      field: typing ? this.#field : null,
      onControl: typing || this.focus === 'allow button',
      ctrlKey: false,
      metaKey: false,
      altKey: false,
      isComposing: false,
      modal: false,
      isHandled: false,
    }
    this.#handler.note(press)
    const isHandled = this.#handleInField(key, repeat)
    const isPrevented = this.#handler.handle({ ...press, isHandled })
    const pressesButton = this.focus === 'allow button' && (key === 'Enter' || key === ' ')
    if (pressesButton && !isPrevented && !isHandled)
      this.#submit('allow', { at: this.#runs.pressedAt, isTyped: !this.#runs.maySend })
  }

  /** Handles Enter and Escape in the field of the reason. */
  #handleInField(key: string, repeat: boolean): boolean {
    if (this.focus !== 'reason') return false
    if (key === 'Escape') this.#openPanel('main')
    if (key !== 'Enter') return false
    if (!repeat) this.#submit('deny', { at: performance.now(), isTyped: !this.#runs.maySend })
    return true
  }
  #submit(kind: string, press: Press): void {
    const card = this.#activeCard
    if (!card || pressProblem(press, card.shownAt)) return
    this.decided.push(`${kind} ${card.id}`)
  }

  #resolve(shortcut: ResolvedShortcut, isHeld: boolean): ShortcutEffect {
    const { name } = shortcut
    if (this.#screen === 'batch' && name === 'allow') return this.#allowBatch(isHeld)
    if (this.#screen === 'batch' && name === 'deny') return { act: () => this.#openPanel('deny') }
    if (this.#screen === 'session' && name === 'interrupt') return this.#interrupt(isHeld)
    if (name === 'search') return { act: () => this.#moveFocus('search') }
    if (name === 'next' || name === 'previous') return { act: () => this.activate() }
    if (name === 'select' && this.#activeCard) return { act: () => {} }
    if (!isForCard(shortcut)) return null
    const card = this.#activeCard
    return card ? actOnCard(shortcut, card, this.#actionsOf(card), !isHeld && inCooldown()) : null
  }
  #allowBatch(isHeld: boolean): ShortcutEffect {
    if (!isHeld && inCooldown()) return { why: 'changed' }
    const content = this.#cards.map(({ id }) => id).join()
    return { target: 'batch', content, decide: () => this.decided.push(`allow ${content}`) }
  }
  #interrupt(isHeld: boolean): ShortcutEffect {
    if (!isHeld && inCooldown()) return { why: 'changed' }
    return { target: 'interrupt', content: String(this.cards), decide: () => this.decided.push('interrupt') }
  }
  #actionsOf(card: Card): CardActions {
    return {
      allow: press => this.#submit('allow', press),
      allowAnswer: card.panel === 'main' ? { kind: 'allow' } : null,
      deny: () => this.#openPanel('deny'),
      edit: () => this.#openPanel('edit'),
      choose: () => {},
    }
  }
  #openPanel(panel: Card['panel']): void {
    const card = this.#activeCard
    if (card) card.panel = panel
    this.#moveFocus(panel === 'main' ? 'page' : panel === 'deny' ? 'reason' : 'edit')
  }
  #moveFocus(focus: Focus): void {
    this.#field.isConnected = false
    this.#field = { isConnected: true }
    this.focus = focus
  }
  get #activeCard(): Card | null {
    if (this.#screen === 'session') return this.#cards[0] ?? null
    return this.#cards.find(({ id }) => id === this.#active) ?? null
  }
}
