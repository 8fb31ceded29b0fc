/** Shows everything that an approval would do, as a command, a change, a plan or fields. Each pane tracks whether the person saw all of its content. */
import { type AskView, diffLines, lineEndingsLabel } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { ExactText } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { DiffView } from '../../text/diff-view.tsx'
import { CodeWarnings } from '../../text/text-warnings.tsx'
import { Entries, Fields, shortTexts } from '../fields.tsx'
import { ScrollPane } from '../fully-shown.tsx'
import { PlanView } from './plan-view.tsx'
import { bodyTexts } from './texts.ts'
import './ask-view.css'

export function AskViewBody({ view }: { readonly view: AskView }): ReactNode {
  switch (view.kind) {
    case 'command':
      return (
        <>
          <ScrollPane label={bodyTexts.command}>
            <Code text={view.command} lang="bash" prompt="$" />
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
          <ScrollPane label={bodyTexts.plan}>
            <PlanView text={view.plan} />
          </ScrollPane>
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

function ChangedFile({ change }: { readonly change: Extract<AskView, { kind: 'change' }> }): ReactNode {
  const { path, edits, isNew } = change
  const { diffs, removed, added, lineEndings } = useMemo(() => diffLines(edits), [edits])
  const facts = [
    isNew && bodyTexts.newFile,
    bodyTexts.added(added),
    removed > 0 && bodyTexts.removed(removed),
    lineEndingsLabel(lineEndings),
  ]
  return (
    <>
      <div className="file-header">
        <ExactText text={path} className="mono" />
        <span className="soft small">{facts.filter(Boolean).join(' · ')}</span>
      </div>
      <CodeWarnings text={path} />
      <ScrollPane label={bodyTexts.change}>
        {edits.map((edit, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the edits of a request never change
          <DiffView key={index} edit={edit} rows={diffs[index] ?? []} />
        ))}
      </ScrollPane>
      {!isNew && <p className="faint small">{bodyTexts.relativeLines}</p>}
    </>
  )
}
