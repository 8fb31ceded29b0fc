/** Reads the unified diff of one file, with which opencode shows an edit. */

export interface TextChange {
  readonly old_string: string
  readonly new_string: string
}

const hunkStart = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/

/** Returns the text before and after each changed part of the file, or null if the diff has anything else. */
export function changesIn(diff: string): readonly TextChange[] | null {
  const lines = diff.split('\n')
  const first = lines.findIndex(line => hunkStart.test(line))
  if (first < 0) return null
  if (lines.at(-1) === '') lines.pop()
  const changes: { old_string: string; new_string: string }[] = []
  let lastSign = ''
  for (const line of lines.slice(first)) {
    const change = changes.at(-1)
    if (hunkStart.test(line)) changes.push({ old_string: '', new_string: '' })
    else if (!change) return null
    else if (line.startsWith('\\')) {
      // “\ No newline at end of file” is about the line before it.
      if (lastSign !== '+') change.old_string = change.old_string.replace(/\n$/, '')
      if (lastSign !== '-') change.new_string = change.new_string.replace(/\n$/, '')
    } else if (/^[ +-]/.test(line)) {
      lastSign = line.slice(0, 1)
      if (lastSign !== '+') change.old_string += `${line.slice(1)}\n`
      if (lastSign !== '-') change.new_string += `${line.slice(1)}\n`
    } else return null
  }
  return changes
}
