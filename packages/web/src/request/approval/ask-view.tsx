/** What an approval would do, drawn as what it is: a command, a change, a plan, fields. All of it, in panes that know whether they were seen. */
import { type AskView, diffLines, lineEndingsLabel } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { DiffView } from '../../text/diff-view.tsx'
import { Entries, Fields } from '../fields.tsx'
import { ScrollPane } from '../fully-shown.tsx'
import { PlanView } from './plan-view.tsx'
import './ask-view.css'

export function AskViewBody({ picture }: { readonly picture: AskView }): ReactNode {
  switch (picture.kind) {
    case 'command':
      return (
        <>
          <ScrollPane label="The command">
            <Code text={picture.command} lang="bash" sign="$" />
          </ScrollPane>
          <Rest rest={picture.rest} />
        </>
      )
    case 'change':
      return (
        <>
          <ChangedFile picture={picture} />
          <Rest rest={picture.rest} />
        </>
      )
    case 'plan':
      return (
        <>
          <ScrollPane label="The plan">
            <PlanView text={picture.plan} />
          </ScrollPane>
          <Rest rest={picture.rest} />
        </>
      )
    case 'fields':
      return (
        <ScrollPane label="The input">
          <Fields value={picture.rest} />
        </ScrollPane>
      )
  }
}

/** What the picture does not show would run too: it stands beside it. */
function Rest({ rest }: { readonly rest: JsonObject }): ReactNode {
  if (Object.keys(rest).length === 0) return null
  return (
    <ScrollPane label="Also in the input">
      <Entries value={rest} />
    </ScrollPane>
  )
}

function ChangedFile({ picture }: { readonly picture: Extract<AskView, { kind: 'change' }> }): ReactNode {
  const { path, edits, isNew } = picture
  const { diffs, removed, added, lineEndings } = useMemo(() => diffLines(edits), [edits])
  const about = [
    isNew && 'the whole file',
    `${added} added`,
    removed > 0 && `${removed} removed`,
    lineEndingsLabel(lineEndings),
  ]
  return (
    <>
      <div className="file-header">
        <InlineAgentText text={path} className="mono" />
        <span className="soft small">{about.filter(Boolean).join(' · ')}</span>
      </div>
      <ScrollPane label="The change">
        {edits.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a request that never changes
          <DiffView key={index} part={part} rows={diffs[index] ?? []} />
        ))}
      </ScrollPane>
      {!isNew && <p className="faint small">Line numbers count from where the change begins.</p>}
    </>
  )
}
