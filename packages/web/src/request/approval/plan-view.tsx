/** Shows a plan as formatted Markdown. A button shows the source, because formatting can hide text. */
import type { ReactNode } from 'react'
import { Code } from '../../text/code.tsx'
import { AgentParagraphs } from '../../text/prose.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { panelTexts } from './texts.ts'
import './plan-view.css'

const Markdown = lazyComponent(
  async () => (await import('../../text/markdown.tsx')).Markdown,
  ({ text }) => <AgentParagraphs text={text} />,
)

export interface PlanViewProps {
  readonly text: string
  readonly showSource: boolean
}

export function PlanView({ text, showSource }: PlanViewProps): ReactNode {
  return (
    <div className="plan-text agent-background">
      {showSource ? <Code text={text} lang="markdown" /> : <Markdown text={text} streaming={false} />}
    </div>
  )
}

export interface SourceButtonProps {
  readonly showSource: boolean
  readonly onToggle: () => void
}

export function SourceButton({ showSource, onToggle }: SourceButtonProps): ReactNode {
  return (
    <button type="button" className="button plain small raw" aria-pressed={showSource} onClick={onToggle}>
      {showSource ? panelTexts.viewFormatted : panelTexts.viewSource}
    </button>
  )
}
