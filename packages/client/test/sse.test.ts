import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sseParser } from '../src/watch-events.ts'

function parseAll(chunks: readonly Uint8Array[]): string[] {
  const received: string[] = []
  const parse = sseParser(data => received.push(data))
  for (const chunk of chunks) parse(chunk)
  return received
}

it('the parser of event streams reads the same events however the bytes are split into chunks, with any line ending', () => {
  const ends = fc.constantFrom('\n', '\r\n', '\r')
  const lines = fc.array(
    fc.string({ unit: 'grapheme' }).map(text => text.replace(/[\r\n]/g, '')),
    { minLength: 1, maxLength: 3 },
  )
  const events = fc.array(lines, { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(events, ends, fc.array(fc.nat(400), { maxLength: 30 }), (all, end, cuts) => {
      const text = all
        .map(data => [': heartbeat', 'id: 7', ...data.map(line => `data: ${line}`), '', ''].join(end))
        .join('')
      // After a chunk that ends in a carriage return, the parser waits, because a line feed may follow. The final comment line makes it emit the last event.
      const bytes = new TextEncoder().encode(`${text}: end\n`)
      const at = [...new Set([0, ...cuts.map(cut => Math.min(cut, bytes.length)), bytes.length])].sort((a, b) => a - b)
      const chunks = at.slice(1).map((to, i) => bytes.subarray(at[i], to))
      expect(parseAll(chunks)).toEqual(all.map(data => data.join('\n')))
    }),
    { numRuns: 500 },
  )
})

it('the parser of event streams ignores comments, unknown fields and an event without an end', () => {
  const text = ': hello\n\nevent: x\nretry: 5\n\ndata:no blank\n\ndata\n\ndata: cut'
  expect(parseAll([new TextEncoder().encode(text)])).toEqual(['no blank', ''])
})
