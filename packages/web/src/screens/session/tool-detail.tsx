/** The details of a tool call: its input and its result. */
import { type ToolEntry, viewOf } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { ExactText } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { ChangeView } from '../../text/diff-view.tsx'
import { LongText } from './long-text.tsx'
import { outputText } from './tool-labels.ts'
import './tool-detail.css'

export function ToolDetail({ entry }: { readonly entry: ToolEntry }): ReactNode {
  const { id, input, inputText, output, state } = entry
  return (
    <div className="tool-detail">
      {input ? <ToolInput name={id} input={input} /> : <LongText name={`${id}:input`} text={inputText} />}
      {output !== undefined && <ToolOutput name={id} output={output} failed={state === 'failed'} />}
    </div>
  )
}

function ToolInput({ name, input }: { readonly name: string; readonly input: JsonObject }): ReactNode {
  const view = viewOf({ input })
  const rest = Object.keys(view.rest).length > 0 && <Json name={`${name}:input`} value={view.rest} />
  switch (view.kind) {
    case 'command':
      return (
        <>
          <Command name={name} text={view.command} />
          {rest}
        </>
      )
    case 'change':
      return (
        <>
          <p className="tool-label">
            {view.isNew ? 'Write ' : 'Edit '}
            <ExactText text={view.path} className="mono" />
          </p>
          {view.edits.map((edit, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the edits of one call never change order
            <ChangeView key={i} edit={edit} />
          ))}
          {rest}
        </>
      )
    default:
      return rest || <p className="tool-label">No input</p>
  }
}

function Command({ name, text }: { readonly name: string; readonly text: string }): ReactNode {
  return text.length > 4000 ? (
    <LongText name={`${name}:command`} text={text} />
  ) : (
    <Code text={text} lang="bash" prompt="$" />
  )
}

function Json({ name, value }: { readonly name: string; readonly value: unknown }): ReactNode {
  return <LongText name={name} text={JSON.stringify(value, null, 2) ?? 'nothing'} lang="json" />
}

interface ToolOutputProps {
  readonly name: string
  readonly output: unknown
  readonly failed: boolean
}

function ToolOutput({ name, output, failed }: ToolOutputProps): ReactNode {
  const text = outputText(output)
  return (
    <>
      <p className="tool-label">{failed ? 'Error' : 'Result'}</p>
      {text === null ? (
        <Json name={`${name}:output`} value={output} />
      ) : text === '' ? (
        <p className="tool-label">No output</p>
      ) : (
        <LongText name={`${name}:output`} text={text} />
      )}
    </>
  )
}
