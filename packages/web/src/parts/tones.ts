/** The five colours of code, whoever found out what is what. */

export type Tone = 'keyword' | 'string' | 'number' | 'name' | 'quiet'
/** A stretch of the text in one colour; null: in that of the text. */
export interface Piece {
  readonly text: string
  readonly tone: Tone | null
}
