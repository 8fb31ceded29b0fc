/** Shows a plan as formatted Markdown. A button shows the source, because formatting can hide text. */
import { type ReactNode, useState } from 'react'
import { Code } from '../../text/code.tsx'
import { AgentParagraphs } from '../../text/prose.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { panelTexts } from './texts.ts'
import './plan-view.css'

const Markdown = lazyComponent(
  async () => (await import('../../text/markdown.tsx')).Markdown,
  ({ text }) => <AgentParagraphs text={text} />,
)

export function PlanView({ text }: { readonly text: string }): ReactNode {
  const [showSource, setShowSource] = useState(false)
  return (
    <div className="plan">
      <div className="plan-text agent-background">
        {showSource ? <Code text={text} lang="markdown" /> : <Markdown text={text} streaming={false} />}
      </div>
      <button
        type="button"
        className="button plain small raw"
        aria-pressed={showSource}
        onClick={() => setShowSource(!showSource)}
      >
        {showSource ? panelTexts.viewFormatted : panelTexts.viewSource}
      </button>
    </div>
  )
}
