import { createSseParser } from '@holdpoint/client'
import fc from 'fast-check'
import { expect, it } from 'vitest'

function parseAll(chunks: readonly Uint8Array[]): string[] {
  const heard: string[] = []
  const parse = createSseParser(data => heard.push(data))
  for (const chunk of chunks) parse(chunk)
  return heard
}

it('reads the same events wherever the chunks end, whichever line ends are used', () => {
  const ends = fc.constantFrom('\n', '\r\n', '\r')
  const lines = fc.array(
    fc.string({ unit: 'grapheme' }).map(text => text.replace(/[\r\n]/g, '')),
    { minLength: 1, maxLength: 3 },
  )
  const events = fc.array(lines, { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(events, ends, fc.array(fc.nat(400), { maxLength: 30 }), (all, end, cuts) => {
      const text = all.map(data => [': beat', 'id: 7', ...data.map(line => `data: ${line}`), '', ''].join(end)).join('')
      // Something must follow a last carriage return before it can be told from the first half of a line end.
      const bytes = new TextEncoder().encode(`${text}: end`)
      const at = [...new Set([0, ...cuts.map(cut => Math.min(cut, bytes.length)), bytes.length])].sort((a, b) => a - b)
      const chunks = at.slice(1).map((to, i) => bytes.subarray(at[i], to))
      expect(parseAll(chunks)).toEqual(all.map(data => data.join('\n')))
    }),
    { numRuns: 500 },
  )
})

it('ignores comments, other fields and an event that did not end', () => {
  const text = ': hello\n\nevent: x\nretry: 5\n\ndata:no blank\n\ndata\n\ndata: cut'
  expect(parseAll([new TextEncoder().encode(text)])).toEqual(['no blank', ''])
})
