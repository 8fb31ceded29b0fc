/** Compares the order in which the browser draws characters with the order in which they are stored. */
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot resolve the exports of playwright-core
import type { Locator } from 'playwright-core'
import { expect } from 'vitest'

/** The position at which a character is drawn. */
export interface Glyph {
  readonly char: string
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Returns the first drawn occurrence of the text inside the element, character by character. Characters that are not drawn, such as collapsed spaces, are left out. */
export async function glyphsOf(element: Locator, text: string): Promise<readonly Glyph[]> {
  await element.first().waitFor()
  return element.first().evaluate((root, wanted) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    const places: { readonly node: Node; readonly offset: number; readonly char: string }[] = []
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement?.closest('.visually-hidden')) continue
      const data = node.textContent ?? ''
      for (let offset = 0; offset < data.length; offset++) places.push({ node, offset, char: data[offset] ?? '' })
    }
    const from = places
      .map(place => place.char)
      .join('')
      .indexOf(wanted)
    if (from === -1) throw new Error(`“${wanted}” is not in: ${root.textContent}`)
    return places.slice(from, from + wanted.length).flatMap(({ node, offset, char }) => {
      const range = document.createRange()
      range.setStart(node, offset)
      range.setEnd(node, offset + 1)
      const { left, right, top, bottom } = range.getBoundingClientRect()
      return right > left && char.trim() !== '' ? [{ char, left, right, top, bottom }] : []
    })
  }, text)
}

/** Returns whether `after` is to the right of `before`, or on a later line. */
function follows(before: Glyph, after: Glyph): boolean {
  const isSameLine = after.top < before.bottom && before.top < after.bottom
  return isSameLine ? (after.left + after.right) / 2 > (before.left + before.right) / 2 : after.top > before.top
}

/** Expects that every character is to the right of the previous one, or on a later line. */
export async function expectStoredOrder(element: Locator, text: string, what = text): Promise<void> {
  const glyphs = await glyphsOf(element, text)
  expect(glyphs.length, what).toBeGreaterThan(1)
  const drawn = glyphs.toSorted((a, b) => (follows(a, b) ? -1 : 1)).map(glyph => glyph.char)
  expect(drawn.join(''), what).toBe(glyphs.map(glyph => glyph.char).join(''))
  for (const [index, glyph] of glyphs.entries())
    expect(index === 0 || follows(glyphs[index - 1] as Glyph, glyph), `${what}: ${glyph.char} at ${index}`).toBe(true) // the index is above 0
}

/** Expects that the words are drawn in stored order, from left to right. The letters inside a word may have another order. */
export async function expectWordOrder(element: Locator, text: string, what = text): Promise<void> {
  const glyphs = await glyphsOf(element, text)
  let index = 0
  const words = text.split(/\s+/).map(word => {
    const own = glyphs.slice(index, index + word.length)
    index += word.length
    const [left, right] = [Math.min(...own.map(glyph => glyph.left)), Math.max(...own.map(glyph => glyph.right))]
    return { char: word, left, right, top: own[0]?.top ?? 0, bottom: own[0]?.bottom ?? 0 }
  })
  for (const [at, word] of words.entries())
    expect(at === 0 || follows(words[at - 1] as Glyph, word), `${what}: the word ${word.char}`).toBe(true) // the index is above 0
}

/** Expects that the characters read from right to left, as in ordinary Hebrew or Arabic text. */
export async function expectRightToLeft(element: Locator, text: string): Promise<void> {
  const glyphs = await glyphsOf(element, text)
  for (const [index, glyph] of glyphs.entries()) {
    const before = glyphs[index - 1]
    if (before && before.top === glyph.top)
      expect(glyph.left, `${text}: ${glyph.char} at ${index}`).toBeLessThan(before.left)
  }
}

/** Expects that a text field draws its value in stored order: the further right a click, the later the caret. */
export async function expectStoredOrderInField(field: Locator): Promise<void> {
  await field.scrollIntoViewIfNeeded()
  const carets = await field.evaluate((element: HTMLInputElement | HTMLTextAreaElement) => {
    const { left, width, top } = element.getBoundingClientRect()
    const { paddingLeft, paddingTop, lineHeight, fontSize } = getComputedStyle(element)
    const y =
      top + Number.parseFloat(paddingTop) + (Number.parseFloat(lineHeight) || Number.parseFloat(fontSize) * 1.2) / 2
    const offsets: number[] = []
    for (let x = left + Number.parseFloat(paddingLeft) + 1; x < left + width - 8; x += 2) {
      const position = document.caretPositionFromPoint(x, y)
      if (position && (position.offsetNode === element || element.contains(position.offsetNode)))
        offsets.push(position.offset)
    }
    return offsets
  })
  expect(new Set(carets).size, 'the field has several characters').toBeGreaterThan(3)
  expect(carets).toEqual(carets.toSorted((a, b) => a - b))
}
