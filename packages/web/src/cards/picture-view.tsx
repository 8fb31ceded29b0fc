/** What an approval would do, drawn as what it is: a command, a change, a plan, fields. All of it, in panes that know whether they were seen. */
import { type AskView, diffLines, lineEndLabel } from '@holdpoint/client'
import type { JsonObject } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { Words } from '../parts/agent-text.tsx'
import { Code } from '../parts/code.tsx'
import { DiffView } from './change-view.tsx'
import { Entries, Fields } from './fields.tsx'
import { PlanView } from './plan-view.tsx'
import { Pane } from './whole.tsx'

export function PictureView({ picture }: { readonly picture: AskView }): ReactNode {
  switch (picture.kind) {
    case 'command':
      return (
        <>
          <Pane label="The command">
            <Code text={picture.command} lang="bash" sign="$" />
          </Pane>
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
          <Pane label="The plan">
            <PlanView text={picture.plan} />
          </Pane>
          <Rest rest={picture.rest} />
        </>
      )
    case 'fields':
      return (
        <Pane label="The input">
          <Fields value={picture.rest} />
        </Pane>
      )
  }
}

/** What the picture does not show would run too: it stands beside it. */
function Rest({ rest }: { readonly rest: JsonObject }): ReactNode {
  if (Object.keys(rest).length === 0) return null
  return (
    <Pane label="Also in the input">
      <Entries value={rest} />
    </Pane>
  )
}

function ChangedFile({ picture }: { readonly picture: Extract<AskView, { kind: 'change' }> }): ReactNode {
  const { path, parts, isNew } = picture
  const { diffs, removed, added, ends } = useMemo(() => diffLines(parts), [parts])
  const about = [isNew && 'the whole file', `${added} added`, removed > 0 && `${removed} removed`, lineEndLabel(ends)]
  return (
    <>
      <div className="file">
        <Words text={path} className="mono" />
        <span className="soft small">{about.filter(Boolean).join(' · ')}</span>
      </div>
      <Pane label="The change">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a request that never changes
          <DiffView key={index} part={part} rows={diffs[index] ?? []} />
        ))}
      </Pane>
      {!isNew && <p className="faint small">Line numbers count from where the change begins.</p>}
    </>
  )
}
