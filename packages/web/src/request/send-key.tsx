/** The keys that send an answer from a text field: Ctrl+Enter or Cmd+Enter everywhere, and Enter in fields of one line. In a text area, Enter starts a new line. */
import type { KeyboardEvent, ReactNode } from 'react'
import { keyRuns } from '../shortcuts/key-runs.ts'
import type { Press } from '../shortcuts/press.ts'
import { cardTexts } from './texts.ts'
import './send-key.css'

/** Sends the answer, or is null while the key would be refused. */
export type SendByKey = ((press: Press) => void) | null

const textTypes = new Set(['text', 'password', 'email', 'url', 'number', 'search'])

/** Returns a handler for the element around the text fields. */
export function sendKeyHandler(send: SendByKey): (event: KeyboardEvent) => void {
  return event => {
    const { target, key, ctrlKey, metaKey, shiftKey, altKey, nativeEvent } = event
    if (key !== 'Enter' || altKey || nativeEvent.isComposing) return
    const isLine = target instanceof HTMLInputElement && textTypes.has(target.type)
    if (!isLine && !(target instanceof HTMLTextAreaElement)) return
    if (!ctrlKey && !metaKey && (!isLine || shiftKey)) return
    event.preventDefault()
    // A key that is held down was pressed before the field appeared, so the person did not mean to send the answer.
    if (!event.repeat) send?.({ at: event.timeStamp, isTyped: !keyRuns.maySend })
  }
}

export interface SendHintProps {
  /** What the key does, or null while the key would be refused. */
  readonly send: ((...args: never) => unknown) | null
  readonly isLine?: boolean
  /** The verb after the name of the key. */
  readonly does?: string
}

/** Says which key sends. The hint keeps its place while the key would be refused, but is hidden. */
export function SendHint({ send, isLine = false, does = cardTexts.keySends }: SendHintProps): ReactNode {
  const key = isLine ? 'Enter' : isMac() ? '⌘ Enter' : 'Ctrl+Enter'
  return <span className={`send-hint ${send ? '' : 'refused'}`}>{`${key} ${does}`}</span>
}

function isMac(): boolean {
  return /mac|iphone|ipad/i.test(navigator.platform)
}
