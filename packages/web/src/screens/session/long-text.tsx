/** Shows the first and the last lines of a long text, with the number of lines between them, and the full text on demand. */
import { type ReactNode, useMemo } from 'react'
import { DisplayMarkerView } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { formatCount, formatSize } from '../../text/format-amounts.ts'
import { useExpanded } from './expanded-entries.ts'
import { excerptOf } from './text-excerpt.ts'
import './long-text.css'

export interface LongTextProps {
  /** The key of this text in the set of expanded entries. */
  readonly name: string
  readonly text: string
  readonly lang?: string
}

export function LongText({ name, text, lang }: LongTextProps): ReactNode {
  const [open, toggle] = useExpanded(`${name}:all`)
  const excerpt = useMemo(() => excerptOf(text), [text])
  if (!excerpt) return <Code text={text} lang={lang} />
  const { head, omittedLines, omittedChars, tail, lines } = excerpt
  const size = omittedLines > 0 ? formatCount(lines, 'line') : formatSize(text.length)
  const omitted =
    omittedLines > 0 ? formatCount(omittedLines, 'more line') : formatCount(omittedChars, 'more character')
  return (
    <div className="long-text">
      {open ? (
        <Code text={text} scrolls />
      ) : (
        <>
          <Code text={head} lang={lang} />
          <p className="omission">
            <DisplayMarkerView kind="count" text={`⟨${omitted}⟩`} />
          </p>
          <Code text={tail} lang={lang} />
        </>
      )}
      <button type="button" className="text-button" aria-expanded={open} onClick={toggle}>
        {open ? 'Show less' : `Show all ${size}`}
      </button>
    </div>
  )
}
