/** The details of a tool call: its input in a form that fits the tool, and its result. The input can also be shown as JSON. */
import { type FileEdits, outputText, type ToolEntry, type ToolView, toolView } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { ExactText } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { ChangeView } from '../../text/diff-view.tsx'
import { formatCount } from '../../text/format-amounts.ts'
import { languageOf } from '../../text/highlighter.ts'
import { Quote } from '../../text/prose.tsx'
import { useExpanded } from './expanded-entries.ts'
import { LongText } from './long-text.tsx'
import { toolDetailTexts as texts } from './texts.ts'
import { TodoList } from './todo-list.tsx'
import './tool-detail.css'

export function ToolDetail({ entry }: { readonly entry: ToolEntry }): ReactNode {
  const { id, tool, input, inputText, output, state } = entry
  return (
    <div className="tool-detail">
      {input ? <ToolInput {...{ id, tool, input }} /> : <LongText name={`${id}:input`} text={inputText} />}
      {output !== undefined && <ToolOutput name={id} output={output} failed={state === 'failed'} />}
    </div>
  )
}

interface ToolInputProps {
  readonly id: string
  readonly tool: string
  readonly input: JsonObject
}

function ToolInput({ id, tool, input }: ToolInputProps): ReactNode {
  const [isJson, toggle] = useExpanded(`${id}:json`)
  if (Object.keys(input).length === 0) return <p className="tool-label">{texts.noInput}</p>
  const view = toolView({ tool, input })
  if (view.kind === 'fields') return <Json name={`${id}:input`} value={input} />
  return (
    <>
      {isJson ? <Json name={`${id}:input`} value={input} /> : <ViewedInput id={id} view={view} />}
      <button type="button" className="text-button tool-as-json" aria-pressed={isJson} onClick={toggle}>
        {texts.asJson}
      </button>
    </>
  )
}

function ViewedInput({ id, view }: { readonly id: string; readonly view: ToolView }): ReactNode {
  const hasRest = Object.keys(view.rest).length > 0
  return (
    <>
      <InputBody id={id} view={view} />
      {hasRest && <Json name={`${id}:rest`} value={view.rest} />}
    </>
  )
}

function InputBody({ id, view }: { readonly id: string; readonly view: ToolView }): ReactNode {
  switch (view.kind) {
    case 'command':
      return (
        <>
          {view.cwd !== null && <Fact label={texts.folder} text={view.cwd} />}
          <Command name={id} text={view.command} />
        </>
      )
    case 'changes':
      return view.files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the files of one call never change order
        <FileChanges key={index} name={`${id}:${index}`} file={file} />
      ))
    case 'todo':
      return <TodoList items={view.items} />
    case 'task':
      return (
        <>
          {view.agent !== null && <Fact label={texts.subagent} text={view.agent} />}
          {view.description !== '' && <Quote text={view.description} />}
          <LongText name={`${id}:prompt`} text={view.prompt} lang="markdown" />
        </>
      )
    case 'fetch':
      return (
        <>
          <Fact label={texts.address} text={view.url} />
          {view.prompt !== null && <Quote text={view.prompt} />}
        </>
      )
    case 'notebook':
      return (
        <>
          <Fact label={texts.file} text={view.path} />
          {view.cell !== null && <Fact label={texts.cell} text={view.cell} />}
          <LongText name={`${id}:source`} text={view.source} lang="py" />
        </>
      )
    default:
      return <Facts view={view} />
  }
}

type ShortView = Extract<ToolView, { readonly kind: 'read' | 'search' | 'list' | 'webSearch' | 'fields' }>

function Facts({ view }: { readonly view: ShortView }): ReactNode {
  switch (view.kind) {
    case 'read':
      return (
        <>
          <Fact label={texts.file} text={view.path} />
          {view.from !== null && <p className="tool-label">{texts.fromLine(view.from)}</p>}
          {view.lines !== null && <p className="tool-label">{formatCount(view.lines, 'line')}</p>}
        </>
      )
    case 'search':
      return (
        <>
          <Fact label={texts.pattern} text={view.pattern} />
          {view.path !== null && <Fact label={texts.folder} text={view.path} />}
          {view.files !== null && <Fact label={texts.files} text={view.files} />}
        </>
      )
    case 'list':
      return <Fact label={texts.folder} text={view.path} />
    case 'webSearch':
      return <Quote text={view.query} />
    case 'fields':
      return null
  }
}

/** A short value of the input with our name for it. */
function Fact({ label, text }: { readonly label: string; readonly text: string }): ReactNode {
  return (
    <p className="tool-label">
      {label} <ExactText text={text} className="mono tool-value" />
    </p>
  )
}

/** The changes of one file. */
export function FileChanges({ name, file }: { readonly name: string; readonly file: FileEdits }): ReactNode {
  const { path, kind, edits, diff, movedTo } = file
  return (
    <>
      <Fact label={texts.changes[kind]} text={path} />
      {movedTo !== undefined && <Fact label={texts.movedTo} text={movedTo} />}
      {edits.map((edit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the edits of one call never change order
        <ChangeView key={index} edit={edit} lang={languageOf(path)} />
      ))}
      {diff !== undefined && <LongText name={`${name}:diff`} text={diff} lang="diff" />}
    </>
  )
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
      <p className="tool-label">{failed ? texts.error : texts.result}</p>
      {text === null ? (
        <Json name={`${name}:output`} value={output} />
      ) : text === '' ? (
        <p className="tool-label">{texts.noOutput}</p>
      ) : (
        <LongText name={`${name}:output`} text={text} />
      )}
    </>
  )
}
