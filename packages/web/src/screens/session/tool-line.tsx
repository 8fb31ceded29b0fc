/** A tool call as one expandable line: tool, summary, state, duration. */
import { type ToolEntry, toolName, toolSummary } from '@holdpoint/client'
import { type ReactNode, use } from 'react'
import { ExactText, SummaryText } from '../../text/agent-text.tsx'
import { formatDuration } from '../../text/format-amounts.ts'
import { dateTime } from '../../text/format-time.ts'
import { DisclosureIcon } from '../../ui/disclosure-icon.tsx'
import { useExpanded, WorkingContext } from './expanded-entries.ts'
import { toolTexts } from './texts.ts'
import { ToolDetail } from './tool-detail.tsx'
import './tool-line.css'

/** Durations shorter than this are not shown. */
const shownFromMs = 100

export function ToolLine({ entry }: { readonly entry: ToolEntry }): ReactNode {
  const [open, toggle] = useExpanded(entry.id)
  const working = use(WorkingContext)
  const { tool, state, at, endedAt = at } = entry
  const durationMs = endedAt - at
  const summary = toolSummary(entry)
  const { name, server } = toolName({ tool })
  return (
    <div className={`tool ${state} ${working ? '' : 'stopped'}`}>
      <button
        type="button"
        className="tool-line"
        title={state === 'preparing' ? undefined : dateTime(at)}
        aria-expanded={open}
        onClick={toggle}
      >
        <DisclosureIcon />
        <ExactText text={name || 'Tool'} className="tool-name" oneLine />
        {server !== null && (
          <span className="tool-server">
            from <ExactText text={server} />
          </span>
        )}
        {summary.head !== '' && <SummaryText summary={summary} className="tool-about" />}
        <span className="tool-state">
          {!working && state === 'running' ? toolTexts.noResult : toolTexts[state]}
          {durationMs >= shownFromMs && ` ${formatDuration(durationMs)}`}
        </span>
      </button>
      {open && <ToolDetail entry={entry} />}
    </div>
  )
}
