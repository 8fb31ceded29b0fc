/** Formats the whole input of a tool call in a form that fits the tool. */
import { diffLines, type FileEdits, type ToolView, toolView } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'
import { diffRows } from '../../output/diff.ts'
import { formatInput } from '../../output/request.ts'
import { codeRows, labelled, quotedRows, type Row, row, trusted, untrustedCode } from '../../output/span.ts'
import { todoRows } from '../../output/todo.ts'
import { toolInputTexts as texts } from './texts.ts'

export function toolInputRows(tool: string, input: JsonObject): readonly Row[] {
  const view = toolView({ tool, input })
  if (view.kind === 'fields') return codeRows(formatInput(input))
  const hasRest = Object.keys(view.rest).length > 0
  return [
    ...viewedRows(view),
    ...(hasRest ? [row(trusted(texts.otherParameters, 'quiet')), ...codeRows(formatInput(view.rest))] : []),
  ]
}

function viewedRows(view: Exclude<ToolView, { readonly kind: 'fields' }>): readonly Row[] {
  switch (view.kind) {
    case 'command':
      return [...fact(texts.folder, view.cwd), ...codeRows(view.command)]
    case 'changes':
      return view.files.flatMap(fileRows)
    case 'todo':
      return todoRows(view.items)
    case 'task':
      return [
        ...fact(texts.subagent, view.agent),
        ...(view.description === '' ? [] : quotedRows(view.description)),
        ...quotedRows(view.prompt),
      ]
    case 'fetch':
      return [...fact(texts.address, view.url), ...(view.prompt === null ? [] : quotedRows(view.prompt))]
    case 'notebook':
      return [...fact(texts.file, view.path), ...fact(texts.cell, view.cell), ...codeRows(view.source)]
    case 'read':
      return [...fact(texts.file, view.path), ...fact(texts.fromLine, view.from), ...fact(texts.lines, view.lines)]
    case 'search':
      return [...fact(texts.pattern, view.pattern), ...fact(texts.folder, view.path), ...fact(texts.files, view.files)]
    case 'list':
      return fact(texts.folder, view.path)
    case 'webSearch':
      return quotedRows(view.query)
  }
}

/** A short value of the input with our name for it; no row for a value that is missing. */
function fact(label: string, value: string | number | null): readonly Row[] {
  return value === null ? [] : [labelled(label, untrustedCode(String(value)))]
}

function fileRows({ path, kind, edits, diff, movedTo }: FileEdits): readonly Row[] {
  return [
    ...fact(texts.changes[kind], path),
    ...fact(texts.movedTo, movedTo ?? null),
    ...(edits.length > 0 ? diffRows(diffLines(edits)) : []),
    ...(diff === undefined ? [] : codeRows(diff)),
  ]
}
