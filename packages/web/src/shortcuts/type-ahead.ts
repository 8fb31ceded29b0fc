/** Keeps letters from choosing an option of a select whose choice takes effect at once, because a person may type them for something else (G12). The arrow keys still work. */
import type { KeyboardEvent } from 'react'
import { keyRuns } from './key-runs.ts'

export function preventTypeAhead(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey } = event
  // A Space or Enter opens the list of options if it is pressed alone, but not as a part of a typed text.
  const opensList = (key === ' ' || key === 'Enter') && keyRuns.isFirst
  const isText = [...key].length === 1 || key === 'Enter'
  if (isText && !opensList && !ctrlKey && !metaKey) event.preventDefault()
}
