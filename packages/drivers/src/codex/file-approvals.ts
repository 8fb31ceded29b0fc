/** Approvals of file changes. Codex's request has no diff; the diff is in the item that Codex has announced before. */
import { type Action, type ApprovalAsk, callTitles, type JsonObject, limits } from '@holdpoint/protocol'
import { type CodexSuggestion, replyTo } from './command-approvals.ts'
import { codexCalls, codexSuggestions } from './messages.ts'
import type { NativeCall } from './native-call.ts'
import type { FileApproval, FileChange } from './wire.ts'

const tool = 'apply_patch'
const suggestions: readonly CodexSuggestion[] = [
  { id: 'session', label: codexSuggestions.files, scope: 'session', reply: 'acceptForSession' },
]

/** `changes` is null if Codex has not announced the item. */
export function fileCall(params: FileApproval, changes: readonly FileChange[] | null, cwd: string): NativeCall {
  const { threadId, turnId, itemId, grantRoot, reason } = params
  const paths = pathsOf(changes ?? [])
  const ask: ApprovalAsk = {
    kind: 'approval',
    tool,
    input: { ...inputOf(changes ?? []), ...(grantRoot ? { grantRoot } : {}) },
    action: actionOf(paths, grantRoot),
    title: paths.length > 0 ? callTitles.change(paths) : codexCalls.changeUnknown,
    ...(reason ? { description: reason.slice(0, limits.reasonMax).toWellFormed() } : {}),
    cwd,
    editable: false,
    ...(changes === null ? {} : { suggestions: suggestions.map(({ reply: _, ...suggestion }) => suggestion) }),
    ...(grantRoot ? { caution: { reason: codexCalls.grantRoot(grantRoot) } } : {}),
    ...(changes === null ? { caution: { defaultToNo: true, noRemember: true, reason: codexCalls.noDiff } } : {}),
  }
  return { threadId, turnId, itemId, ask, reply: decision => ({ decision: replyTo(decision, suggestions) }) }
}

/** A change that also grants a folder is more than a write to these files, so no rule for files may allow it. */
function actionOf(paths: readonly string[], grantRoot: string | null | undefined): Action {
  const isKnown = paths.length > 0 && paths.length <= limits.actionPathsMax && !grantRoot
  return isKnown ? { write: [...paths] } : { other: tool }
}

export function pathsOf(changes: readonly FileChange[]): readonly string[] {
  return [...new Set(changes.flatMap(({ path, kind }) => (kind.move_path ? [path, kind.move_path] : [path])))]
}

/** Page and terminal show the change of one file side by side if the input has this shape. */
export function inputOf(changes: readonly FileChange[]): JsonObject {
  const [change, second] = changes
  if (change && !second) {
    const { path, kind, diff } = change
    if (kind.type === 'add') return { file_path: path, content: diff }
    const edits = kind.type === 'update' && !kind.move_path ? editsIn(diff) : null
    if (edits?.length === 1) return { file_path: path, ...edits[0] }
    if (edits) return { file_path: path, edits: [...edits] }
  }
  return {
    changes: changes.map(({ path, kind, diff }) => ({
      path,
      kind: kind.type,
      ...(kind.move_path ? { move_path: kind.move_path } : {}),
      diff,
    })),
  }
}

type Edit = { readonly old_string: string; readonly new_string: string }

/** Returns the text before and after for each part of a unified diff, or null if the diff has anything else. */
function editsIn(diff: string): readonly Edit[] | null {
  const edits: { old_string: string; new_string: string }[] = []
  const lines = diff.split('\n')
  if (lines.pop() !== '') return null
  for (const line of lines) {
    const edit = edits.at(-1)
    const text = `${line.slice(1)}\n`
    if (/^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/.test(line)) edits.push({ old_string: '', new_string: '' })
    else if (!edit || !/^[ +-]/.test(line)) return null
    else {
      if (!line.startsWith('+')) edit.old_string += text
      if (!line.startsWith('-')) edit.new_string += text
    }
  }
  return edits.length > 0 ? edits : null
}
