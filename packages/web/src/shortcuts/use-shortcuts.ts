/** Routes key presses to the most recently mounted component that handles the shortcut, or else to the active card. */
import type { Request } from '@holdpoint/protocol'
import { useEffect, useRef } from 'react'
import { useGateway } from '../gateway/gateway-context.ts'
import { inCooldown, startCooldown } from '../ui/input-cooldown.ts'
import { showToast } from '../ui/toast.tsx'
import { cardActionsOf } from './card-actions.ts'
import { heldKey } from './held-key.ts'
import { type HandledPress, KeyHandler, type ResolvedShortcut } from './key-handler.ts'
import { keyRuns } from './key-runs.ts'
import { actOnCard, isForCard, type ShortcutEffect, type ShortcutName } from './shortcuts.ts'
import { pointerUsed, wasOffScreen, windowLeft } from './texts.ts'

export type ShortcutHandlers = {
  readonly [name in Exclude<ShortcutName, DecidingName>]?: (() => void) | undefined
} & {
  /** Returns what the key would decide. `isHeld` is true when the key was pressed earlier and is carried out now. */
  readonly [name in DecidingName]?: ((isHeld: boolean) => ShortcutEffect) | undefined
} & {
  /** Returns the request that the keys a, d, e and 1 to 9 act on. If its card is off screen, scrolls to it instead. */
  readonly active?: () => Request | 'off screen' | null
}
type DecidingName = 'allow' | 'interrupt'

type HandlersRef = { readonly current: ShortcutHandlers }
const registered: HandlersRef[] = []

/** Registers shortcut handlers while the calling component is mounted. */
export function useShortcuts(handlers: ShortcutHandlers): void {
  const latest = useRef(handlers)
  useEffect(() => {
    latest.current = handlers
  })
  useEffect(() => {
    registered.unshift(latest)
    return () => {
      registered.splice(registered.indexOf(latest), 1)
    }
  }, [])
}

/** Returns what a shortcut of the current screen does, for other ways to choose it; undefined if the screen does not have it. */
export function shortcutAction(name: Exclude<ShortcutName, DecidingName>): (() => void) | undefined {
  return registered.find(({ current }) => current[name])?.current[name]
}

/** Listens for shortcuts on the whole page. Call it once, in the page's root component. */
export function useKeyboard(): void {
  const { inbox } = useGateway()
  useEffect(() => {
    const handler = new KeyHandler({
      runs: keyRuns,
      resolve: (shortcut, isHeld) => resolveShortcut(shortcut, inbox.getSnapshot().status === 'live', isHeld),
      tell: showToast,
      onHeld: heldKey.set,
      now: () => performance.now(),
    })
    const listening = new AbortController()
    const { signal } = listening
    addEventListener('keydown', event => handler.note(describeKeyPress(event)), { signal, capture: true })
    addEventListener('keydown', event => handler.handle(describeKeyPress(event)) && event.preventDefault(), { signal })
    addEventListener('pointerdown', () => handler.cancel(pointerUsed), { signal, capture: true })
    addEventListener('blur', () => handler.cancel(windowLeft), { signal })
    document.addEventListener('visibilitychange', () => handler.cancel(windowLeft), { signal })
    // The click that brings the window to the front may hit a button by accident.
    addEventListener('focus', startCooldown, { signal })
    return () => {
      listening.abort()
      handler.cancel(windowLeft)
    }
  }, [inbox])
}

/** Finds what a shortcut would do now: the most recently mounted component that handles it, or else the active card, decides. */
function resolveShortcut(shortcut: ResolvedShortcut, live: boolean, isHeld: boolean): ShortcutEffect {
  const { name } = shortcut
  if (name === 'allow' || name === 'interrupt') {
    const effect = registered.find(({ current }) => current[name])?.current[name]?.(isHeld)
    if (effect) return effect
  } else if (name !== 'choose') {
    const act = registered.find(({ current }) => current[name])?.current[name]
    if (act) return { act }
  }
  if (!isForCard(shortcut)) return null
  const request = registered.find(({ current }) => current.active)?.current.active?.()
  if (request === 'off screen') return { why: wasOffScreen }
  const actions = request && cardActionsOf(request.id)
  if (!request || !actions || !live) return null
  return actOnCard(shortcut, request, actions, !isHeld && inCooldown())
}

/** Types of input elements into which people cannot type text. */
const nonTextInputTypes = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'range', 'color', 'file'])

function describeKeyPress(event: KeyboardEvent): HandledPress {
  const { key, ctrlKey, metaKey, altKey, repeat, isComposing, timeStamp: at, defaultPrevented: isHandled } = event
  const target = event.target instanceof HTMLElement ? event.target : document.body
  const typing =
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !nonTextInputTypes.has(target.type))
  const onControl = target.closest('a, button, input, summary, [role="option"], [tabindex="0"]') !== null
  const modal = document.querySelector('dialog:modal, [popover]:popover-open') !== null
  const field = typing ? target : null
  return { key, ctrlKey, metaKey, altKey, repeat, isComposing, typing, onControl, modal, at, field, isHandled }
}
