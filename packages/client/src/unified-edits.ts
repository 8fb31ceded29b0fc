/** Reads the unified diff of one file as edits. */
import type { TextEdit } from './ask-view.ts'

const hunkStart = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/

/** Returns the text before and after each changed part, or null if the diff contains anything but hunks. */
export function unifiedEdits(diff: string): readonly TextEdit[] | null {
  const lines = diff.split('\n')
  if (lines.pop() !== '') return null
  const edits: { before: string; after: string }[] = []
  for (const line of lines) {
    const edit = edits.at(-1)
    const text = `${line.slice(1)}\n`
    if (hunkStart.test(line)) edits.push({ before: '', after: '' })
    else if (!edit || !/^[ +-]/.test(line)) return null
    else {
      if (!line.startsWith('+')) edit.before += text
      if (!line.startsWith('-')) edit.after += text
    }
  }
  return edits.length > 0 ? edits : null
}
