/** A path on one line. The start of a long path is cut off, because the last folders identify the path. The tooltip shows the whole path. */
import { escapeInvisible } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import './path.css'

export function Path({ path, className = '' }: { readonly path: string; readonly className?: string }): ReactNode {
  const escaped = escapeInvisible(path)
  const [head, tail] = pathParts(escaped)
  return (
    <span className={`path-line ${className}`} title={escaped}>
      {head !== '' && <bdi className="path-head">{head}</bdi>}
      <bdi className="path-tail">{tail}</bdi>
    </span>
  )
}

const tailFolders = 2

/** Splits a path into a head that may be cut off and a tail that is always shown. */
export function pathParts(path: string): readonly [head: string, tail: string] {
  const ends = [...path.matchAll(/[/\\]+(?=[^/\\])/g)].map(({ 0: slash, index }) => index + slash.length)
  const at = ends.at(-tailFolders) ?? 0
  // Cutting off a head of only slashes would save no space.
  return /^[/\\]*$/.test(path.slice(0, at)) ? ['', path] : [path.slice(0, at), path.slice(at)]
}
