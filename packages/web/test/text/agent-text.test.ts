import { displayText, markersIn } from '@holdpoint/client'
import fc from 'fast-check'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { InlineAgentText, InvisibleWarning, Sentences } from '../../src/text/agent-text.tsx'
import { Code } from '../../src/text/code.tsx'
import { type ColoredText, splitAtMarkers } from '../../src/text/token-colors.ts'

describe('display markers in an agent’s text', () => {
  it('are isolated and read left to right inside right-to-left text', () => {
    expect(renderToStaticMarkup(createElement(InlineAgentText, { text: 'שלום\u202e עולם' }))).toBe(
      '<bdi class="agent-inline ">שלום<bdi dir="ltr" class="marker escape">\\u{202e}</bdi> עולם</bdi>',
    )
    const html = renderToStaticMarkup(createElement(Code, { text: `ls${' '.repeat(3000)}; rm`, lang: 'bash' }))
    expect(html).toContain('<bdi dir="ltr" class="marker count">⟨3000 spaces⟩</bdi>')
  })
  it('become separate segments even if a grammar splits the text inside a marker', () => {
    const unit = fc.constantFrom('a', '\u200b', '\\', ' '.repeat(50), '⟨1', '"')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), fc.array(fc.nat(60)), (raw, cuts) => {
        const text = displayText(raw)
        const positions = [...new Set([0, ...cuts.filter(at => at < text.length).sort((a, b) => a - b), text.length])]
        const segments = positions.slice(0, -1).map((from, i): ColoredText => {
          return { text: text.slice(from, positions[i + 1]), color: 'string' }
        })
        const marked = splitAtMarkers(text, segments, markersIn(text))
        expect(marked.map(segment => segment.text).join('')).toBe(text)
        expect(marked.filter(segment => segment.marker).map(segment => segment.text)).toEqual(
          markersIn(text).map(({ from, to }) => text.slice(from, to)),
        )
      }),
    )
  })
})

describe('emoji in an agent’s sentences', () => {
  const text = 'Good morning \u2600\ufe0f'
  it('are shown whole, although they contain invisible characters', () => {
    expect(renderToStaticMarkup(createElement(Sentences, { text }))).toContain(text)
  })
  it('cause no warning in a sentence, but do in text that is executed', () => {
    expect(renderToStaticMarkup(createElement(InvisibleWarning, { text, sentence: true }))).toBe('')
    expect(renderToStaticMarkup(createElement(InvisibleWarning, { text }))).not.toBe('')
  })
})
