import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { Markdown } from '../src/text/markdown.tsx'
import { growBlocks, linkTarget, markdownMax, readBlocks } from '../src/text/markdown-blocks.ts'

const draw = (text: string, streaming = false) => renderToStaticMarkup(createElement(Markdown, { text, streaming }))
/** What a reader sees, without the markup. */
const seen = (text: string) =>
  draw(text)
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')

describe('an agent’s Markdown', () => {
  it('becomes headings, lists, quotes, tables and code', () => {
    const html = draw(
      '# One\n\ntext **bold** *soft* ~~gone~~ `code`\n\n1. a\n2. b\n\n> said\n\n|x|y|\n|-|-:|\n|1|2|\n\n```ts\nlet a\n```',
    )
    expect(html).toContain('<h3 class="level-1">One</h3>')
    expect(html).toContain('<strong>bold</strong> <em>soft</em> <del>gone</del> <code class="code-span">code</code>')
    expect(html).toContain('<ol start="1"><li>a</li><li>b</li></ol>')
    expect(html).toContain('<blockquote><p>said</p></blockquote>')
    expect(html).toContain('<td class="align-right">2</td>')
    expect(html).toContain('<code>let a</code>')
  })
  it('shows HTML as it is written', () => {
    const html = draw(
      '<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n<div onclick="x()">in</div>\n\n<!-- hidden -->',
    )
    expect(html).not.toMatch(/<script|<img|<div onclick|<!--/)
    expect(seen('a <b>b</b>\n\n<!-- hidden -->')).toContain('<!-- hidden -->')
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
  ])('makes no link of %s', href => {
    expect(draw(`[words](${href})`)).not.toContain('<a ')
    expect(seen(`[words](${href})`)).toContain(href)
  })
  it('opens links elsewhere, and names their host where the words do not', () => {
    const html = draw('[paypal.com](https://evil.example/pay "a title")')
    expect(html).toContain('href="https://evil.example/pay" target="_blank" rel="noopener noreferrer"')
    expect(html).toContain('(evil.example)')
    expect(html).toContain('a title')
    expect(seen('https://a.example/b')).toBe('https://a.example/b')
    expect(seen('<ada@example.org>')).toContain('ada@example.org')
  })
  it('spells the host of a name that only looks like another as it is looked up', () => {
    expect(linkTarget('https://pаypal.com/')?.host).toBe('xn--pypal-4ve.com')
    expect(linkTarget('https://user:secret@real.example@evil.example/')?.host).toBe('evil.example')
  })
  it('loads no picture', () => {
    const html = draw('![a chart](https://tracker.example/x.png)')
    expect(html).not.toContain('<img')
    expect(html).toContain('href="https://tracker.example/x.png"')
    expect(html).toContain('(tracker.example)')
  })
  it('makes what cannot be seen visible, wherever it stands', () => {
    const read = seen(
      'a\u200bb **c\u202ed** `e\u00a0f`\n\n```bash\nrm \u2066x\n```\n\n| a\u200d |\n|-|\n| b |\n\n[l\u200bx](https://a.example)',
    )
    for (const spelt of ['a\\u{200b}b', 'c\\u{202e}d', 'e\\u{a0}f', '\\u{2066}x', 'a\\u{200d}', 'l\\u{200b}x'])
      expect(read).toContain(spelt)
    expect(read).toContain('Invisible characters are shown as')
  })
  it('shows a lone carriage return, which would hide what stands before it elsewhere', () => {
    expect(seen('safe\revil')).toMatch(/^safe␍evil⚠ Invisible characters/)
    expect(seen('one\r\ntwo')).toBe('one\ntwo')
  })
  it('hides nothing that markup could hide', () => {
    expect(seen('[//]: # (a hidden word)')).toContain('a hidden word')
    expect(seen('[ref]: https://x.example "t"')).toContain('https://x.example')
    expect(seen('|a|b|\n|-|-|\n|1|2|a third cell|')).toContain('a third cell')
    expect(seen('|a|\n|-|\n|1 \\| 2|')).toContain('1 | 2')
    expect(seen('```ts and more words\nx\n```')).toContain('ts and more words')
  })
  it('survives markup that is wild', () => {
    const deep = Array.from({ length: 30 }, (_, i) => `${'  '.repeat(i)}- level ${i + 1}`).join('\n')
    expect(seen(deep)).toContain('level 30')
    expect(seen(`${'>'.repeat(3000)} deep`)).toContain('deep')
    expect(seen('```python\nnever closed')).toContain('never closed')
    expect(seen(`${'['.repeat(5000)}x`)).toContain('x')
    expect(seen('*a '.repeat(900))).toContain('*a')
    expect(seen('_a'.repeat(20_000))).toBe('_a'.repeat(20_000))
  })
  it.each(['_a', '*a', '**a ', '~~a', '[', '<', '>', '- ', '1. ', '`'])(
    'reads a long run of %s without a stall',
    part => {
      const text = part.repeat(markdownMax / part.length)
      const startedAt = performance.now()
      readBlocks(text)
      expect(performance.now() - startedAt).toBeLessThan(2000)
    },
  )
  it('shows what is too long for it as it is written', () => {
    const long = `# not a heading\n${'x'.repeat(markdownMax)}`
    expect(draw(long)).not.toContain('<h3')
    expect(readBlocks(long)).toBeNull()
  })
})

describe('Markdown that streams', () => {
  const text =
    'First *block*.\n\n- a\n- b\n\n  c\n\n```ts\nlet x = 1\n\nlet y\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nTitle\n===\n\nLast.'

  it('is read like the whole, wherever it is cut', () => {
    let known = readBlocks('') ?? []
    for (let end = 1; end <= text.length; end++) {
      known = growBlocks(known, text.slice(0, end)) ?? []
      expect(known.map(block => [block.type, block.raw])).toEqual(
        (readBlocks(text.slice(0, end)) ?? []).map(block => [block.type, block.raw]),
      )
    }
  })
  it('keeps the blocks that are done', () => {
    const known = readBlocks('One.\n\nTwo.\n\nThr') ?? []
    const grown = growBlocks(known, 'One.\n\nTwo.\n\nThree.') ?? []
    expect(grown[0]).toBe(known[0])
    expect(grown[2]).toBe(known[2])
    expect(grown.at(-1)?.raw).toBe('Three.')
  })
  it('begins anew where the text is another one', () => {
    const known = readBlocks('One.\n\nTwo.') ?? []
    expect(growBlocks(known, 'Other.\n\nTwo.')?.[0]?.raw).toBe('Other.')
  })
})
