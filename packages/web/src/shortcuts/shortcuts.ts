/** Maps key presses to shortcuts, and ignores presses that were probably meant for something else, such as typing. */
import { isDangerous } from '@holdpoint/client'
import type { Request } from '@holdpoint/protocol'
import type { CardActions } from './card-actions.ts'
import { cardKeys, similarKey } from './card-keys.ts'
import type { HeldKeyTarget } from './held-key.ts'
import { cannotAllowByKey, dangerousNotByKey, justChanged } from './texts.ts'

const singleKeys = {
  j: 'next',
  k: 'previous',
  Enter: 'open',
  [cardKeys.allow]: 'allow',
  [cardKeys.deny]: 'deny',
  [cardKeys.edit]: 'edit',
  [cardKeys.comment]: 'comment',
  x: 'select',
  X: 'range',
  [similarKey]: 'similar',
  '.': 'more',
  i: 'interrupt',
  o: 'overview',
  w: 'nextWaiting',
  r: 'nextRequest',
  R: 'previousRequest',
  '/': 'search',
  n: 'start',
  '?': 'help',
  Escape: 'escape',
} as const
const keysAfterG = { i: 'inbox', s: 'sessions', r: 'audit', u: 'rules', t: 'settings' } as const

export type ShortcutName =
  | (typeof singleKeys)[keyof typeof singleKeys]
  | (typeof keysAfterG)[keyof typeof keysAfterG]
  | 'palette'
export type ShortcutAction =
  | { readonly name: ShortcutName }
  | { readonly name: 'choose'; readonly n: number }
  | { readonly name: 'g' }

/** A key press and its context on the page. */
export interface KeyPress {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  /** True if the key is held down. */
  readonly repeat: boolean
  readonly isComposing: boolean
  /** True if the focus is in a text field, or in a control that uses letter keys itself. */
  readonly typing: boolean
  /** True if the focus is on a control that handles Enter itself, such as a button or link. */
  readonly onControl: boolean
  /** True if a modal dialog or popover is open. */
  readonly modal: boolean
}

/** How long after `g` a second key completes a sequence such as `g i`. */
const sequenceMs = 1500
/** How long after `g` a key of `keysAfterG` is ignored instead of running its own shortcut. Such a key is too late for the sequence, but was probably meant for it. */
const sequenceGuardMs = 6000

/** Returns the shortcut of a key press, or null. `sinceGMs` is the time since `g` was pressed, if `g` was the previous key. */
export function readKeyPress(press: KeyPress, sinceGMs = Number.POSITIVE_INFINITY): ShortcutAction | null {
  const { key, ctrlKey, metaKey, altKey, isComposing, modal } = press
  if (isComposing || altKey) return null
  // Ctrl+K and Cmd+K work even while the person types, because they insert no text.
  if ((ctrlKey || metaKey) && !(ctrlKey && metaKey))
    return key.toLowerCase() === 'k' && !modal ? { name: 'palette' } : null
  if (ctrlKey || metaKey || modal || press.typing) return null
  const target = Object.hasOwn(keysAfterG, key) ? keysAfterG[key as keyof typeof keysAfterG] : null // The check with `hasOwn` makes the cast safe.
  if (sinceGMs < sequenceMs) return target && { name: target }
  if (target && sinceGMs < sequenceGuardMs) return null
  if (key === 'g') return { name: 'g' }
  if (press.onControl && key === 'Enter') return null
  const name = Object.hasOwn(singleKeys, key) ? singleKeys[key as keyof typeof singleKeys] : null // The check with `hasOwn` makes the cast safe.
  // A held key may only move the selection, because any other shortcut could act on a card that the person did not choose.
  if (press.repeat && name !== 'next' && name !== 'previous') return null
  if (name) return { name }
  return /^[1-9]$/.test(key) ? { name: 'choose', n: Number(key) } : null
}

/** A decision that a key makes, unless another key follows. */
export interface KeyDecision {
  readonly target: HeldKeyTarget
  /** Describes what would be sent and for which request. If it changes while the key is held, nothing is sent. */
  readonly content: string
  /** `pressedAt` is when the key was pressed. */
  readonly decide: (pressedAt: number) => void
}
/** The effect that a shortcut would have now: none, a reason why not, an action at once, or a decision. */
export type ShortcutEffect = null | { readonly why: string } | { readonly act: () => void } | KeyDecision

export type CardShortcut =
  | { readonly name: 'allow' | 'deny' | 'edit' | 'comment' }
  | { readonly name: 'choose'; readonly n: number }

export function isForCard(shortcut: ShortcutAction): shortcut is CardShortcut {
  return ['allow', 'deny', 'edit', 'comment', 'choose'].includes(shortcut.name)
}

/** Returns what a shortcut does to a card, the reason it may not run (to show to the person), or null if the card has no such action. */
export function actOnCard(
  shortcut: CardShortcut,
  request: Pick<Request, 'id' | 'ask' | 'risk'>,
  actions: CardActions,
  inCooldown: boolean,
): ShortcutEffect {
  if (inCooldown) return { why: justChanged }
  const { allow, allowAnswer, deny, edit, comment, choose } = actions
  switch (shortcut.name) {
    case 'allow':
      if (isDangerous(request)) return { why: dangerousNotByKey }
      if (!allow || !allowAnswer) return { why: cannotAllowByKey }
      return {
        target: 'card',
        content: `${request.id} ${JSON.stringify(allowAnswer)}`,
        decide: at => allow({ at, isHeldKey: true }),
      }
    case 'deny':
      return deny ? { act: deny } : null
    case 'edit':
      return edit ? { act: edit } : null
    case 'comment':
      return comment ? { act: comment } : null
    case 'choose':
      return choose ? { act: () => choose(shortcut.n) } : null
  }
}
