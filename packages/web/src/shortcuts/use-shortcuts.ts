/** Who hears a key: whatever is drawn and has a use for it, else the card that is active. */
import type { Request } from '@holdpoint/protocol'
import { useEffect, useRef } from 'react'
import { useGateway } from '../gateway/gateway-context.ts'
import { showToast } from '../notifications/toast.ts'
import { cardActionsOf } from './card-actions.ts'
import { inCooldown } from './input-cooldown.ts'
import { actOnCard, isForCard, type Plain, readKeyPress, type ShortcutAction } from './shortcuts.ts'

export type ShortcutHandlers = { readonly [does in Plain]?: (() => void) | undefined } & {
  /** The request that a, d, e and the digits go to. */
  readonly active?: () => Request | null
}

type Held = { readonly current: ShortcutHandlers }
const screens: Held[] = []

/** While its component is drawn, keys come to these. */
export function useShortcuts(handlers: ShortcutHandlers): void {
  const held = useRef(handlers)
  useEffect(() => {
    held.current = handlers
  })
  useEffect(() => {
    screens.unshift(held)
    return () => {
      screens.splice(screens.indexOf(held), 1)
    }
  }, [])
}

/** Listens for the whole page: its frame does so, once. */
export function useKeyboard(): void {
  const { inbox } = useGateway()
  useEffect(() => {
    let sinceG = Number.NEGATIVE_INFINITY
    const isTypedOn = typingOn()
    function hear(event: KeyboardEvent): void {
      if (isTypedOn(event) || event.defaultPrevented) return
      const stroke = readKeyPress(pressOf(event), event.timeStamp - sinceG)
      if (!/^(?:Shift|Control|Alt|Meta)$/.test(event.key)) sinceG = Number.NEGATIVE_INFINITY
      if (!stroke) return
      if (stroke.does === 'g') sinceG = event.timeStamp
      else if (carryOut(stroke, inbox.getSnapshot().status === 'live')) event.preventDefault()
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [inbox])
}

/** Whoever types looks at the keys: what comes this soon behind a letter was meant for the same field. */
const typingMs = 1500

/** Whether a key was meant for a field that has gone meanwhile, together with the card around it: such keys are nobody's. */
function typingOn(): (event: KeyboardEvent) => boolean {
  let field: HTMLElement | null = null
  let at = Number.NEGATIVE_INFINITY
  return event => {
    const { typing, target } = pressOf(event)
    const gone = field !== null && (!field.isConnected || field.matches(':disabled'))
    const goesOn = gone && event.timeStamp - at < typingMs
    // Whatever ends the typing in a field is heard by the field itself, or leaves it.
    if (typing) field = event.defaultPrevented || event.key === 'Escape' || event.key === 'Tab' ? null : target
    else if (!goesOn) field = null
    at = event.timeStamp
    return goesOn && !typing
  }
}

function carryOut(stroke: Exclude<ShortcutAction, { does: 'g' }>, live: boolean): boolean {
  const { does } = stroke
  if (does !== 'choose') {
    const own = screens.find(({ current }) => current[does])?.current[does]
    if (own) {
      own()
      return true
    }
  }
  if (!isForCard(stroke)) return false
  const request = screens.find(({ current }) => current.active)?.current.active?.()
  const actions = request && cardActionsOf(request.id)
  if (!request || !actions || !live) return false
  const act = actOnCard(stroke, request, actions, inCooldown())
  if (typeof act === 'function') act()
  else if (act) showToast(act.why)
  return act !== null
}

/** Fields in which nobody types words. */
const typesWithoutText = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'range', 'color', 'file'])

function pressOf(event: KeyboardEvent) {
  const { key, ctrlKey, metaKey, altKey, repeat, isComposing } = event
  const target = event.target instanceof HTMLElement ? event.target : document.body
  const typing =
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !typesWithoutText.has(target.type))
  const onControl = target.closest('a, button, input, summary, [role="option"], [tabindex="0"]') !== null
  const modal = document.querySelector('dialog:modal, [popover]:popover-open') !== null
  return { key, ctrlKey, metaKey, altKey, repeat, isComposing, target, typing, onControl, modal }
}
