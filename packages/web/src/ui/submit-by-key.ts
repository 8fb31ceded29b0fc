/** Submits a form with Ctrl+Enter or Cmd+Enter. In a text area, Enter alone starts a new line. */
import type { KeyboardEvent } from 'react'

/** A handler for the form element. The form itself refuses to be submitted twice. */
export function submitByKey(event: KeyboardEvent<HTMLFormElement>): void {
  const { key, ctrlKey, metaKey, repeat, nativeEvent, currentTarget } = event
  if (key !== 'Enter' || !(ctrlKey || metaKey) || nativeEvent.isComposing) return
  event.preventDefault()
  // A key that is held down was pressed before the form was ready.
  if (!repeat) currentTarget.requestSubmit()
}
