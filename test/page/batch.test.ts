import type { Request } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { connectionErrors, hasNoBrowser } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, click, pressKey, setUpPageFixture, waitForCooldown } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('answering several requests at once', () => {
  const fixture = setUpPageFixture()

  async function openRequests(page: Page, count: number) {
    const asker = await fixture.openAsker()
    const requests: Request[] = []
    for (let at = 0; at < count; at++) requests.push(await asker.ask(asks.command(`echo ${at}`)))
    for (const { id } of requests) await page.locator(`[data-request="${id}"]`).waitFor()
    return (at: number) => {
      const found = requests[at]
      if (!found) throw new Error(`only ${count} requests were opened`)
      return found
    }
  }
  const bar = (page: Page) => page.getByRole('region', { name: 'Answer several requests at once' })
  const reason = (page: Page) => bar(page).getByRole('textbox')

  it('keys answer the selected requests, and answer the active card only if it is selected', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 2)
    await pressKey(page, 'j')
    await cardOf(page, request(0)).locator('[data-key="a"]').waitFor()
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await bar(page).locator('[data-key="a"]').waitFor()
    expect(await page.locator('article [data-key]').count()).toBe(0)
    await pressKey(page, 'a')
    await page.getByText('This request isn’t selected').waitFor()
    expect(await fixture.isPending(request(0))).toBe(true)
    await page.keyboard.press('k')
    await pressKey(page, 'a')
    expect(await fixture.answerGivenOnPage(request(0))).toEqual({ kind: 'allow' })
    expect(await fixture.isPending(request(1))).toBe(true)
  })

  it('a key allows nothing while a selected request is off screen', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 8)
    await pressKey(page, 'j')
    await page.keyboard.press('x')
    for (let at = 1; at < 8; at++) await page.keyboard.press('j')
    await page.keyboard.press('x')
    await bar(page).getByText('2 selected').waitFor()
    await pressKey(page, 'a')
    await page.getByText('1 selected request is off screen').waitFor()
    expect(await fixture.isPending(request(0))).toBe(true)
    expect(await fixture.isPending(request(7))).toBe(true)
    await cardOf(page, request(7)).locator('button.allow:enabled').waitFor()
    await click(page, button(bar(page), 'Allow 2 once'))
    expect(await fixture.answerGivenOnPage(request(7))).toEqual({ kind: 'allow' })
  })

  describe('the bar of selected requests that has just moved on the screen', () => {
    async function selectFirst() {
      const page = await fixture.openPage()
      const request = await openRequests(page, 5)
      await cardOf(page, request(0)).getByRole('checkbox').check()
      const allow = button(bar(page), 'Allow 1 once')
      await allow.waitFor()
      return { page, request: request(0), allow }
    }
    /** Scrolls to the end, or adds a line to the list, and clicks on the button right after that. Resolves with the number of pixels by which the button has moved. */
    function clickAfter(change: 'scroll' | 'new line', allow: Locator): Promise<number> {
      return allow.evaluate(async (it, change) => {
        const { top } = it.getBoundingClientRect()
        const list = document.querySelector('ol.requests')
        if (change === 'scroll') it.closest('.inbox')?.scrollIntoView({ block: 'end', behavior: 'instant' })
        else list?.after(Object.assign(document.createElement('p'), { textContent: 'A line' }))
        // The page measures its buttons after the next frame.
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)))
        it.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, pointerType: 'mouse' }))
        it.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
        return Math.abs(it.getBoundingClientRect().top - top)
      }, change)
    }

    it('accepts a click if it moved because the person scrolled to the end', async () => {
      const { page, request, allow } = await selectFirst()
      await waitForCooldown(page)
      expect(await clickAfter('scroll', allow)).toBeGreaterThan(10)
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
    })

    it('ignores a click if it moved because the list has changed', async () => {
      const { page, request, allow } = await selectFirst()
      await page.locator('.inbox').evaluate(it => it.scrollIntoView({ block: 'end', behavior: 'instant' }))
      await waitForCooldown(page)
      expect(await clickAfter('new line', allow)).toBeGreaterThan(10)
      await page.getByText('The list just changed.').waitFor()
      expect(await fixture.isPending(request)).toBe(true)
    })
  })

  it('a double click on “Deny 2…” denies nothing', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 2)
    for (const at of [0, 1]) await cardOf(page, request(at)).getByRole('checkbox').check()
    await waitForCooldown(page)
    await button(bar(page), 'Deny 2…').dblclick()
    await reason(page).waitFor()
    await page.waitForFunction(() => document.querySelector('.batch-bar .confirm-deny:enabled') !== null)
    for (const at of [0, 1]) expect(await fixture.isPending(request(at))).toBe(true)
  })

  it('the reason field closes when the selected requests are answered elsewhere', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 2)
    await cardOf(page, request(0)).getByRole('checkbox').check()
    await button(bar(page), 'Deny 1…').click()
    await page.keyboard.type('not now')
    await fixture.answer(request(0))
    await bar(page).waitFor({ state: 'detached' })
    await cardOf(page, request(1)).getByRole('checkbox').check()
    await bar(page).getByText('1 selected').waitFor()
    expect(await reason(page).count()).toBe(0)
    await button(bar(page), 'Deny 1…').click()
    expect(await reason(page).inputValue()).toBe('')
  })

  it('the typed reason is kept if the answers cannot be sent', async () => {
    const page = await fixture.openPage({ expectedErrors: connectionErrors })
    const request = await openRequests(page, 1)
    await cardOf(page, request(0)).getByRole('checkbox').check()
    await page.route('**/requests/answer', route => route.abort('connectionfailed'))
    await button(bar(page), 'Deny 1…').click()
    await page.keyboard.type('a long reason')
    await click(page, button(bar(page), 'Deny 1'))
    await bar(page).getByText('0 answered, 1 failed').waitFor()
    await expect.poll(() => reason(page).inputValue()).toBe('a long reason')
    await page.unroute('**/requests/answer')
    await click(page, button(bar(page), 'Deny 1'))
    expect(await fixture.answerGivenOnPage(request(0))).toEqual({ kind: 'deny', reason: 'a long reason' })
    await bar(page).waitFor({ state: 'detached' })
  })

  it('each request is allowed with its own note; a request with an unfinished edit is skipped, and a toast says so', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 3)
    for (const at of [0, 1, 2]) await cardOf(page, request(at)).getByRole('checkbox').check()
    const noted = cardOf(page, request(0))
    await click(page, button(noted, 'Add a note…'))
    await page.keyboard.type('but be quick')
    await page.keyboard.press('Escape')
    await button(noted, 'Allow with your note').waitFor()
    await click(page, button(cardOf(page, request(2)), 'Edit…'))
    await page.keyboard.type(' --dry')
    await page.keyboard.press('Escape')
    await button(cardOf(page, request(2)), 'Your edit…').waitFor()
    await click(page, button(bar(page), 'Allow 3 once'))
    await page.getByText('2 answered. 1 request was skipped because you’ve started another answer to it.').waitFor()
    expect(await fixture.answerGivenOnPage(request(0))).toEqual({ kind: 'allow', note: 'but be quick' })
    expect(await fixture.answerGivenOnPage(request(1))).toEqual({ kind: 'allow' })
    expect(await fixture.isPending(request(2))).toBe(true)
  })
})
