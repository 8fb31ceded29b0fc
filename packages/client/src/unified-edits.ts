/** Reads the unified diff of one file as edits. */
import type { TextEdit } from './ask-view.ts'

const hunkStart = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/

/** Returns the text before and after each changed part with the header of the part, or null if the diff has anything else. */
export function unifiedEdits(diff: string): readonly TextEdit[] | null {
  const lines = diff.split('\n')
  if (lines.pop() !== '') return null
  const edits: { before: string; after: string; header: string }[] = []
  let lastSign = ''
  for (const line of lines) {
    const edit = edits.at(-1)
    const sign = line.slice(0, 1)
    const text = `${line.slice(1)}\n`
    if (hunkStart.test(line)) edits.push({ before: '', after: '', header: line })
    else if (edit && line === noNewline && lastSign !== '') {
      if (lastSign !== '+') edit.before = edit.before.slice(0, -1)
      if (lastSign !== '-') edit.after = edit.after.slice(0, -1)
    } else if (!edit || !/^[ +-]/.test(line)) return null
    else {
      if (sign !== '+') edit.before += text
      if (sign !== '-') edit.after += text
    }
    lastSign = /^[ +-]/.test(line) ? sign : ''
  }
  return edits.length > 0 ? edits : null
}

/** Says that the line before it has no line break. */
const noNewline = '\\ No newline at end of file'
