/** Shows everything that an approval would do, as a command, a change, a plan or fields. Each pane tracks whether the person saw all of its content. */
import { type AskView, diffLines, lineCount, lineEndingsLabel } from '@holdpoint/client'
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
      return (
        <>
          <ChangedFile change={view} />
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

type Change = Extract<AskView, { kind: 'change' }>

function ChangedFile({ change }: { readonly change: Change }): ReactNode {
  return isTooLongToCompare(change.edits) ? <LongChange change={change} /> : <ComparedChange change={change} />
}

/** A change with so many lines that they are not compared: all old lines are removed, and all new lines are added. */
function LongChange({ change }: { readonly change: Change }): ReactNode {
  const { edits, isNew } = change
  const linesOf = (text: string) => (text === '' ? 0 : lineCount(text))
  const removed = edits.reduce((sum, { before }) => sum + linesOf(before), 0)
  const added = edits.reduce((sum, { after }) => sum + linesOf(after), 0)
  return (
    <FileChange change={change} facts={changeFacts(isNew, added, removed)}>
      {edits.map((edit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the edits of a request never change
        <WholeTexts key={index} edit={edit} />
      ))}
    </FileChange>
  )
}

function ComparedChange({ change }: { readonly change: Change }): ReactNode {
  const { edits, isNew } = change
  const { diffs, removed, added, lineEndings } = useMemo(() => diffLines(edits), [edits])
  const isCommenting = Boolean(use(CommentingContext)?.lines)
  return (
    <>
      <FileChange change={change} facts={[...changeFacts(isNew, added, removed), lineEndingsLabel(lineEndings)]}>
        {edits.map((edit, index) =>
          isCommenting ? (
            <CommentableDiff
              // biome-ignore lint/suspicious/noArrayIndexKey: the edits of a request never change
              key={index}
              rows={diffs[index] ?? []}
              path={change.path}
              isWholeFile={isNew}
              edit={edits.length > 1 ? index + 1 : undefined}
              texts={`${edit.before}\n${edit.after}`}
            />
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the edits of a request never change
            <DiffView key={index} edit={edit} rows={diffs[index] ?? []} lang={languageOf(change.path)} />
          ),
        )}
      </FileChange>
      {!isNew && <p className="faint small">{bodyTexts.relativeLines}</p>}
    </>
  )
}

function changeFacts(isNew: boolean, added: number, removed: number): readonly (string | false)[] {
  return [isNew && bodyTexts.newFile, bodyTexts.added(added), removed > 0 && bodyTexts.removed(removed)]
}

interface FileChangeProps {
  readonly change: Change
  readonly facts: readonly (string | false)[]
  readonly children: ReactNode
}

function FileChange({ change: { path }, facts, children }: FileChangeProps): ReactNode {
  return (
    <>
      <div className="file-header">
        <ExactText text={path} className="mono" />
        <span className="soft small">{facts.filter(Boolean).join(' · ')}</span>
      </div>
      <CodeWarnings text={path} />
      <ScrollPane label={bodyTexts.change} action={<CommentButton />}>
        {children}
      </ScrollPane>
    </>
  )
}
