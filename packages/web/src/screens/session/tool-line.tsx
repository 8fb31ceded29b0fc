/** A tool call in one line that opens: which tool, what about, how it went, how long it took. */
import { type ToolEntry, toolName } from '@holdpoint/client'
import { type ReactNode, use } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { formatDuration } from '../../text/format-amounts.ts'
import { useExpanded, WorkingContext } from './expanded-entries.ts'
import { ToolDetail } from './tool-detail.tsx'
import { aboutTool } from './tool-labels.ts'
import './tool-line.css'

const states: Record<ToolEntry['state'], string> = {
  preparing: 'is being prepared',
  running: 'runs',
  ok: '',
  failed: 'failed',
}

/** Shorter than this is at once. */
const feltMs = 100

export function ToolLine({ entry }: { readonly entry: ToolEntry }): ReactNode {
  const [open, toggle] = useExpanded(entry.id)
  const working = use(WorkingContext)
  const { tool, state, at, endedAt = at } = entry
  const tookMs = endedAt - at
  const about = aboutTool(entry)
  const { name, server } = toolName(tool)
  return (
    <div className={`tool ${state} ${working ? '' : 'stopped'}`}>
      <button type="button" className="tool-line" aria-expanded={open} onClick={toggle}>
        <span className="disclosure-icon" aria-hidden="true" />
        <InlineAgentText text={name || 'A tool'} className="tool-name" />
        {server !== null && (
          <span className="tool-server">
            from <InlineAgentText text={server} />
          </span>
        )}
        {about !== '' && <InlineAgentText text={about} className="tool-about" />}
        <span className="tool-state">
          {!working && state === 'running' ? 'no result' : states[state]}
          {tookMs >= feltMs && ` ${formatDuration(tookMs)}`}
        </span>
      </button>
      {open && <ToolDetail entry={entry} />}
    </div>
  )
}
