/** A path in one line: where there is no room for all of it, its last folders stay, for they tell it from others. The whole is in its title. */
import { escapeInvisible } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import './path.css'

export function Path({ path, className = '' }: { readonly path: string; readonly className?: string }): ReactNode {
  const whole = escapeInvisible(path)
  const [head, tail] = pathParts(whole)
  return (
    <span className={`path-line ${className}`} title={whole}>
      {head !== '' && <bdi className="path-head">{head}</bdi>}
      <bdi className="path-tail">{tail}</bdi>
    </span>
  )
}

const tailFolders = 2

/** What may be cut, and what stays: together they are the path. */
export function pathParts(path: string): readonly [head: string, tail: string] {
  const ends = [...path.matchAll(/[/\\]+(?=[^/\\])/g)].map(({ 0: slash, index }) => index + slash.length)
  const at = ends.at(-tailFolders) ?? 0
  // Nothing but a slash before it: that is no folder.
  return /^[/\\]*$/.test(path.slice(0, at)) ? ['', path] : [path.slice(0, at), path.slice(at)]
}
