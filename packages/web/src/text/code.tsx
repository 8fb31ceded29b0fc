/** Shows code and data with every character visible and in logical order. Code in a known language is highlighted. */
import { displayText } from '@holdpoint/client'
import type { ReactNode } from 'react'
import { InvisibleWarning } from './agent-text.tsx'
import { HighlightedCode } from './highlight.tsx'
import './code.css'

export interface CodeProps {
  readonly text: string
  /** A language name such as bash, json or ts. Text without a language is not highlighted. */
  readonly lang?: string | undefined
  /** A prompt that Holdpoint shows before the text, such as a shell's `$`. */
  readonly prompt?: string
  /** True if the caller warns about invisible characters itself. */
  readonly hideWarning?: boolean
}

export function Code({ text, lang, prompt, hideWarning = false }: CodeProps): ReactNode {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
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
      {!hideWarning && <InvisibleWarning text={text} />}
    </>
  )
}

export function Json({ value }: { readonly value: unknown }): ReactNode {
  return <Code text={JSON.stringify(value, null, 2) ?? 'undefined'} lang="json" />
}
