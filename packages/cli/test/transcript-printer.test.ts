/** The transcript printer: every line is printed once, in order, and only when it is complete. */
import type { Entry, MessageEntry, ToolEntry } from '@holdpoint/client'
import { defaultDenyReason } from '@holdpoint/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Row } from '../src/output/span.ts'
import { wrap } from '../src/output/width.ts'
import { TranscriptPrinter } from '../src/tui/transcript/transcript-printer.ts'

const reader = { me: 'me', columns: 80, isAnsweredHere: () => false }
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

describe('the transcript printer', () => {
  it('the transcript printer says once that a turn was interrupted, and by whom if a person interrupted it', () => {
    const note: Entry = { kind: 'note', id: 'n', at: 0, text: 'ana interrupted the turn', by: 'ana', byId: 'me' }
    const interrupted = (id: string): Entry => ({ kind: 'turn', id, at: 0, ending: 'interrupted' })
    const entries = [note, tool('ok'), interrupted('a'), interrupted('b')]
    expect(linesOf(new TranscriptPrinter().newRows(entries, reader))).toEqual([
      '· You interrupted the turn.',
      '▸ Bash  ls',
      'Turn interrupted.',
    ])
  })
  it('the transcript printer prints “denied”, not “failed”, for a tool call that a person denied', () => {
    const denied: Entry = { ...tool('failed'), output: defaultDenyReason } as Entry
    expect(linesOf(new TranscriptPrinter().newRows([denied], reader))).toEqual(['▸ Bash  ls  denied'])
    const scroll = new TranscriptPrinter()
    scroll.newRows([tool('running')], reader)
    expect(linesOf(scroll.newRows([denied], reader))).toEqual(['✗ Bash: denied'])
  })
  it('the transcript printer summarizes a tool call as the page does, and prints no JSON', () => {
    const called = (name: string, input: ToolEntry['input']) =>
      ({ ...tool('ok'), id: name, tool: name, input }) as Entry
    const entries = [
      called('TodoWrite', {
        todos: [
          { content: 'Read the code', status: 'completed', activeForm: 'Reading' },
          { content: 'Fix it', status: 'in_progress', activeForm: 'Fixing' },
        ],
      }),
      called('MultiEdit', { file_path: '/a.ts', edits: [{ old_string: 'a', new_string: 'b' }] }),
      called('Task', { description: 'Look around', prompt: 'Look at every file', subagent_type: 'Explore' }),
      called('mcp__tracker__create', { count: 1, nested: { a: [] } }),
    ]
    expect(linesOf(new TranscriptPrinter().newRows(entries, reader))).toEqual([
      '▸ TodoWrite  1/2 · Fix it',
      '▸ MultiEdit  /a.ts',
      '▸ Task  Look around',
      '▸ mcp__tracker__create',
    ])
  })
  it('the transcript printer leaves out a call that asks questions, because its request shows them, unless the call failed', () => {
    const asks = (state: ToolEntry['state']): Entry => {
      const input = { questions: [{ question: 'Which one?' }] }
      return { ...tool('ok'), tool: 'AskUserQuestion', input, state, output: 'bad input' } as Entry
    }
    expect(linesOf(new TranscriptPrinter().newRows([asks('running')], reader))).toEqual([])
    expect(linesOf(new TranscriptPrinter().newRows([asks('ok')], reader))).toEqual([])
    expect(linesOf(new TranscriptPrinter().newRows([asks('failed')], reader))).toEqual(['▸ AskUserQuestion  failed'])
  })
  it('the transcript printer prints streaming text block by block and the rest at the end, however the text is split', () => {
    const text = fc.array(fc.constantFrom('one', 'two', '\n', '\n\n', ' '), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(text, fc.array(fc.nat(60)), (pieces, cuts) => {
        const whole = `x${pieces.join('')}`
        const scroll = new TranscriptPrinter()
        const printed: Row[] = []
        for (const cut of cuts.toSorted((a, b) => a - b))
          printed.push(...scroll.newRows([message('m', whole.slice(0, cut), true)], reader))
        printed.push(...scroll.newRows([message('m', whole, false)], reader))
        const words = (lines: readonly string[]) =>
          lines
            .join('\n')
            .replace(/⟨\d+ (blank lines|whitespace lines|spaces)⟩/g, '')
            .replace(/[│\s]+/g, ' ')
            .trim()
        expect(words(linesOf(printed))).toBe(words([whole]))
        expect(scroll.newRows([message('m', whole, false)], reader)).toEqual([])
      }),
    )
  })
  it('the transcript printer keeps the blank line between streamed paragraphs', () => {
    const scroll = new TranscriptPrinter()
    const first = scroll.newRows([message('m', 'one\n\n', true)], reader)
    const rest = scroll.newRows([message('m', 'one\n\ntwo', false)], reader)
    expect(linesOf([...first, ...rest])).toEqual(['  │ one', '  │', '  │ two'])
  })
  it('the transcript printer prints a message once if the program connected while the message was being written', () => {
    const scroll = new TranscriptPrinter()
    const joined: Entry = { ...message('m', '…d paragraph.\n\nThe thi', true), missesStart: true }
    expect(scroll.newRows([joined], reader)).toEqual([])
    expect(linesOf(scroll.unprintedRows([joined], reader))).toContain('  │ …d paragraph.')
    const whole = 'The first.\n\nThe second paragraph.\n\nThe third.'
    expect(
      linesOf(scroll.newRows([message('m', whole, false)], reader)).filter(line => /paragraph/.test(line)),
    ).toEqual(['  │ The second paragraph.'])
  })
  it('the transcript printer prints the whole final text if it differs from the streamed text', () => {
    const scroll = new TranscriptPrinter()
    scroll.newRows([message('m', 'one\n', true)], reader)
    expect(linesOf(scroll.newRows([message('m', 'other', false)], reader))).toEqual(['  │ other'])
  })
  it('the transcript printer prints a tool call when it starts, and a second line only if it fails', () => {
    const scroll = new TranscriptPrinter()
    expect(linesOf(scroll.newRows([tool('running')], reader))).toEqual(['▸ Bash  ls'])
    expect(scroll.newRows([tool('running')], reader)).toEqual([])
    expect(linesOf(scroll.newRows([tool('failed')], reader))).toEqual(['✗ Bash failed  no'])
    expect(scroll.newRows([tool('failed')], reader)).toEqual([])
  })
  it('the transcript printer returns the streaming text that has not been printed yet', () => {
    const scroll = new TranscriptPrinter()
    const entries = [message('m', 'one\n\ntwo', true)]
    expect(linesOf(scroll.newRows(entries, reader))).toEqual(['  │ one'])
    expect(linesOf(scroll.unprintedRows(entries, reader))).toEqual(['  │', '  │ two'])
  })
  it('the transcript printer prints streamed Markdown as it prints the whole text', () => {
    const block = fc.constantFrom(
      '# Title',
      'A **bold** text.',
      '- one\n- two',
      '1. one\n\n   more\n2. two',
      '```sh\nls\n\npwd\n```',
      '> quoted',
      '| a | b |\n| - | - |\n| 1 | 2 |',
      '---',
    )
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 6 }), fc.array(fc.nat(150)), (blocks, cuts) => {
        const text = blocks.join('\n\n')
        const scroll = new TranscriptPrinter()
        const printed = cuts
          .toSorted((a, b) => a - b)
          .flatMap(cut => scroll.newRows([message('m', text.slice(0, cut), true)], reader))
        const rest = scroll.newRows([message('m', text, false)], reader)
        const whole = new TranscriptPrinter().newRows([message('m', text, false)], reader)
        expect(linesOf([...printed, ...rest])).toEqual(linesOf(whole))
      }),
    )
  })
})
