/** What each key means, and when none of them means anything: nobody decides by a key that was meant for something else. */
import type { Request } from '@holdpoint/protocol'
import type { CardActions } from './card-actions.ts'

const simple = {
  j: 'next',
  k: 'previous',
  Enter: 'open',
  a: 'allow',
  d: 'deny',
  e: 'edit',
  x: 'select',
  X: 'range',
  '.': 'more',
  i: 'interrupt',
  '/': 'search',
  n: 'start',
  '?': 'help',
  Escape: 'escape',
} as const
const afterG = { i: 'inbox', s: 'sessions', r: 'record' } as const

export type Plain = (typeof simple)[keyof typeof simple] | (typeof afterG)[keyof typeof afterG] | 'palette'
export type ShortcutAction =
  | { readonly does: Plain }
  | { readonly does: 'choose'; readonly n: number }
  | { readonly does: 'g' }

/** A key press, and where it landed. */
export interface KeyPress {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  /** Held down. */
  readonly repeat: boolean
  readonly isComposing: boolean
  /** In a field for text, or in anything that uses letters by itself. */
  readonly typing: boolean
  /** On a button or a link, which Enter belongs to. */
  readonly onControl: boolean
  /** A dialog stands in front of the page. */
  readonly modal: boolean
}

/** The second key of `g i` has this long to come; and whoever was slower still meant that, not what its letter does alone. */
const sequenceMs = 1500
const tooLateMs = 6000

/** `sinceGMs`: how long ago `g` was pressed, where it was the last key. */
export function readKeyPress(press: KeyPress, sinceGMs = Number.POSITIVE_INFINITY): ShortcutAction | null {
  const { key, ctrlKey, metaKey, altKey, isComposing, modal } = press
  if (isComposing || altKey) return null
  // Works while typing, too: no text is written with it.
  if ((ctrlKey || metaKey) && !(ctrlKey && metaKey))
    return key.toLowerCase() === 'k' && !modal ? { does: 'palette' } : null
  if (ctrlKey || metaKey || modal || press.typing) return null
  const second = Object.hasOwn(afterG, key) ? afterG[key as keyof typeof afterG] : null // one of its keys, by hasOwn
  if (sinceGMs < sequenceMs) return second && { does: second }
  if (second && sinceGMs < tooLateMs) return null
  if (key === 'g') return { does: 'g' }
  if (press.onControl && key === 'Enter') return null
  const does = Object.hasOwn(simple, key) ? simple[key as keyof typeof simple] : null // likewise
  // A key held down moves on, and does nothing else: the next card is not the one that was meant.
  if (press.repeat && does !== 'next' && does !== 'previous') return null
  if (does) return { does }
  return /^[1-9]$/.test(key) ? { does: 'choose', n: Number(key) } : null
}

export type CardShortcut =
  | { readonly does: 'allow' | 'deny' | 'edit' }
  | { readonly does: 'choose'; readonly n: number }

export function isForCard(stroke: ShortcutAction): stroke is CardShortcut {
  return stroke.does === 'allow' || stroke.does === 'deny' || stroke.does === 'edit' || stroke.does === 'choose'
}

/** What a key does to a card: nothing right after a change; and what its agent's own program advises against is never allowed by a key. */
export function actOnCard(
  stroke: CardShortcut,
  { ask }: Pick<Request, 'ask'>,
  actions: CardActions,
  quiet: boolean,
): (() => void) | { readonly why: string } | null {
  if (quiet) return { why: 'Something just changed. Look, then press again.' }
  switch (stroke.does) {
    case 'allow':
      if (ask.kind === 'approval' && ask.caution?.defaultToNo)
        return { why: 'This one is not allowed by a key: its agent advises against it.' }
      return actions.allow ?? { why: 'This one cannot be allowed by a key right now.' }
    case 'deny':
      return actions.deny ?? null
    case 'edit':
      return actions.edit ?? null
    case 'choose': {
      const { choose } = actions
      return choose ? () => choose(stroke.n) : null
    }
  }
}

export interface ShortcutDescription {
  readonly keys: readonly string[]
  readonly words: string
}
/** As the help shows them. */
export const shortcutGroups: readonly { readonly title: string; readonly keys: readonly ShortcutDescription[] }[] = [
  {
    title: 'Requests',
    keys: [
      { keys: ['j', 'k'], words: 'Next, previous' },
      { keys: ['Enter'], words: 'Open it' },
      { keys: ['a'], words: 'Allow once' },
      { keys: ['d'], words: 'Deny, with a reason' },
      { keys: ['e'], words: 'Edit, then allow' },
      { keys: ['1', '…', '9'], words: 'Choose an option' },
      { keys: ['x'], words: 'Select; with Shift from the last one to here' },
      { keys: ['.'], words: 'Show those that came meanwhile' },
    ],
  },
  {
    title: 'Everywhere',
    keys: [
      { keys: ['g', 'i'], words: 'Inbox' },
      { keys: ['g', 's'], words: 'Sessions' },
      { keys: ['g', 'r'], words: 'Record' },
      { keys: ['n'], words: 'Start a session' },
      { keys: ['/'], words: 'Search' },
      { keys: ['i'], words: 'Interrupt the turn of the session that is shown' },
      { keys: ['⌘/Ctrl', 'K'], words: 'Go to…' },
      { keys: ['?'], words: 'This help' },
      { keys: ['Esc'], words: 'Back, close' },
    ],
  },
]
