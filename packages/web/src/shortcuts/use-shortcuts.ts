/** Routes key presses to the most recently mounted component that handles the shortcut, or else to the active card. */
import type { Request } from '@holdpoint/protocol'
import { useEffect, useRef } from 'react'
import { useGateway } from '../gateway/gateway-context.ts'
import { inCooldown } from '../ui/input-cooldown.ts'
import { showToast } from '../ui/toast.tsx'
import { cardActionsOf } from './card-actions.ts'
import { actOnCard, isForCard, readKeyPress, type ShortcutAction, type ShortcutName } from './shortcuts.ts'

export type ShortcutHandlers = { readonly [name in ShortcutName]?: (() => void) | undefined } & {
  /** Returns the request that the keys a, d, e and 1 to 9 act on. */
  readonly active?: () => Request | null
}

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

/** Listens for shortcuts on the whole page. Call it once, in the page's root component. */
export function useKeyboard(): void {
  const { inbox } = useGateway()
  useEffect(() => {
    let gPressedAt = Number.NEGATIVE_INFINITY
    const isLateTyping = lateTypingDetector()
    function onKeyDown(event: KeyboardEvent): void {
      if (isLateTyping(event) || event.defaultPrevented) return
      const shortcut = readKeyPress(describeKeyPress(event), event.timeStamp - gPressedAt)
      if (!/^(?:Shift|Control|Alt|Meta)$/.test(event.key)) gPressedAt = Number.NEGATIVE_INFINITY
      if (!shortcut) return
      if (shortcut.name === 'g') gPressedAt = event.timeStamp
      else if (runShortcut(shortcut, inbox.getSnapshot().status === 'live')) event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [inbox])
}

/** A key that is pressed this soon after the previous key was probably meant for the same field. People who look at the keyboard do not notice that the field is gone. */
const typingMs = 1500

/** Returns a function that detects keys meant for a field that has just disappeared with its card. The keyboard handler ignores such keys. */
function lateTypingDetector(): (event: KeyboardEvent) => boolean {
  let field: HTMLElement | null = null
  let lastKeyAt = Number.NEGATIVE_INFINITY
  return event => {
    const { typing, target } = describeKeyPress(event)
    const fieldGone = field !== null && (!field.isConnected || field.matches(':disabled'))
    const stillTyping = fieldGone && event.timeStamp - lastKeyAt < typingMs
    // Escape, Tab and keys that the field handles itself end the typing.
    if (typing) field = event.defaultPrevented || event.key === 'Escape' || event.key === 'Tab' ? null : target
    else if (!stillTyping) field = null
    lastKeyAt = event.timeStamp
    return stillTyping && !typing
  }
}

function runShortcut(shortcut: Exclude<ShortcutAction, { name: 'g' }>, live: boolean): boolean {
  const { name } = shortcut
  if (name !== 'choose') {
    const handler = registered.find(({ current }) => current[name])?.current[name]
    if (handler) {
      handler()
      return true
    }
  }
  if (!isForCard(shortcut)) return false
  const request = registered.find(({ current }) => current.active)?.current.active?.()
  const actions = request && cardActionsOf(request.id)
  if (!request || !actions || !live) return false
  const effect = actOnCard(shortcut, request, actions, inCooldown())
  if (typeof effect === 'function') effect()
  else if (effect) showToast(effect.why)
  return effect !== null
}

/** Types of input elements into which people cannot type text. */
const nonTextInputTypes = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'range', 'color', 'file'])

function describeKeyPress(event: KeyboardEvent) {
  const { key, ctrlKey, metaKey, altKey, repeat, isComposing } = event
  const target = event.target instanceof HTMLElement ? event.target : document.body
  const typing =
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !nonTextInputTypes.has(target.type))
  const onControl = target.closest('a, button, input, summary, [role="option"], [tabindex="0"]') !== null
  const modal = document.querySelector('dialog:modal, [popover]:popover-open') !== null
  return { key, ctrlKey, metaKey, altKey, repeat, isComposing, target, typing, onControl, modal }
}
