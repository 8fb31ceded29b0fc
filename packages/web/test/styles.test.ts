/** Checks the styles of the page: few sizes and weights of text, spaces on a grid, one set of icons. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const folder = join(import.meta.dirname, '../src')

/** Returns the matches of a pattern in the files of the page, each with its file and line. */
function matchesIn(ending: RegExp, pattern: RegExp): readonly { readonly place: string; readonly text: string }[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => ending.test(name))
  return files.flatMap(file =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        [...line.matchAll(pattern)].map(match => ({ place: `${file}:${index + 1}`, text: match[1] ?? match[0] })),
      ),
  )
}

it('every text of the page has a size of the type scale', () => {
  const sizes = matchesIn(/\.css$/, /\bfont(?:-size)?: ([^;]+);/g)
  const stray = sizes.filter(
    ({ text }) => text !== 'inherit' && !/var\(--font-(?:small|normal|reading|title|touch)\)/.test(text),
  )
  expect(sizes.length).toBeGreaterThan(100)
  expect(stray).toEqual([])
})

it('the page uses only two font weights', () => {
  const weights = matchesIn(/\.css$/, /\bfont-weight: ([^;]+);/g).filter(
    ({ place }) => !place.startsWith('ui/fonts.css'),
  )
  expect(new Set(weights.map(({ text }) => text))).toEqual(new Set(['400', '600']))
})

it('margins and gaps of the page are multiples of 4 pixels, or at most 2 pixels', () => {
  const spaces = matchesIn(/\.css$/, /\b(?:padding|margin|gap|row-gap|column-gap)(?:-[a-z-]+)?: ([^;]+);/g)
  const isOnGrid = (px: number) => px <= 2 || px % 4 === 0
  const stray = spaces.filter(({ text }) =>
    [...text.matchAll(/([\d.]+)px/g)].some(([, px = '']) => !isOnGrid(Number(px))),
  )
  expect(spaces.length).toBeGreaterThan(200)
  expect(stray).toEqual([])
})

it('the page draws its icons with one set, and not with characters of a font', () => {
  const symbols = matchesIn(/\.(?:tsx?|css)$/, /[\u2190-\u21FF\u2500-\u27BF\u2B00-\u2BFF\u27F5-\u27FF]/g)
  // In these files, such characters are text and not icons: in agents' texts, for a key, and between the names of agents in a tooltip.
  const texts =
    /^(?:text\/markdown-token\.tsx|text\/diff-view\.css|request\/request-card\.tsx|request\/card-header\.tsx)/
  expect(symbols.filter(({ place }) => !texts.test(place))).toEqual([])
  const drawings = matchesIn(/\.tsx$/, /<svg/g).filter(({ place }) => !place.startsWith('settings/'))
  expect(drawings.map(({ place }) => place.split(':')[0])).toEqual(['screens/settings/device-link.tsx'])
})
