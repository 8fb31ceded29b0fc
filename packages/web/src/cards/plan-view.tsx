/** A plan as it is meant to be read, and as it was written, a click away: what markup may hide must be there to see. */
// biome-ignore lint/correctness/noUnresolvedImports: the linter does not see it in the types of react; the compiler does
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { Prose } from '../parts/agent-text.tsx'
import { Code } from '../parts/code.tsx'

const Markdown = lazy(async () => ({ default: (await import('../parts/markdown.tsx')).Markdown }))

export function PlanView({ text }: { readonly text: string }): ReactNode {
  const [written, setWritten] = useState(false)
  return (
    <div className="plan">
      <div className="plan-text ground">
        {written ? (
          <Code text={text} lang="markdown" />
        ) : (
          <Suspense fallback={<Prose text={text} />}>
            <Markdown text={text} streaming={false} />
          </Suspense>
        )}
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
