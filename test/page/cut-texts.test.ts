/** Checks on screens of several widths that no text is cut in the middle of a letter. */
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { waitUntilStable } from '../support/stable-page.mjs'
import { setUpPageFixture } from './page-fixture.ts'

/** Returns the texts of which a box that cannot be scrolled hides a part, without an ellipsis at the cut. */
function cutTexts(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    /** A line box is higher than its letters, so a box may hide this much of it. */
    const spacePx = 3
    const found = new Set<string>()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement
      const text = walker.currentNode.nodeValue ?? ''
      if (!element || text.trim() === '' || element.closest('.visually-hidden, .request-line-state')) continue
      if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
      const range = document.createRange()
      range.selectNodeContents(walker.currentNode)
      for (const rect of range.getClientRects()) {
        const cut = cutBy(element, rect)
        if (cut !== null) found.add(`${cut}: ${text.slice(0, 40)}`)
      }
    }
    return [...found]

    /** Returns the element that cuts the line of text; null if all of it is visible, hidden, or can be scrolled into view. */
    function cutBy(start: Element, line: DOMRect): string | null {
      for (let at: Element | null = start; at && at !== document.body; at = at.parentElement) {
        const { overflowX, overflowY, textOverflow } = getComputedStyle(at)
        if (overflowX === 'visible' && overflowY === 'visible') continue
        const box = at.getBoundingClientRect()
        const height = Math.min(line.bottom, box.bottom) - Math.max(line.top, box.top)
        const width = Math.min(line.right, box.right) - Math.max(line.left, box.left)
        if (height <= 1 || width <= 1) return null
        if (/auto|scroll/.test(overflowX + overflowY)) return null
        if (line.height - height > spacePx) return `${at.className} (in its height)`
        if (line.width - width > 1.5) return textOverflow === 'ellipsis' ? null : `${at.className} (in its width)`
      }
      return null
    }
  })
}

describe.skipIf(hasNoBrowser())('texts that do not fit', () => {
  const fixture = setUpPageFixture()

  it.each([1440, 1024])(
    'the sidebar leaves out only one part of a long session name on a screen of %i pixels',
    async width => {
      const title = 'A session whose name is much too long for the sidebar, so that its middle is left out, part 12'
      const agent = await fixture.openAsker(title)
      // The count and the mark of a dangerous request take space from the name.
      await agent.ask(asks.dangerous())
      const { session } = agent
      const page = await fixture.openPage({ viewport: { width, height: 768 } })
      const name = page.locator(`.sidebar a[href="#/sessions/${session.id}"] .nav-name`)
      await name.waitFor()
      const isCut = (part: string) => name.locator(part).evaluate(it => it.scrollWidth > it.clientWidth)
      expect([await isCut('.cut-head'), await isCut('.cut-tail')]).toEqual([true, false])
    },
  )

  it.each([
    ['1440 pixels', { viewport: { width: 1440, height: 900 } }],
    ['1024 pixels', { viewport: { width: 1024, height: 768 } }],
    ['390 pixels', phone],
  ])('no text is cut in the middle of a letter on a screen of %s', async (_, options) => {
    const folder = '/home/somebody/source/a-project-with-a-long-name/packages/the-first-of-many-packages'
    const title = 'A session with a title that is much too long for the narrow lists in which it is shown'
    const long = await fixture.openAsker(title, folder)
    await long.ask(asks.command('npm run build -- --mode production --out dist/a/long/folder --and-more-options'))
    await long.ask(asks.command(`echo ${'x'.repeat(5000)} end`))
    await long.ask(asks.fields())
    await long.ask(asks.questions())
    const short = await fixture.openAsker('api', '/srv/api')
    const request = await short.ask(asks.command('kubectl rollout restart deploy/gateway -n staging --context x'))
    await fixture.answer(await long.ask(asks.command('npm run deploy -- --env production --region eu')), {
      kind: 'deny',
      reason: 'A reason that is too long for a narrow column, so that its end cannot be shown there',
    })
    const page = await fixture.openPage(options)
    for (const hash of ['#/', '#/sessions', '#/audit', '#/rules', '#/settings', `#/sessions/${request.session}`]) {
      await page.goto(`${fixture.gateway.url}/${hash}`)
      await waitUntilStable(page)
      expect(await cutTexts(page), hash).toEqual([])
    }
  })

  it('on a phone, the inbox grouped by session shows the whole name of a session before the whole folder', async () => {
    const agent = await fixture.openAsker('infra', '/home/you/src/platform/services/infrastructure/images')
    for (const command of ['echo one', 'echo two']) await agent.ask(asks.command(command))
    const page = await fixture.openPage(phone)
    await page.getByLabel('Group requests').selectOption('session')
    const name = page.locator('.group-head h3 .agent-inline').first()
    await name.waitFor()
    expect(await name.evaluate(it => it.scrollWidth - it.clientWidth)).toBeLessThanOrEqual(0)
    expect(await name.textContent()).toBe('infra')
    const parts = await name.locator('.cut-head, .cut-tail').all()
    for (const part of parts) expect(await part.evaluate(it => it.scrollWidth - it.clientWidth)).toBeLessThanOrEqual(0)
  })

  it.each([1440, 1024])(
    'the audit log shows the whole name of a rule and the whole reason of a person on a screen of %i pixels',
    async width => {
      const agent = await fixture.openAsker('api', '/srv/api')
      const rule = { command: 'npm run check-all', message: 'No.' }
      await fixture.gateway.call('addRule', { effect: 'deny', ...rule })
      await agent.ask(asks.command(rule.command))
      await fixture.answer(await agent.ask(asks.command('git push origin main')), {
        kind: 'deny',
        reason: 'Open a pull request',
      })
      const page = await fixture.openPage({ viewport: { width, height: 768 } })
      await page.goto(`${fixture.gateway.url}/#/audit`)
      await page.getByText('Open a pull request').first().waitFor()
      await waitUntilStable(page)
      // The text of a notice starts where the answers start.
      const left = async (selector: string) => (await page.locator(selector).first().boundingBox())?.x
      expect(await left('.audit-notice > span:last-child')).toBe(await left('.audit-row .audit-answer'))
      const rows = page.locator('.audit-columns', { hasText: /Open a pull request|check-all/ })
      expect(await rows.count()).toBeGreaterThan(1)
      for (const cell of await rows.locator('.audit-who, .audit-answer-text').all()) {
        const hidden = await cell.evaluate(it => [it.scrollWidth - it.clientWidth, it.scrollHeight - it.clientHeight])
        expect(Math.max(...hidden), (await cell.textContent()) ?? '').toBeLessThanOrEqual(1)
      }
    },
  )

  it('on a phone, the buttons of a form are right below the line above them', async () => {
    const agent = await fixture.openAsker('release', '/srv/api')
    await agent.ask(asks.form())
    const page = await fixture.openPage(phone)
    await page.locator('.request-link').first().tap()
    const footer = page.locator('.card-footer').filter({ visible: true })
    const [outer, inner] = [
      await footer.boundingBox(),
      await footer.getByRole('button', { name: 'Decline…' }).boundingBox(),
    ]
    expect((inner?.y ?? 0) - (outer?.y ?? 0)).toBeLessThan(16)
  })
})
