/** How agents' text gets onto the page: made visible, as text, on a ground of its own (G9). Nothing else may draw it. */
import { hidesSomething, reveal } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { linePieces, type Piece } from './line-pieces.ts'

const layout = { multiline: true } as const
/** In sentences pictures are pictures; in what is executed every character counts. */
const sentences = { multiline: true, pictures: true } as const

/** A few words of an agent inside a line of ours. */
export function Words({ text, className = '' }: { readonly text: string; readonly className?: string }): ReactNode {
  return <bdi className={`words ${className}`}>{reveal(text)}</bdi>
}

/** Sentences of an agent, with their line breaks, nothing in them interpreted. */
export function Prose({ text }: { readonly text: string }): ReactNode {
  return (
    <>
      <Sentences text={text} />
      <Hidden text={text} sentence />
    </>
  )
}

/** The same without a word of ours, for a ground on which none may stand: the warning goes below it. */
export function Sentences({ text }: { readonly text: string }): ReactNode {
  return <div className="prose">{reveal(text, sentences)}</div>
}

/** Sentences of an agent on a ground of their own. */
export function Quote({ text, className = '' }: { readonly text: string; readonly className?: string }): ReactNode {
  return (
    <div className="quotation">
      <blockquote className={`quote ground ${className}`}>
        <Sentences text={text} />
      </blockquote>
      <Hidden text={text} sentence />
    </div>
  )
}

export interface LineProps {
  /** Revealed already, so that `mark` can name places in it. */
  readonly revealed: string
  /** Where it was changed. */
  readonly mark?: readonly [number, number]
}

/** One line of a file, with its tabs and the blanks at its end to be seen. */
export function Line({ revealed, mark }: LineProps): ReactNode {
  return linePieces(revealed, mark).map((piece, index) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line that never changes
    return <LinePiece key={index} {...piece} />
  })
}

function LinePiece({ text, kind, marked }: Piece): ReactNode {
  const drawn = kind === 'text' ? text : <span className={kind}>{text}</span>
  return marked ? <mark>{drawn}</mark> : drawn
}

export function revealLine(text: string): string {
  return reveal(text, layout)
}

/** Says that a text holds what cannot be seen, and how it stands there now. */
export function Hidden({ text, sentence }: { readonly text: string; readonly sentence?: boolean }): ReactNode {
  if (!hidesSomething(text, sentence ? sentences : layout)) return null
  return <p className="hidden-warning small">⚠ Characters that cannot be seen are spelt out as \u{'{…}'}.</p>
}
