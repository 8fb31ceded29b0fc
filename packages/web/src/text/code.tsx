/** Shows code and data with every character visible and in the order in which it is stored. Code in a known language is highlighted. */
import { type CodeKind, displayText, textChunks } from '@holdpoint/client'
import { type ReactNode, useMemo } from 'react'
import { DisplayText } from './agent-text.tsx'
import { HighlightedCode } from './highlight.tsx'
import { LazyChunks, textLines } from './lazy-chunks.tsx'
import { isShell } from './shell-highlighter.ts'
import { CodeWarnings } from './text-warnings.tsx'
import './code.css'

export interface CodeProps {
  readonly text: string
  /** A language name such as bash, json or ts. Text without a language is not highlighted. */
  readonly lang?: string | undefined
  /** A prompt that Holdpoint shows before the text, such as a shell's `$`. */
  readonly prompt?: string
  /** True if the caller warns about unusual characters itself. */
  readonly hideWarning?: boolean
  /** True if the box scrolls by itself, because the text is long. */
  readonly scrolls?: boolean
}

export function Code({ text, lang, prompt, hideWarning = false, scrolls = false }: CodeProps): ReactNode {
  const kind: CodeKind = lang !== undefined && isShell(lang) ? 'command' : 'code'
  const chunks = useMemo(() => textChunks(text), [text])
  // A long text is drawn in chunks, without colors.
  const isWhole = chunks.length === 1
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <pre className={`code-block stored-order ${scrolls ? 'scrolls' : ''}`} dir="ltr" tabIndex={0}>
        {prompt && (
          <span className="code-prompt" aria-hidden="true">
            {prompt}{' '}
          </span>
        )}
        <LazyChunks chunks={chunks} className="stored-order" linesOf={textLines} textOf={displayCode}>
          {chunk => (
            <code>
              <CodeChunk text={chunk} kind={kind} lang={isWhole ? lang : undefined} />
            </code>
          )}
        </LazyChunks>
      </pre>
      {!hideWarning && <CodeWarnings text={text} kind={kind} />}
    </>
  )
}

function displayCode(text: string): string {
  return displayText(text, { multiline: true })
}

interface CodeChunkProps {
  readonly text: string
  readonly kind: CodeKind
  readonly lang: string | undefined
}

function CodeChunk({ text, kind, lang }: CodeChunkProps): ReactNode {
  const displayed = useMemo(() => displayCode(text), [text])
  // An empty line has no height of its own.
  if (displayed === '') return '\n'
  return lang === undefined ? (
    <DisplayText text={displayed} code={kind} />
  ) : (
    <HighlightedCode text={displayed} lang={lang} kind={kind} />
  )
}

export function Json({ value }: { readonly value: unknown }): ReactNode {
  return <Code text={JSON.stringify(value, null, 2) ?? 'undefined'} lang="json" />
}
