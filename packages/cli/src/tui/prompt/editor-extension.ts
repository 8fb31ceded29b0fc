/** The extension of the file in which a person edits a request, so that their editor knows the language. */
import { extname } from 'node:path'
import { editableOf, viewOf } from '@holdpoint/client'
import type { EditorExtension } from '../terminal/editor.ts'
import type { Prompt } from './prompt.ts'

/** An agent chooses the path, so anything but letters and digits is left out. */
const plainExtension = /^\.[A-Za-z0-9]{1,16}$/

export function editorExtension({ request: { ask } }: Pick<Prompt, 'request'>): EditorExtension {
  if (ask.kind !== 'approval') return '.md'
  const view = viewOf(ask)
  const { property } = editableOf(ask)
  if (property === null) return '.json'
  if (view.kind === 'command') return '.sh'
  if (view.kind === 'plan') return '.md'
  const extension = view.kind === 'change' ? extname(view.path) : ''
  return plainExtension.test(extension) ? (extension as EditorExtension) : '.txt' // the pattern begins with a dot
}
