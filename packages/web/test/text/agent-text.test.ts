import { displayText, markersIn } from '@holdpoint/client'
import fc from 'fast-check'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { ExactText, InlineAgentText, SummaryText } from '../../src/text/agent-text.tsx'
import { Code } from '../../src/text/code.tsx'
import { Sentences } from '../../src/text/prose.tsx'
import { CodeWarnings, ProseWarnings } from '../../src/text/text-warnings.tsx'
import { type ColoredText, splitAtMarkers } from '../../src/text/token-colors.ts'

describe('display markers in an agent’s text', () => {
  it('display markers in an agent’s text are isolated and read left to right inside right-to-left text', () => {
    expect(renderToStaticMarkup(createElement(InlineAgentText, { text: 'שלום\u202e' }))).toContain(
      '<bdi>שלום</bdi><bdi dir="ltr" class="marker escape">\\u{202e}</bdi>',
    )
    const html = renderToStaticMarkup(createElement(Code, { text: `ls${' '.repeat(3000)}; rm`, lang: 'bash' }))
    expect(html).toContain('<bdi dir="ltr" class="marker count">⟨3000 spaces⟩</bdi>')
  })
  it('display markers in an agent’s text become separate segments even if a syntax highlighter splits the text inside a marker', () => {
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
  it('emoji in an agent’s sentences are shown whole, although they contain invisible characters', () => {
    expect(renderToStaticMarkup(createElement(Sentences, { text }))).toContain(text)
  })
  it('an emoji with a variation selector is shown whole everywhere, without a warning', () => {
    expect(renderToStaticMarkup(createElement(ExactText, { text }))).toContain(text)
    expect(renderToStaticMarkup(createElement(ProseWarnings, { text }))).toBe('')
    expect(renderToStaticMarkup(createElement(CodeWarnings, { text }))).toBe('')
  })
  it('an emoji of several joined characters causes a warning in text that is executed, but not in a sentence', () => {
    const family = 'Hello \u{1f468}\u200d\u{1f467}'
    expect(renderToStaticMarkup(createElement(ProseWarnings, { text: family }))).toBe('')
    expect(renderToStaticMarkup(createElement(CodeWarnings, { text: family }))).not.toBe('')
  })
})

describe('right-to-left letters', () => {
  it('F7: exact text is drawn letter by letter in stored order', () => {
    const html = renderToStaticMarkup(createElement(ExactText, { text: '/srv/אאא/בבב' }))
    expect(html).toMatch(/^<bdi dir="ltr" class="agent-inline stored-order .*">\/srv\/אאא\/בבב<\/bdi>$/)
  })
  it('F7: a label with mixed directions keeps the order of its words, and a label that is entirely right-to-left reads from right to left', () => {
    const html = (text: string) => renderToStaticMarkup(createElement(InlineAgentText, { text }))
    expect(html('Keep אאא > בבב')).toContain('stored-order')
    expect(html('Keep אאא > בבב')).toContain('Keep <bdi>אאא</bdi> &gt; <bdi>בבב</bdi>')
    expect(html('שלום עולם')).toMatch(
      /^<bdi dir="rtl" class="agent-inline\s*"><bdi>שלום<\/bdi> <bdi>עולם<\/bdi><\/bdi>$/,
    )
  })
  it('F7: in prose, mirrored signs follow the direction of their line', () => {
    const html = renderToStaticMarkup(createElement(Sentences, { text: 'cat אאא > בבב\nשלום (עולם)' }))
    expect(html).toContain(
      '<span dir="auto" class="prose-line">cat אאא <span class="line-direction">&gt;</span> בבב</span>',
    )
    expect(html).toContain('שלום <span class="line-direction">(</span>עולם<span class="line-direction">)</span>')
    expect(renderToStaticMarkup(createElement(Sentences, { text: 'a (b)' }))).not.toContain('span')
  })
})

describe('D5: text on one line', () => {
  const html = (text: string) => renderToStaticMarkup(createElement(InlineAgentText, { text, oneLine: true }))
  it('text on one line shows its start and its end if it does not fit', () => {
    expect(html('a short title')).toContain('<span class="cut-head">a short title</span>')
    expect(html('a title of more than thirty-two characters')).toContain(
      '<span class="cut-head">a title of more than thirt</span><span class="cut-tail"><span>y-two characters</span></span>',
    )
  })
  it('very long text on one line shows the number of missing characters', () => {
    expect(html(`${'x'.repeat(500)} rm -rf /`)).toMatch(
      /x<\/span><bdi dir="ltr" class="marker count">⟨\d+ more⟩<\/bdi>.*rm -rf \//,
    )
    const summary = { head: 'rm', omitted: 12, tail: '/', isCode: true }
    expect(renderToStaticMarkup(createElement(SummaryText, { summary }))).toContain('⟨12 more⟩')
  })
  it('text on one line is never cut right after a backslash, so that the cut cannot imitate an escape', () => {
    const text = `${'x'.repeat(30)}\\\\u{202e}${'y'.repeat(9)}`
    expect(html(text)).toContain(`<span class="cut-head">${'x'.repeat(30)}</span>`)
  })
})

describe('D6: look-alike letters in code', () => {
  it('look-alike letters in code are highlighted and named', () => {
    const html = renderToStaticMarkup(createElement(Code, { text: 'n\u0440m test', lang: 'bash' }))
    expect(html).toContain('<bdi dir="ltr" class="marker look-alike">\u0440</bdi>')
    expect(html).toContain('look like others: \u0440 (U+0440, Cyrillic)')
    expect(html).toContain('The program name “n\u0440m” has letters other than a to z.')
  })
})
