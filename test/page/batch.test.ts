import { displayText } from '@holdpoint/client'
import type { Ask, Request } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { connectionErrors, hasNoBrowser } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  click,
  openCard,
  pressKey,
  rowOf,
  select,
  setUpPageFixture,
  visibleText,
  waitForCooldown,
} from './page-fixture.ts'

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

  it('keys answer the selected requests only if one of them is active, and key hints say so', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 2)
    await pressKey(page, 'j')
    await cardOf(page, request(0)).locator('[data-key="a"]').waitFor()
    await page.keyboard.press('x')
    await bar(page).locator('[data-key="a"]').waitFor()
    expect(await page.locator('article:visible').count(), 'the table is shown instead of a card').toBe(0)
    await page.keyboard.press('j')
    // The person is now at a request that is not selected, so the key would be refused.
    await expect.poll(() => bar(page).locator('[data-key="a"]').count()).toBe(0)
    await pressKey(page, 'a')
    await page.getByText('This request isn’t selected').waitFor()
    expect(await fixture.isPending(request(0))).toBe(true)
    await page.keyboard.press('k')
    await bar(page).locator('[data-key="a"]').waitFor()
    await pressKey(page, 'a')
    expect(await fixture.answerGivenOnPage(request(0))).toEqual({ kind: 'allow' })
    expect(await fixture.isPending(request(1))).toBe(true)
  })

  it('the table of selected requests shows exactly what each request will run, where and with which risk, with hidden characters visible', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker('web-shop', '/src/api')
    const command = `echo ${'x'.repeat(200)} \u202Etxt.exe && npm test`
    const requests = [await asker.ask(asks.command('npm test')), await asker.ask(asks.command(command))]
    for (const request of requests) await select(page, request)
    const rows = bar(page).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(2)
    const codes = await rows.locator('pre code').allTextContents()
    expect(codes).toEqual(['npm test', command].map(text => displayText(text, { multiline: true })))
    expect(await visibleText(rows.first())).toMatch(/Notable[\s\S]*Run a command[\s\S]*web-shop[\s\S]*\/src\/api/)
  })

  it('the selected requests in a table cannot be allowed before the end of the table has been on screen, and no key hint is shown until then', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 12)
    await pressKey(page, 'j')
    await page.keyboard.press('x')
    for (let at = 1; at < 12; at++) await page.keyboard.press('j')
    await page.keyboard.press('Shift+X')
    const allow = button(bar(page), 'Allow 12 once')
    await bar(page).getByText('Scroll to the end to allow.').waitFor()
    expect(await allow.isDisabled()).toBe(true)
    expect(await bar(page).locator('[data-key="a"]').count()).toBe(0)
    await pressKey(page, 'a')
    await page.getByText('Scroll to the end of the list before you allow all of it.').waitFor()
    expect(await fixture.isPending(request(0))).toBe(true)
    await bar(page).locator('tbody tr').last().scrollIntoViewIfNeeded()
    await bar(page).locator('[data-key="a"]').waitFor()
    // The table forgets what was on screen if another request joins it.
    await button(bar(page), 'Clear').click()
    await bar(page).waitFor({ state: 'detached' })
    for (let at = 0; at < 12; at++) await select(page, request(at))
    expect(await allow.isDisabled()).toBe(true)
    await bar(page).locator('tbody tr').last().scrollIntoViewIfNeeded()
    await click(page, allow)
    for (const at of [0, 11]) expect(await fixture.answerGivenOnPage(request(at))).toEqual({ kind: 'allow' })
  })

  it('“more like this” selects the requests with the same program and folder, with the mouse or a key', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const like = [await asker.ask(asks.command('npm test')), await asker.ask(asks.command('CI=1 npm run lint'))]
    const other = await asker.ask(asks.command('git status'))
    const elsewhere = await asker.ask({ ...asks.command('npm test'), cwd: '/src/docs' } as Ask) // a request for a command is an approval, and every approval has a `cwd`
    const [first] = like
    if (!first) throw new Error('no requests were opened')
    await rowOf(page, elsewhere).waitFor()
    await openCard(page, other)
    expect(await page.getByText('more like this').count()).toBe(0)
    await openCard(page, first)
    await button(page, '1 more like this').waitFor()
    await pressKey(page, 's')
    await bar(page).getByText('Review 2 requests').waitFor()
    await button(bar(page), 'Clear').click()
    await button(page, '1 more like this').click()
    await click(page, button(bar(page), 'Allow 2 once'))
    for (const request of like) expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
    for (const request of [other, elsewhere]) expect(await fixture.isPending(request)).toBe(true)
  })

  it.each([1024, 390])(
    'the table of selected requests shows a folder of usual length on one line in a window of %s pixels',
    async width => {
      const asker = await fixture.openAsker('web-shop')
      const cwd = '/home/you/src/web-shop'
      const first = await asker.ask({ ...asks.command('npm test'), cwd } as Ask) // a request for a command is an approval, and every approval has a `cwd`
      const second = await asker.ask({ ...asks.command('npm run lint'), cwd } as Ask)
      const page = await fixture.openPage({ viewport: { width, height: 844 } })
      await rowOf(page, second).waitFor()
      await openCard(page, first)
      await button(page, '1 more like this').click()
      const folder = bar(page).getByText(cwd).first()
      await folder.waitFor()
      expect(await folder.evaluate(it => it.getClientRects().length)).toBe(1)
      expect((await folder.boundingBox())?.height).toBeLessThan(24)
      const row = bar(page).locator('.review-risk').first()
      const [box, badge] = await Promise.all([
        row.getByRole('checkbox').boundingBox(),
        row.locator('.risk-badge').boundingBox(),
      ])
      expect((box?.x ?? 0) + (box?.width ?? 0), 'the checkbox is beside the risk').toBeLessThan(badge?.x ?? 0)
    },
  )

  it('all requests of a session can be reviewed from the header of its group; requests that need individual review are listed with the reason', async () => {
    const page = await fixture.openPage()
    const [docs, api] = [await fixture.openAsker('docs'), await fixture.openAsker('api')]
    const commands = [await docs.ask(asks.command('npm test')), await docs.ask(asks.command('npm run lint'))]
    const alone = [await docs.ask(asks.dangerous()), await docs.ask(asks.questions())]
    const others = await api.ask(asks.command('npm test'))
    await rowOf(page, others).waitFor()
    await page.getByLabel('Group requests').selectOption('session')
    const head = page.locator('.group-head', { hasText: 'docs' })
    await button(head, 'Review all 4…').click()
    await bar(page).getByText('Review 2 requests').waitFor()
    const leftOut = bar(page).getByRole('region', { name: 'Not included' })
    expect(await visibleText(leftOut)).toMatch(/This request is dangerous[\s\S]*Questions need individual answers/)
    await click(page, button(bar(page), 'Deny 2…'))
    await page.keyboard.type('not today')
    await page.locator('.batch-bar .confirm-deny:enabled').waitFor()
    await bar(page).getByText('Enter sends').waitFor()
    await pressKey(page, 'Enter')
    for (const request of commands)
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'not today' })
    for (const request of [...alone, others]) expect(await fixture.isPending(request)).toBe(true)
  })

  it('answering several requests at once ignores a click on a button that has just moved because the table has changed', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 2)
    await select(page, request(0))
    const allow = button(bar(page), 'Allow 1 once')
    await bar(page).locator('[data-key="a"]').waitFor({ state: 'attached' })
    await waitForCooldown(page)
    const moved = await allow.evaluate(async it => {
      const { top } = it.getBoundingClientRect()
      const table = it.closest('section')?.querySelector('table')
      table?.after(Object.assign(document.createElement('p'), { textContent: 'A line' }))
      // The page measures its buttons after the next frame.
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)))
      it.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, pointerType: 'mouse' }))
      it.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
      return Math.abs(it.getBoundingClientRect().top - top)
    })
    expect(moved).toBeGreaterThan(10)
    await page.getByText('The list just changed.').waitFor()
    expect(await fixture.isPending(request(0))).toBe(true)
  })

  it('a double click on “Deny 2…” denies nothing', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 2)
    for (const at of [0, 1]) await select(page, request(at))
    await waitForCooldown(page)
    await button(bar(page), 'Deny 2…').dblclick()
    await reason(page).waitFor()
    await page.waitForFunction(() => document.querySelector('.batch-bar .confirm-deny:enabled') !== null)
    for (const at of [0, 1]) expect(await fixture.isPending(request(at))).toBe(true)
  })

  it('the reason field closes when the selected requests are answered elsewhere', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 2)
    await select(page, request(0))
    await button(bar(page), 'Deny 1…').click()
    await page.keyboard.type('not now')
    await fixture.answer(request(0))
    await bar(page).waitFor({ state: 'detached' })
    await select(page, request(1))
    await bar(page).getByText('Review 1 request').waitFor()
    expect(await reason(page).count()).toBe(0)
    await button(bar(page), 'Deny 1…').click()
    expect(await reason(page).inputValue()).toBe('')
  })

  it('the typed reason is kept if the answers cannot be sent', async () => {
    const page = await fixture.openPage({ expectedErrors: connectionErrors })
    const request = await openRequests(page, 1)
    await select(page, request(0))
    await page.route('**/requests/answer', route => route.abort('connectionfailed'))
    await button(bar(page), 'Deny 1…').click()
    await page.keyboard.type('a long reason')
    await click(page, button(bar(page), 'Deny 1'))
    await page.locator('.batch-outcome').getByText('0 answered, 1 failed').waitFor()
    await expect.poll(() => reason(page).inputValue()).toBe('a long reason')
    await page.unroute('**/requests/answer')
    await click(page, button(bar(page), 'Deny 1'))
    expect(await fixture.answerGivenOnPage(request(0))).toEqual({ kind: 'deny', reason: 'a long reason' })
    await bar(page).waitFor({ state: 'detached' })
  })

  it('each request is allowed with its own note; the table says that a request with an unfinished edit is skipped', async () => {
    const page = await fixture.openPage()
    const request = await openRequests(page, 3)
    const noted = await openCard(page, request(0))
    await click(page, button(noted, 'Note…'))
    await page.keyboard.type('but be quick')
    await page.keyboard.press('Escape')
    await button(noted, 'Allow with your note').waitFor()
    const edited = await openCard(page, request(2))
    await click(page, button(edited, 'Edit…'))
    await page.keyboard.type(' --dry')
    await page.keyboard.press('Escape')
    await button(edited, 'Your edit…').waitFor()
    for (const at of [0, 1, 2]) await select(page, request(at))
    expect(await visibleText(bar(page).locator('tbody tr').nth(0))).toMatch(/With your note:\s*but be quick/)
    expect(await visibleText(bar(page).locator('tbody tr').nth(2))).toContain(
      'Skipped, because you’ve started another answer',
    )
    await click(page, button(bar(page), 'Allow 2 once'))
    await page.getByText('2 answered. 1 request was skipped because you’ve started another answer to it.').waitFor()
    expect(await fixture.answerGivenOnPage(request(0))).toEqual({ kind: 'allow', note: 'but be quick' })
    expect(await fixture.answerGivenOnPage(request(1))).toEqual({ kind: 'allow' })
    expect(await fixture.isPending(request(2))).toBe(true)
    expect(await page.getByText('Your unsent answer:').count(), 'the note was sent').toBe(0)
  })
})
