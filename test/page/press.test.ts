/** G12 with a mouse and with fingers: a press that began before the card moved or changed decides nothing, and dangerous requests need a hold. */
import type { Request } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { CDPSession, Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  holdClock,
  installClock,
  markChanged,
  openCard,
  setUpPageFixture,
  waitForCooldown,
  waitWithClock,
} from './page-fixture.ts'

const justChanged = 'This card just changed'

async function centerOf(target: Locator): Promise<{ readonly x: number; readonly y: number }> {
  const box = await target.boundingBox()
  if (!box) throw new Error('the button is not on the screen')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

describe.skipIf(hasNoBrowser())('a click on an answer button', () => {
  const fixture = setUpPageFixture()

  async function pressAllow() {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const first = await asker.ask(asks.command('first'))
    const request = await asker.ask(asks.command('second'))
    const allow = button(await openCard(page, request), 'Allow once')
    await page.locator(`article[id$="${request.id}"] button.allow:enabled`).waitFor()
    await waitForCooldown(page)
    const { x, y } = await centerOf(allow)
    await page.mouse.move(x, y)
    await page.mouse.down()
    return { page, asker, first, request, card: cardOf(page, request) }
  }
  /** Keeps the mouse button pressed until the usual pause after a change is over, and releases it. */
  async function release(page: Page): Promise<void> {
    await markChanged(page)
    await waitForCooldown(page)
    await page.mouse.up()
  }

  it('a click on an answer button sends the answer if nothing changes while the mouse button is down, however long that takes', async () => {
    const { page, request } = await pressAllow()
    await release(page)
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
  })

  it('a click on an answer button sends no answer if the list changed while the mouse button was down', async () => {
    const { page, asker, request, card } = await pressAllow()
    const third = await asker.ask(asks.command('third'))
    await page.locator(`[data-request="${third.id}"]`).waitFor()
    await release(page)
    await card.getByText(justChanged).waitFor()
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('a click on an answer button sends no answer if the card moved while the mouse button was down', async () => {
    const { page, request, card } = await pressAllow()
    // The card moves less than the height of its button, so that the mouse is still above the button.
    await page.evaluate(() => {
      const card = document.querySelector<HTMLElement>('.request-detail')
      if (card) card.style.paddingTop = '10px'
    })
    await release(page)
    await card.getByText(justChanged).waitFor()
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('a click on an answer button sends no answer if the card moved just before it', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const request = await asker.ask(asks.command())
    const card = cardOf(page, request)
    await card.locator('button.allow:enabled').waitFor()
    await waitForCooldown(page)
    await button(card, 'Allow once').evaluate(async allow => {
      document.querySelector('.request-detail')?.before('A line', document.createElement('hr'))
      // The page measures its cards after the next frame.
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)))
      allow.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, pointerType: 'mouse' }))
      allow.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }))
    })
    await card.getByText(justChanged).waitFor()
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('a click on an answer button sends no answer if it brings the window to the front', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    await card.locator('button.allow:enabled').waitFor()
    await waitForCooldown(page)
    await page.evaluate(() => {
      addEventListener('pointerdown', () => dispatchEvent(new Event('focus')), { capture: true, once: true })
    })
    await button(card, 'Allow once').click()
    await card.getByText(justChanged).waitFor()
    expect(await fixture.isPending(request)).toBe(true)
  })
})

describe.skipIf(hasNoBrowser())('a dangerous request on a touch screen', () => {
  const fixture = setUpPageFixture()

  interface Touched {
    readonly page: Page
    readonly request: Request
    readonly hold: Locator
    readonly touch: CDPSession
    readonly at: { readonly x: number; readonly y: number }
    readonly asker: Awaited<ReturnType<typeof fixture.openAsker>>
    readonly runFor: (ms: number) => Promise<void>
  }

  async function openDangerous(options: Parameters<typeof fixture.openPage>[0] = phone): Promise<Touched> {
    const page = await fixture.openPage({ ...options, before: installClock })
    const asker = await fixture.openAsker()
    const request = await asker.ask(asks.dangerous())
    const hold = (await openCard(page, request)).locator('button.hold-button:enabled')
    await hold.waitFor()
    await hold.scrollIntoViewIfNeeded()
    const touch = await page.context().newCDPSession(page)
    const runFor = await holdClock(page)
    await runFor(2000)
    return { page, request, hold, asker, touch, runFor, at: await centerOf(hold) }
  }
  async function touchDown({ touch, at, hold }: Touched): Promise<void> {
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ ...at, id: 1 }] })
    await expect.poll(() => hold.textContent()).toBe('Keep holding…')
  }
  async function lift({ touch }: Touched): Promise<void> {
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  }
  /** Lets more time pass than a hold takes. */
  function waitLongerThanHold({ runFor }: Touched): Promise<void> {
    return runFor(2000)
  }

  it('a dangerous request on a touch screen is allowed by holding the button, and not before the hold is complete', async () => {
    const touched = await openDangerous()
    await touchDown(touched)
    await touched.runFor(590)
    expect(await fixture.isPending(touched.request)).toBe(true)
    await touched.runFor(20)
    expect(await fixture.answerGivenOnPage(touched.request)).toEqual({ kind: 'allow' })
    await lift(touched)
  })

  it('a dangerous request on a touch screen is not allowed by a tap, on a phone or on a computer with a touch screen', async () => {
    for (const options of [phone, { viewport: { width: 1440, height: 900 }, hasTouch: true }]) {
      const touched = await openDangerous(options)
      await touchDown(touched)
      await lift(touched)
      await waitLongerThanHold(touched)
      expect(await fixture.isPending(touched.request)).toBe(true)
      expect(await touched.hold.textContent()).toBe('Hold to allow once')
      expect(await touched.page.locator('.confirm-danger').count(), 'a tap must not ask for confirmation').toBe(0)
    }
  })

  it('a dangerous request on a touch screen can also be allowed with a mouse, after a confirmation', async () => {
    const { page, request, hold, runFor } = await openDangerous({
      viewport: { width: 1440, height: 900 },
      hasTouch: true,
    })
    await hold.click()
    await page.locator('.confirm-danger').waitFor()
    await runFor(1000)
    await page.locator('.confirm-danger button.answer-button').click()
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
  })

  const interruptions: Readonly<Record<string, (touched: Touched) => Promise<unknown>>> = {
    'the finger moves': ({ touch, at }) =>
      touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: at.x + 14, y: at.y, id: 1 }] }),
    'the finger leaves the button': ({ touch, at }) =>
      touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: at.x, y: at.y - 90, id: 1 }] }),
    'the browser cancels the touch': ({ touch }) =>
      touch.send('Input.dispatchTouchEvent', { type: 'touchCancel', touchPoints: [] }),
    'a second finger touches the screen': ({ touch, at }) =>
      touch.send('Input.dispatchTouchEvent', {
        type: 'touchStart',
        touchPoints: [
          { ...at, id: 1 },
          { x: 40, y: 200, id: 2 },
        ],
      }),
    'the page scrolls': ({ page }) =>
      page.evaluate(() => {
        const detail = document.querySelector('.inbox-detail')
        const far = document.createElement('div')
        far.style.cssText = 'position: absolute; top: 3000px; width: 1px; height: 1px'
        detail?.append(far)
        detail?.scrollBy(0, 6)
      }),
    'the window loses the focus': ({ page }) => page.evaluate(() => dispatchEvent(new Event('blur'))),
    'the page is hidden': ({ page }) => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))),
    'a key is pressed': ({ page }) => page.keyboard.press('j'),
  }
  it.each(Object.entries(interruptions))(
    'a dangerous request on a touch screen is not allowed if %s during the hold',
    async (_, interrupt) => {
      const touched = await openDangerous()
      await touchDown(touched)
      await interrupt(touched)
      await expect.poll(() => touched.hold.textContent()).toBe('Hold to allow once')
      await waitLongerThanHold(touched)
      expect(await fixture.isPending(touched.request)).toBe(true)
      await lift(touched).catch(() => {}) // a touch that was canceled cannot be lifted
    },
  )

  it.each<[string, (touched: Touched) => Promise<unknown>]>([
    [
      'the list changes',
      async ({ page, asker }) => {
        const another = await asker.ask(asks.command('another'))
        await waitWithClock(page, page.locator(`[data-request="${another.id}"]`))
      },
    ],
    [
      'the card moves',
      ({ page }) =>
        page.evaluate(() => {
          // The buttons are at the bottom of the screen, so they move only with it.
          const detail = document.querySelector<HTMLElement>('.inbox-detail')
          if (detail) detail.style.paddingBottom = '60px'
        }),
    ],
  ])('a dangerous request on a touch screen is not allowed if %s during the hold', async (_, change) => {
    const touched = await openDangerous()
    await touchDown(touched)
    await change(touched)
    await waitLongerThanHold(touched)
    await cardOf(touched.page, touched.request).getByText(justChanged).waitFor()
    await lift(touched)
    expect(await fixture.isPending(touched.request)).toBe(true)
  })
})
