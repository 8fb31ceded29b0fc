/** What is printed of a transcript: everything once, in order, by whole lines. */
import type { Entry, MessageEntry } from '@holdpoint/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Row } from '../src/output/span.ts'
import { wrap } from '../src/output/width.ts'
import { TranscriptPrinter } from '../src/tui/transcript/transcript-printer.ts'

const reader = { me: 'me', columns: 80, isOurs: () => false }
const message = (id: string, text: string, streaming: boolean): MessageEntry => ({
  kind: 'message',
  id,
  at: 0,
  role: 'agent',
  text,
  streaming,
  partial: false,
  agentPath: [],
})
const tool = (state: 'running' | 'ok' | 'failed'): Entry => ({
  kind: 'tool',
  id: 't',
  at: 0,
  tool: 'Bash',
  input: { command: 'ls' },
  inputText: '',
  state,
  agentPath: [],
  output: 'no',
})
const linesOf = (rows: readonly Row[]) =>
  rows
    .flatMap(row => wrap(row, null))
    .map(piece =>
      piece
        .map(span => span.text)
        .join('')
        .trimEnd(),
    )

describe('the scroll', () => {
  it('prints text that streams by whole lines, and its rest when it is done, whatever the pieces', () => {
    const text = fc.array(fc.constantFrom('one', 'two', '\n', '\n\n', ' '), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(text, fc.array(fc.nat(60)), (pieces, cuts) => {
        const whole = `x${pieces.join('')}`
        const scroll = new TranscriptPrinter()
        const printed: Row[] = []
        for (const cut of cuts.toSorted((a, b) => a - b))
          printed.push(...scroll.advance([message('m', whole.slice(0, cut), true)], reader))
        printed.push(...scroll.advance([message('m', whole, false)], reader))
        const words = (lines: readonly string[]) =>
          lines
            .join('\n')
            .replace(/⟨\d+ (blank lines|whitespace lines|spaces)⟩/g, '')
            .replace(/[│\s]+/g, ' ')
            .trim()
        expect(words(linesOf(printed))).toBe(words([whole]))
        expect(scroll.advance([message('m', whole, false)], reader)).toEqual([])
      }),
    )
  })
  it('keeps the end of a paragraph that streamed', () => {
    const scroll = new TranscriptPrinter()
    const first = scroll.advance([message('m', 'one\n\n', true)], reader)
    const rest = scroll.advance([message('m', 'one\n\ntwo', false)], reader)
    expect(linesOf([...first, ...rest])).toEqual(['  │ one', '  │', '  │ two'])
  })
  it('prints all of a text that is not what had streamed', () => {
    const scroll = new TranscriptPrinter()
    scroll.advance([message('m', 'one\n', true)], reader)
    expect(linesOf(scroll.advance([message('m', 'other', false)], reader))).toEqual(['  │ other'])
  })
  it('tells of a tool when it begins, and again only if it failed', () => {
    const scroll = new TranscriptPrinter()
    expect(linesOf(scroll.advance([tool('running')], reader))).toEqual(['▸ Bash  ls'])
    expect(scroll.advance([tool('running')], reader)).toEqual([])
    expect(linesOf(scroll.advance([tool('failed')], reader))).toEqual(['✗ Bash failed  no'])
    expect(scroll.advance([tool('failed')], reader)).toEqual([])
  })
  it('shows what streams and is not printed yet', () => {
    const scroll = new TranscriptPrinter()
    const entries = [message('m', 'one\ntwo', true)]
    scroll.advance(entries, reader)
    expect(linesOf(scroll.rest(entries))).toEqual(['  │ two'])
  })
})
