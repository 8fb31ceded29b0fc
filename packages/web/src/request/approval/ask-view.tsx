/** Shows everything that an approval would do, as a command, a change, a plan or fields. Each pane tracks whether the person saw all of its content. */
import { type AskView, changedFiles, diffLines, type FileEdits, lineCount, lineEndingsLabel } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'
import { type ReactNode, use, useMemo, useState } from 'react'
import { ExactText } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { DiffView, isTooLongToCompare, WholeTexts } from '../../text/diff-view.tsx'
import { languageOf } from '../../text/highlighter.ts'
import { CodeWarnings } from '../../text/text-warnings.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { CommentingContext } from '../comments/line-comments.ts'
import { commentTexts } from '../comments/texts.ts'
import { CommentButton } from '../comments/use-commenting.tsx'
import { Entries, Fields, shortTexts } from '../fields.tsx'
import { ScrollPane } from '../fully-shown.tsx'
import { PlanView, SourceButton } from './plan-view.tsx'
import { bodyTexts } from './texts.ts'
import './ask-view.css'

const loading = () => <p className="soft small">{commentTexts.loading}</p>
const CommentableText = lazyComponent(
  async () => (await import('../comments/commentable-lines.tsx')).CommentableText,
  loading,
)
const CommentableDiff = lazyComponent(
  async () => (await import('../comments/commentable-lines.tsx')).CommentableDiff,
  loading,
)

function PlanPane({ plan, isCommenting }: { readonly plan: string; readonly isCommenting: boolean }): ReactNode {
  const [showSource, setShowSource] = useState(false)
  const source = <SourceButton showSource={showSource} onToggle={() => setShowSource(!showSource)} />
  return (
    <ScrollPane
      label={bodyTexts.plan}
      action={
        <>
          {!isCommenting && source}
          <CommentButton />
        </>
      }
    >
      {isCommenting ? (
        <CommentableText text={plan} isCommand={false} />
      ) : (
        <PlanView text={plan} showSource={showSource} />
      )}
    </ScrollPane>
  )
}

export function AskViewBody({ view }: { readonly view: AskView }): ReactNode {
  const commenting = use(CommentingContext)
  const isCommenting = Boolean(commenting?.lines)
  const isOnCard = commenting !== null
  switch (view.kind) {
    case 'command':
      return (
        <>
          <ScrollPane
            label={bodyTexts.command}
            action={
              <>
                <CommentButton />
                {isOnCard && <CopyButton text={view.command} />}
              </>
            }
          >
            {isCommenting ? (
              <CommentableText text={view.command} isCommand />
            ) : (
              <div className="command-text">
                <Code text={view.command} lang="bash" prompt="$" />
              </div>
            )}
          </ScrollPane>
          <OtherParameters rest={view.rest} />
        </>
      )
    case 'change':
    case 'changes':
      return (
        <>
          <ChangedFiles files={changedFiles(view)} />
          <OtherParameters rest={view.rest} />
        </>
      )
    case 'plan':
      return (
        <>
          <PlanPane plan={view.plan} isCommenting={isCommenting} />
          <OtherParameters rest={view.rest} />
        </>
      )
    case 'fields':
      return (
        <ScrollPane label={bodyTexts.input}>
          <Fields value={view.rest} />
          <CodeWarnings text={shortTexts(view.rest)} />
        </ScrollPane>
      )
  }
}

/** Shows the parameters that the view above leaves out. These parameters take effect too, so the person must see them. */
function OtherParameters({ rest }: { readonly rest: JsonObject }): ReactNode {
  if (Object.keys(rest).length === 0) return null
  return (
    <ScrollPane label={bodyTexts.otherParameters}>
      <Entries value={rest} />
      <CodeWarnings text={shortTexts(rest)} />
    </ScrollPane>
  )
}

function ChangedFiles({ files }: { readonly files: readonly FileEdits[] }): ReactNode {
  const last = files.length - 1
  return (
    <>
      {files.map((file, index) => (
        <ChangedFile
          // biome-ignore lint/suspicious/noArrayIndexKey: the files of a request never change
          key={index}
          file={file}
          isOnly={last === 0}
          action={index === last && <CommentButton />}
        />
      ))}
    </>
  )
}

interface ChangedFileProps {
  readonly file: FileEdits
  /** True if the request changes no other file. */
  readonly isOnly: boolean
  /** A button below the content. */
  readonly action: ReactNode
}

function ChangedFile(props: ChangedFileProps): ReactNode {
  return isTooLongToCompare(props.file.edits) ? <LongChange {...props} /> : <ComparedChange {...props} />
}

/** A change with so many lines that they are not compared: all old lines are removed, and all new lines are added. */
function LongChange({ file, action }: ChangedFileProps): ReactNode {
  const { edits } = file
  const linesOf = (text: string) => (text === '' ? 0 : lineCount(text))
  const removed = edits.reduce((sum, { before }) => sum + linesOf(before), 0)
  const added = edits.reduce((sum, { after }) => sum + linesOf(after), 0)
  return (
    <FilePane file={file} facts={changeFacts(file, added, removed)} action={action}>
      {edits.map((edit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the edits of a request never change
        <Part key={index} header={edit.header}>
          <WholeTexts edit={edit} />
        </Part>
      ))}
    </FilePane>
  )
}

function ComparedChange({ file, isOnly, action }: ChangedFileProps): ReactNode {
  const { path, kind, edits, diff } = file
  const { diffs, removed, added, lineEndings } = useMemo(() => diffLines(edits), [edits])
  const isCommenting = Boolean(use(CommentingContext)?.lines)
  const isRelative = kind !== 'write' && edits.length > 0
  const facts = [
    ...changeFacts(file, added, removed),
    lineEndingsLabel(lineEndings),
    isRelative && bodyTexts.relativeLines,
  ]
  return (
    <FilePane file={file} facts={facts} action={action}>
      {edits.map((edit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the edits of a request never change
        <Part key={index} header={edit.header}>
          {isCommenting ? (
            <CommentableDiff
              {...{ path, isOnly }}
              rows={diffs[index] ?? []}
              isWholeFile={kind === 'write'}
              edit={edits.length > 1 ? index + 1 : undefined}
              texts={`${edit.before}\n${edit.after}`}
            />
          ) : (
            <DiffView edit={edit} rows={diffs[index] ?? []} lang={languageOf(path)} />
          )}
        </Part>
      ))}
      {diff && <Code text={diff} lang="diff" />}
    </FilePane>
  )
}

/** A part of a change, below what the agent says about its place in the file. */
function Part({ header, children }: { readonly header: string | undefined; readonly children: ReactNode }): ReactNode {
  return (
    <>
      {header !== undefined && (
        <div className="part-header soft small">
          <ExactText text={header} className="mono" />
          <CodeWarnings text={header} />
        </div>
      )}
      {children}
    </>
  )
}

function changeFacts({ kind, edits }: FileEdits, added: number, removed: number): readonly (string | false)[] {
  if (edits.length === 0) return []
  const isNew = kind === 'write'
  return [
    isNew && bodyTexts.newFile,
    kind === 'delete' && bodyTexts.deleted,
    kind !== 'delete' && bodyTexts.added(added),
    removed > 0 && bodyTexts.removed(removed),
  ]
}

interface FilePaneProps {
  readonly file: FileEdits
  readonly facts: readonly (string | false)[]
  readonly action: ReactNode
  readonly children: ReactNode
}

function FilePane({ file: { path, movedTo, edits, diff }, facts, action, children }: FilePaneProps): ReactNode {
  return (
    <>
      <div className="file-header">
        <ExactText text={path} className="mono" />
        {movedTo !== undefined && (
          <>
            <span className="soft small">{bodyTexts.movedTo}</span>
            <ExactText text={movedTo} className="mono" />
          </>
        )}
        <span className="soft small">{facts.filter(Boolean).join(' · ')}</span>
      </div>
      <CodeWarnings text={movedTo === undefined ? path : `${path}\n${movedTo}`} />
      {edits.length > 0 || diff ? (
        <ScrollPane label={bodyTexts.change} action={action}>
          {children}
        </ScrollPane>
      ) : (
        action && <div className="scroll-actions">{action}</div>
      )}
    </>
  )
}
