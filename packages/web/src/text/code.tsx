/** Text as it is executed or read by machines: every character, in logical order, coloured where the language is known. */
import { displayText } from '@holdpoint/client'
import type { ReactNode } from 'react'
import { InvisibleWarning } from './agent-text.tsx'
import { HighlightedCode } from './highlight.tsx'
import './code.css'

export interface CodeProps {
  readonly text: string
  /** A name such as bash, json, ts; left out: no colours. */
  readonly lang?: string | undefined
  /** Ours, before the text: a shell's `$`. */
  readonly prompt?: string
  /** Whether it is said elsewhere that something in it cannot be seen. */
  readonly warned?: boolean
}

export function Code({ text, lang, prompt, warned = false }: CodeProps): ReactNode {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre className="code-block" tabIndex={0}>
        {prompt && (
          <span className="code-prompt" aria-hidden="true">
            {prompt}{' '}
          </span>
        )}
        <code>
          <HighlightedCode text={displayText(text, { multiline: true })} lang={lang} />
        </code>
      </pre>
      {!warned && <InvisibleWarning text={text} />}
    </>
  )
}

export function Json({ value }: { readonly value: unknown }): ReactNode {
  return <Code text={JSON.stringify(value, null, 2) ?? 'nothing'} lang="json" />
}
