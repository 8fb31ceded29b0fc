/** A path on one line. The start of a long path is cut off, because the last folders identify the path. The tooltip shows the whole path. */
import { displayText, exactText, markersIn } from '@holdpoint/client'
import type { ReactNode } from 'react'
import { DisplayText } from './agent-text.tsx'
import './path.css'

export function Path({ path, className = '' }: { readonly path: string; readonly className?: string }): ReactNode {
  const [head, tail] = pathParts(displayText(path))
  return (
    <span className={`path-line ${className}`} title={exactText(path)} dir="ltr">
      {head !== '' && (
        <bdi className="path-head stored-order">
          <DisplayText text={head} code="code" />
        </bdi>
      )}
      <bdi className="path-tail stored-order">
        <DisplayText text={tail} code="code" />
      </bdi>
    </span>
  )
}

const tailFolders = 2

/** Splits a displayed path into a head that may be cut off and a tail that is always shown. The backslash of an escape is not a separator. */
export function pathParts(displayed: string): readonly [head: string, tail: string] {
  const escapes = new Set(markersIn(displayed).map(marker => marker.from))
  const isSeparator = (at: number) => (displayed[at] === '/' || displayed[at] === '\\') && !escapes.has(at)
  const starts: number[] = []
  for (let at = 1; at < displayed.length; at++) if (isSeparator(at - 1) && !isSeparator(at)) starts.push(at)
  const start = starts.at(-tailFolders) ?? 0
  // Cutting off a head of only slashes would save no space.
  return /^[/\\]*$/.test(displayed.slice(0, start))
    ? ['', displayed]
    : [displayed.slice(0, start), displayed.slice(start)]
}
