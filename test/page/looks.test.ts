import type { Ask } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: it exports them by a way that the linter does not follow
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { asks } from '../support/asking.ts'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { cardOf, openStage, textOf } from './stage.ts'

const small = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true } as const
const longPath = `/home/ana/${'customers/with-a-long-name/'.repeat(4)}billing/packages/api`
const longTitle = 'Find out why the nightly build fails on its second attempt. '.repeat(5)

/** What is drawn beyond the right edge of the screen, except where it can be scrolled to or is cut on purpose. */
function beyondTheEdge(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isCut = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).overflowX !== 'visible' || isCut(element.parentElement))
    return [...document.querySelectorAll('#page *')]
      .filter(it => it.getBoundingClientRect().right > innerWidth + 1 && !it.closest('.offscreen'))
      .filter(it => it.getBoundingClientRect().left >= innerWidth - 8 || !isCut(it.parentElement))
      .map(it => `${it.tagName} ${it.className}`)
  })
}

describe.skipIf(hasNoBrowser())('the look of', () => {
  const stage = openStage()

  it('a card’s head is one line that says who asks, whatever they are called; the last folders stay', async () => {
    const asker = await stage.asker(longTitle, longPath)
    const request = await asker.ask({ ...asks.command(), cwd: longPath } as Ask, { agentPath: ['test-writer'] }) // an approval, in that folder
    for (const [options, linesMax] of [
      [{}, 1],
      [phone, 3],
      [small, 3],
    ] as const) {
      const page = await stage.open(options)
      const head = cardOf(page, request).locator('.card-head')
      await head.waitFor()
      const { height } = (await head.boundingBox()) ?? { height: 0 }
      expect(height).toBeLessThan(linesMax * 22 + 8)
      const tail = head.locator('.path-tail')
      expect(await tail.evaluate(it => it.scrollWidth <= it.clientWidth)).toBe(true)
      expect(await textOf(tail)).toBe('packages/api')
      expect(await head.locator('.path-line').getAttribute('title')).toBe(longPath)
      expect(await textOf(cardOf(page, request).locator('.deed'))).toContain(longPath)
      expect(await beyondTheEdge(page)).toEqual([])
    }
  })

  it('the smallest screen has everything on it', async () => {
    const asker = await stage.asker(longTitle, longPath)
    await asker.ask(asks.plan())
    const page = await stage.open(small)
    await page.locator('article').waitFor()
    expect(await beyondTheEdge(page)).toEqual([])
    await page.goto(`${stage.gateway.url}/#/sessions`)
    const facts = page.locator('.row-facts').first()
    await facts.waitFor()
    expect((await facts.boundingBox())?.height).toBeLessThan(24)
    expect(
      await page
        .locator('.row-driver')
        .first()
        .evaluate(it => it.getClientRects().length),
    ).toBe(1)
  })

  it('code in a plan has a ground of its own, with room around it', async () => {
    const plan = 'Run this:\n\n```ts\nretry()\n```'
    const request = await (await stage.asker()).ask({ ...asks.plan(), plan, input: { plan } } as Ask) // a plan, with code in it
    const page = await stage.open()
    const code = cardOf(page, request).locator('.code-block')
    await code.waitFor()
    expect(await code.evaluate(it => getComputedStyle(it).paddingLeft)).toBe('12px')
  })
})
