/** A plan as it is meant to be read, and as it was written, a click away: what markup may hide must be there to see. */
import { type ReactNode, useState } from 'react'
import { AgentParagraphs } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import './plan-view.css'

const Markdown = lazyComponent(
  async () => (await import('../../text/markdown.tsx')).Markdown,
  ({ text }) => <AgentParagraphs text={text} />,
)

export function PlanView({ text }: { readonly text: string }): ReactNode {
  const [written, setWritten] = useState(false)
  return (
    <div className="plan">
      <div className="plan-text agent-background">
        {written ? <Code text={text} lang="markdown" /> : <Markdown text={text} streaming={false} />}
      </div>
      <button
        type="button"
        className="button plain small raw"
        aria-pressed={written}
        onClick={() => setWritten(!written)}
      >
        {written ? 'As it reads' : 'As it is written'}
      </button>
    </div>
  )
}
