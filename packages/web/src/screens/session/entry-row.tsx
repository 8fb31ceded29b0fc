/** One row of the transcript. Rows from subagents are indented. */
import type { Entry } from '@holdpoint/client'
import ArrowRightIcon from 'lucide-react/icons/arrow-right'
import { memo, type ReactNode, use } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { entryLayout } from './entry-layout.ts'
import { MarkedContext } from './expanded-entries.ts'
import { MessageBlock } from './message-block.tsx'
import { ErrorLine, NoteLine, RequestLine, TurnLine } from './status-lines.tsx'
import { ToolLine } from './tool-line.tsx'
import './entry-row.css'

/** The maximum indentation: deeper entries would become too narrow on small screens. */
const indentMax = 6

export interface EntryRowProps {
  readonly entry: Entry
  readonly before: Entry | undefined
  /** If the entry is the end of a turn: when that turn began. Otherwise null. */
  readonly startedAt: number | null
}

export const EntryRow = memo(function EntryRow({ entry, before, startedAt }: EntryRowProps): ReactNode {
  const marked = use(MarkedContext) === entry.id
  const { depth, path, spaced } = entryLayout(entry, before)
  return (
    <div className={`transcript-entry ${spaced ? 'spaced' : ''} ${marked ? 'marked' : ''}`}>
      {Array.from({ length: Math.min(depth, indentMax) }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines have no other key
        <span key={i} className="indent-line" aria-hidden="true" />
      ))}
      <div className="entry-body">
        {path && (
          <p className="entry-path">
            {path.map((name, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the same name may appear twice in a path
              <span key={i}>
                {i > 0 && <ArrowRightIcon />}
                <InlineAgentText text={name} className="agent-name" />
              </span>
            ))}
          </p>
        )}
        <EntryBody entry={entry} startedAt={startedAt} />
      </div>
    </div>
  )
}, sameRow)

/** Returns true if a row need not render again. A change of the previous entry matters only if it changes the layout of this row. */
function sameRow(one: EntryRowProps, other: EntryRowProps): boolean {
  if (one.entry !== other.entry || one.startedAt !== other.startedAt) return false
  if (one.before === other.before) return true
  const [before, now] = [entryLayout(one.entry, one.before), entryLayout(other.entry, other.before)]
  return before.spaced === now.spaced && (before.path === null) === (now.path === null)
}

function EntryBody({ entry, startedAt }: Omit<EntryRowProps, 'before'>): ReactNode {
  switch (entry.kind) {
    case 'message':
      return <MessageBlock entry={entry} />
    case 'tool':
      return <ToolLine entry={entry} />
    case 'request':
      return <RequestLine entry={entry} />
    case 'turn':
      return <TurnLine entry={entry} startedAt={startedAt} />
    case 'error':
      return <ErrorLine entry={entry} />
    case 'note':
      return <NoteLine entry={entry} />
  }
}
