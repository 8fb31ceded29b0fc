/** Carries out shortcuts. A key that decides is held for a moment first, and dropped if another key follows, because it may be the first letter of a text (G12). */
import { letterPauseMs } from '@holdpoint/client'
import type { HeldKeyTarget } from './held-key.ts'
import type { KeyRuns, RunField } from './key-runs.ts'
import { type KeyDecision, type KeyPress, readKeyPress, type ShortcutAction, type ShortcutEffect } from './shortcuts.ts'
import { keptApart, otherKeyFollowed, targetChanged } from './texts.ts'

export interface KeyHandlerOptions {
  readonly runs: KeyRuns
  /** Finds what a shortcut would do now. `isHeld` is true when a held key is carried out: its request must be the same, but other requests may have changed. */
  readonly resolve: (shortcut: ResolvedShortcut, isHeld: boolean) => ShortcutEffect
  readonly tell: (text: string) => void
  readonly onHeld: (target: HeldKeyTarget | null) => void
  readonly now: () => number
}

export type ResolvedShortcut = Exclude<ShortcutAction, { name: 'g' }>

export interface HandledPress extends KeyPress {
  /** The time at which the key was pressed. */
  readonly at: number
  /** The text field that has the focus. */
  readonly field: RunField | null
  /** True if the focused element has handled the key. */
  readonly isHandled: boolean
}

interface HeldKey {
  readonly shortcut: ResolvedShortcut
  readonly decision: KeyDecision
  readonly pressedAt: number
  readonly timer: ReturnType<typeof setTimeout>
}

/** A timer that fires this late shows that the page was busy. Keys that were pressed in that time may not have arrived yet. */
const lateMs = 50

export class KeyHandler {
  readonly #options: KeyHandlerOptions
  #held: HeldKey | null = null
  #gPressedAt = Number.NEGATIVE_INFINITY

  constructor(options: KeyHandlerOptions) {
    this.#options = options
  }

  /** Call for each key press, before the focused element handles the key. */
  note(press: Pick<HandledPress, 'key' | 'at' | 'field'>): void {
    if (!modifiers.test(press.key)) this.#options.runs.press(press.at, press.field)
  }
  /** Call for each key press, after the focused element has handled the key. Returns true if the browser must not handle it. */
  handle(press: HandledPress): boolean {
    const { runs, resolve, tell } = this.#options
    if (modifiers.test(press.key)) return false
    const sinceGMs = press.at - this.#gPressedAt
    this.#gPressedAt = Number.NEGATIVE_INFINITY
    if (this.cancel(otherKeyFollowed)) {
      if (press.key !== 'Escape') runs.noteText()
      return true
    }
    if (press.typing) {
      if (press.isHandled || press.key === 'Escape' || press.key === 'Tab') runs.endText()
      else runs.noteText()
      return false
    }
    if (press.isHandled) return false
    const shortcut = readKeyPress(press, sinceGMs)
    if (!shortcut || (runs.isTyping && !worksWhileTyping(shortcut, runs))) return this.#ignore(press)
    if (shortcut.name === 'g') {
      this.#gPressedAt = press.at
      return false
    }
    const effect = resolve(shortcut, false)
    if (!effect) return this.#ignore(press)
    if ('why' in effect) tell(effect.why)
    else if (needsPause.has(shortcut.name) && !runs.isFirst) tell(keptApart)
    else if ('act' in effect) effect.act()
    else this.#hold(shortcut, effect, press.at)
    return true
  }
  #ignore(press: HandledPress): boolean {
    const pressesControl = press.onControl && (press.key === 'Enter' || press.key === ' ')
    if (isTextKey(press) && !pressesControl) this.#options.runs.noteText()
    return false
  }

  #hold(shortcut: ResolvedShortcut, decision: KeyDecision, pressedAt: number): void {
    const { now, onHeld } = this.#options
    const carryOutAfter = (ms: number): HeldKey => {
      const dueAt = now() + ms
      const timer = setTimeout(() => {
        if (now() > dueAt + lateMs) this.#held = carryOutAfter(lateMs)
        else this.#carryOut(held)
      }, ms)
      const held = { shortcut, decision, pressedAt, timer }
      return held
    }
    this.#held = carryOutAfter(letterPauseMs)
    onHeld(decision.target)
  }
  #carryOut({ shortcut, decision, pressedAt }: HeldKey): void {
    const { resolve, tell, onHeld } = this.#options
    this.#held = null
    onHeld(null)
    const now = resolve(shortcut, true)
    const isSame = now && 'decide' in now && now.target === decision.target && now.content === decision.content
    if (isSame) now.decide(pressedAt)
    else tell(targetChanged)
  }
  /** Drops a held key, for example because the person uses the pointer or another window. Returns true if there was one. */
  cancel(reason: string): boolean {
    if (!this.#held) return false
    clearTimeout(this.#held.timer)
    this.#held = null
    this.#options.onHeld(null)
    this.#options.tell(reason)
    return true
  }
}

/** Shortcuts that decide, or that open a field in which Enter decides. */
const needsPause: ReadonlySet<string> = new Set(['allow', 'deny', 'edit', 'interrupt'])

/** Returns whether a shortcut works while the person types a text for something else. Moving the selection decides nothing, but must not follow a text that was typed into a field that is gone. */
function worksWhileTyping({ name }: ShortcutAction, runs: KeyRuns): boolean {
  if (name === 'escape' || name === 'palette') return true
  return (name === 'next' || name === 'previous') && !runs.beganInField
}

const modifiers = /^(?:Shift|Control|Alt|AltGraph|Meta|CapsLock|Fn|OS)$/
/** Keys with a name that are part of a text. The last four come from input methods. */
const namedTextKeys: ReadonlySet<string> = new Set([
  'Enter',
  'Backspace',
  'Delete',
  'Dead',
  'Process',
  'Compose',
  'Unidentified',
])

/** Returns whether a key can be part of a text. With Ctrl or Cmd it is a command, unless Alt is pressed too: some keyboards type signs that way. */
function isTextKey({ key, ctrlKey, metaKey, altKey, isComposing }: KeyPress): boolean {
  if (isComposing || namedTextKeys.has(key)) return true
  return [...key].length === 1 && (altKey || !(ctrlKey || metaKey))
}
