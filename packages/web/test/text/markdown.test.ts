import { growBlocks, linkTarget, markdownMax, readBlocks } from '@holdpoint/client'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../../test/support/cpu-time.ts'
import { Markdown } from '../../src/text/markdown.tsx'

const render = (text: string, streaming = false) => renderToStaticMarkup(createElement(Markdown, { text, streaming }))
/** Returns the visible text of rendered Markdown, without HTML tags. */
const visibleText = (text: string) =>
  render(text)
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')

describe('the Markdown view', () => {
  it('the Markdown view renders headings, lists, quotes, tables and code', () => {
    const html = render(
      '# One\n\ntext **bold** *soft* ~~gone~~ `code`\n\n1. a\n2. b\n\n> said\n\n|x|y|\n|-|-:|\n|1|2|\n\n```ts\nlet a\n```',
    )
    expect(html).toContain('<h3 class="level-1" dir="auto">One</h3>')
    expect(html).toContain(
      '<strong>bold</strong> <em>soft</em> <del>gone</del> <code class="code-span stored-order" dir="ltr">code</code>',
    )
    expect(html).toContain('<ol start="1" dir="auto"><li dir="auto">a</li><li dir="auto">b</li></ol>')
    expect(html).toContain('<blockquote dir="auto"><p dir="auto">said</p></blockquote>')
    expect(html).toContain('<td class="align-right" dir="auto">2</td>')
    expect(html).toContain('<code><span class="syntax-keyword">let</span> a</code>')
  })
  it('the Markdown view shows HTML as source', () => {
    const html = render(
      '<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n<div onclick="x()">in</div>\n\n<!-- hidden -->',
    )
    expect(html).not.toMatch(/<script|<img|<div onclick|<!--/)
    expect(visibleText('a <b>b</b>\n\n<!-- hidden -->')).toContain('<!-- hidden -->')
  })
  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//x',
    '/x',
    'x',
  ])('the Markdown view shows the unsafe or relative URL %j as text, not as a link', href => {
    expect(render(`[words](${href})`)).not.toContain('<a ')
    expect(visibleText(`[words](${href})`)).toContain(href)
  })
  it('the Markdown view opens links in a new tab and shows the host unless the link text is the URL', () => {
    const html = render('[paypal.com](https://evil.example/pay "a title")')
    expect(html).toContain('href="https://evil.example/pay" target="_blank" rel="noopener noreferrer"')
    expect(visibleText('[paypal.com](https://evil.example/pay)')).toBe('paypal.com (evil.example)')
    expect(html).toContain('a title')
    expect(visibleText('https://a.example/b')).toBe('https://a.example/b')
    expect(visibleText('<ada@example.org>')).toContain('ada@example.org')
  })
  it('the Markdown view shows the ASCII form of a lookalike host', () => {
    expect(linkTarget('https://pаypal.com/')?.host).toBe('xn--pypal-4ve.com')
    expect(visibleText('[https://pаypal.com/](https://pаypal.com/)')).toContain('(xn--pypal-4ve.com)')
    expect(linkTarget('https://user:secret@real.example@evil.example/')?.host).toBe('evil.example')
  })
  it('the Markdown view links to images instead of loading them', () => {
    const html = render('![a chart](https://tracker.example/x.png)')
    expect(html).not.toContain('<img')
    expect(html).toContain('href="https://tracker.example/x.png"')
    expect(visibleText('![a chart](https://tracker.example/x.png)')).toBe('▨ a chart (tracker.example)')
  })
  it('the Markdown view escapes invisible characters in text, code, tables and links', () => {
    const shown = visibleText(
      'a\u200bb **c\u202ed** `e\u00a0f`\n\n```bash\nrm \u2066x\n```\n\n| a\u200d |\n|-|\n| b |\n\n[l\u200bx](https://a.example)',
    )
    for (const escaped of ['a\\u{200b}b', 'c\\u{202e}d', 'e\\u{a0}f', '\\u{2066}x', 'a\\u{200d}', 'l\\u{200b}x'])
      expect(shown).toContain(escaped)
    expect(shown).toContain('Invisible characters are shown as')
  })
  it('the Markdown view shows a lone carriage return, which terminals use to overwrite text', () => {
    expect(visibleText('safe\revil')).toMatch(/^safe␍evil Invisible characters/)
    expect(visibleText('one\r\ntwo')).toBe('one\ntwo')
  })
  it('the Markdown view shows link definitions, extra table cells and the info string of a code block', () => {
    expect(visibleText('[//]: # (a hidden word)')).toContain('a hidden word')
    expect(visibleText('[ref]: https://x.example "t"')).toContain('https://x.example')
    expect(visibleText('|a|b|\n|-|-|\n|1|2|a third cell|')).toContain('a third cell')
    expect(visibleText('|a|\n|-|\n|1 \\| 2|')).toContain('1 | 2')
    expect(visibleText('```ts and more words\nx\n```')).toContain('ts and more words')
  })
  it('the Markdown view shows all text of deeply nested and unclosed markup', () => {
    const deep = Array.from({ length: 30 }, (_, i) => `${'  '.repeat(i)}- level ${i + 1}`).join('\n')
    expect(visibleText(deep)).toContain('level 30')
    expect(visibleText(`${'>'.repeat(3000)} deep`)).toContain('deep')
    expect(visibleText('```python\nnever closed')).toContain('never closed')
    expect(visibleText(`${'['.repeat(5000)}x`)).toContain('x')
    expect(visibleText('*a '.repeat(900))).toContain('*a')
    expect(visibleText('_a'.repeat(5000))).toBe('_a'.repeat(5000))
  })
  it.each([
    '_a',
    '*a',
    '**a ',
    '***',
    '~~a',
    '[',
    '![',
    '!',
    '<',
    '>',
    '- ',
    '- [ ] a\n',
    '1. ',
    '`',
    '|',
    'a@b.',
    ' ',
    '\n',
  ])('F13: the Markdown view reads 48,000 characters of %j in a few milliseconds, or shows them as source', part => {
    const text = `x${part.repeat(Math.floor((markdownMax - 2) / part.length))}x`
    // This limit is far above the usual time. Without the limits of the parser, some of these texts take 40 seconds.
    expect(leastCpuMs(() => readBlocks(text))).toBeLessThan(500)
  })
  it('F13: the Markdown view formats text of 20,000 characters with ordinary markup', () => {
    const section =
      '## Part\n\nSome **bold** words, `code`, and a [link](https://a.example).\n\n- one\n- two `x`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n'
    expect(readBlocks(section.repeat(Math.floor(20_000 / section.length)))).not.toBeNull()
  })
  it('the Markdown view shows very long text as source', () => {
    const long = `# not a heading\n${'x'.repeat(markdownMax)}`
    expect(render(long)).not.toContain('<h3')
    expect(readBlocks(long)).toBeNull()
  })
})

describe('growBlocks', () => {
  const text =
    'First *block*.\n\n- a\n- b\n\n  c\n\n```ts\nlet x = 1\n\nlet y\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nTitle\n===\n\nLast.'

  it('growBlocks returns the same blocks as parsing the whole text, at every length of the text', () => {
    let known = readBlocks('') ?? []
    for (let end = 1; end <= text.length; end++) {
      known = growBlocks(known, text.slice(0, end)) ?? []
      expect(known.map(block => [block.type, block.raw])).toEqual(
        (readBlocks(text.slice(0, end)) ?? []).map(block => [block.type, block.raw]),
      )
    }
  })
  it('growBlocks reuses the finished blocks when text is appended', () => {
    const known = readBlocks('One.\n\nTwo.\n\nThr') ?? []
    const grown = growBlocks(known, 'One.\n\nTwo.\n\nThree.') ?? []
    expect(grown[0]).toBe(known[0])
    expect(grown[2]).toBe(known[2])
    expect(grown.at(-1)?.raw).toBe('Three.')
  })
  it('growBlocks parses all blocks again if the new text does not continue the previous text', () => {
    const known = readBlocks('One.\n\nTwo.') ?? []
    expect(growBlocks(known, 'Other.\n\nTwo.')?.[0]?.raw).toBe('Other.')
  })
})
