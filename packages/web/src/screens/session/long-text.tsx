/** Shows the first lines of a text, and the full text on demand in a virtual list, so that very long texts stay fast. */
import { displayText } from '@holdpoint/client'
import { type ReactNode, useMemo, useRef } from 'react'
import { Virtualizer } from 'virtua'
import { DisplayText, InvisibleWarning } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { formatCount, formatSize } from '../../text/format-amounts.ts'
import { useExpanded } from './expanded-entries.ts'
import { chunksOf, headOf, lineCount } from './text-chunks.ts'
import './long-text.css'

const headLines = 16
const headChars = 4000

export interface LongTextProps {
  /** The key of this text in the set of expanded entries. */
  readonly name: string
  readonly text: string
  readonly lang?: string
}

export function LongText({ name, text, lang }: LongTextProps): ReactNode {
  const [open, toggle] = useExpanded(`${name}:all`)
  const head = headOf(text, headLines, headChars)
  if (head.length >= text.trimEnd().length) return <Code text={text} lang={lang} />
  const lines = lineCount(text)
  const size = lines > headLines ? formatCount(lines, 'line') : formatSize(text.length)
  return (
    <div className="long-text">
      {open ? <FullText text={text} /> : <Code text={head} lang={lang} />}
      <button type="button" className="fold-button" aria-expanded={open} onClick={toggle}>
        {open ? 'Show less' : `Show all ${size}`}
      </button>
    </div>
  )
}

function FullText({ text }: { readonly text: string }): ReactNode {
  const scroller = useRef<HTMLPreElement>(null)
  const chunks = useMemo(() => chunksOf(displayText(text, { multiline: true })), [text])
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <pre className="code-block long" tabIndex={0} ref={scroller}>
        <Virtualizer data={chunks} scrollRef={scroller}>
          {(chunk, i) => (
            <div key={i}>
              <DisplayText text={chunk === '' ? '\n' : chunk} />
            </div>
          )}
        </Virtualizer>
      </pre>
      <InvisibleWarning text={text} />
    </>
  )
}
