/** A path on one line. If it does not fit, its start is cut off, because the last folders identify it; the tooltip shows the whole path. */
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

/** Splits a path into a head that may be cut off and a tail that stays. */
export function pathParts(path: string): readonly [head: string, tail: string] {
  const ends = [...path.matchAll(/[/\\]+(?=[^/\\])/g)].map(({ 0: slash, index }) => index + slash.length)
  const at = ends.at(-tailFolders) ?? 0
  // A head of only slashes is not worth cutting.
  return /^[/\\]*$/.test(path.slice(0, at)) ? ['', path] : [path.slice(0, at), path.slice(at)]
}
