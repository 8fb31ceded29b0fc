/** What the page shows outside of itself, in the whole browser: the light one has no notifications. */
// biome-ignore lint/correctness/noUnresolvedImports: it exports them by a way that the linter does not follow
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, withWorker } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, setUpPageFixture, waitForCooldown } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('whoever does not look is told', () => {
  const fixture = setUpPageFixture({}, 'full')

  /** Counts what the page shows outside of itself, and lets a test hide the page. */
  function record(): void {
    const told: string[] = []
    const state = { hidden: false, told, closed: 0 }
    Object.assign(globalThis, { stageNotices: state })
    Object.defineProperty(document, 'visibilityState', { get: () => (state.hidden ? 'hidden' : 'visible') })
    class Note {
      static permission = 'granted'
      static requestPermission = async () => 'granted'
      readonly tag: string
      constructor(title: string, options: { body?: string; tag?: string } = {}) {
        told.push(`${title} / ${options.body}`)
        this.tag = options.tag ?? ''
      }
      close(): void {
        state.closed++
      }
    }
    Object.defineProperty(globalThis, 'Notification', { value: Note })
  }
  interface Notices {
    hidden: boolean
    readonly told: readonly string[]
    readonly closed: number
  }
  const notices = (page: Page) => page.evaluate(() => (globalThis as unknown as { stageNotices: Notices }).stageNotices) // put there by `record`
  async function hide(page: Page, hidden: boolean): Promise<void> {
    await page.evaluate(now => {
      const { stageNotices } = globalThis as unknown as { stageNotices: Notices } // likewise
      stageNotices.hidden = now
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
  }
  const until = (page: Page, count: number) =>
    page.waitForFunction(
      wanted => (globalThis as unknown as { stageNotices: Notices }).stageNotices.told.length >= wanted, // likewise
      count,
    )
  const watched = { before: (page: Page) => page.context().addInitScript(record) }

  it('once for each thing that waits, together where they come together, and takes it back when it is answered', async () => {
    const page = await fixture.openPage(watched)
    const asker = await fixture.openAsker()
    await hide(page, true)
    const request = await asker.ask(asks.command('npm test'))
    await until(page, 1)
    await Promise.all([asker.ask(asks.command('a')), asker.ask(asks.command('b'))])
    await until(page, 2)
    expect((await notices(page)).told).toEqual([
      'Run a command · api-server / npm test',
      '2 requests waiting / api-server',
    ])
    await fixture.answer(request)
    await page.waitForFunction(
      () => (globalThis as unknown as { stageNotices: Notices }).stageNotices.closed === 1, // likewise
    )
  })

  it('and nobody who does', async () => {
    const page = await fixture.openPage(watched)
    const asker = await fixture.openAsker()
    const request = await asker.ask(asks.command())
    await cardOf(page, request).waitFor()
    // One that comes later, while nobody looks, shows that telling works; of the first nothing was told.
    await waitForCooldown(page)
    await hide(page, true)
    await asker.ask(asks.command('later'))
    await until(page, 1)
    expect((await notices(page)).told).toEqual(['Run a command · api-server / later'])
  })

  it('by one tab for all of them, and by none while another is looked at', async () => {
    const page = await fixture.openPage(watched)
    const other = await fixture.openTab(page)
    const asker = await fixture.openAsker()
    await hide(page, true)
    const seen = await asker.ask(asks.command('seen in the other tab'))
    await cardOf(other, seen).waitFor()
    await waitForCooldown(other)
    await hide(other, true)
    await asker.ask(asks.command('seen by nobody'))
    await Promise.race([until(page, 1), until(other, 1)])
    const told = [...(await notices(page)).told, ...(await notices(other)).told]
    expect(told).toEqual(['Run a command · api-server / seen by nobody'])
  })

  it('by the browser’s own notification and a tone; whoever clicks it is at the request', async () => {
    /** Only what hides the page is ours here; a headless one never is. */
    const listen = () => {
      const state = { hidden: false, told: [], closed: 0, tones: 0 }
      Object.assign(globalThis, { stageNotices: state })
      Object.defineProperty(document, 'visibilityState', { get: () => (state.hidden ? 'hidden' : 'visible') })
      const { start } = OscillatorNode.prototype
      OscillatorNode.prototype.start = function (when) {
        if (this.context.state === 'running') state.tones++
        start.call(this, when)
      }
    }
    const page = await fixture.openPage({
      ...withWorker,
      permissions: ['notifications'],
      before: it => it.context().addInitScript(listen),
    })
    await page.locator('button.user-menu-button').click()
    await page.getByLabel('Sound when an agent needs you').check()
    await page.keyboard.press('Escape')
    const tones = () =>
      page.evaluate(() => (globalThis as unknown as { stageNotices: { tones: number } }).stageNotices.tones) // put there above
    expect(await tones()).toBe(2) // so that a person knows what to listen for
    await page.evaluate(async () => void (await navigator.serviceWorker.ready))
    const asker = await fixture.openAsker()
    await hide(page, true)
    const request = await asker.ask(asks.command('npm test'))
    const shown = () =>
      page.evaluate(async () => {
        const all = await (await navigator.serviceWorker.ready).getNotifications()
        return all.map(({ title, body }) => `${title} / ${body}`)
      })
    await expect.poll(shown, { timeout: 10_000 }).toEqual(['Run a command · api-server / npm test'])
    expect(await tones()).toBe(4)
    const [worker] = page.context().serviceWorkers()
    // As text: what a worker knows is not in the compiler's list for pages.
    await worker?.evaluate(`registration.getNotifications().then(([notification]) => {
      dispatchEvent(new NotificationEvent('notificationclick', { notification }))
    })`)
    await page.waitForURL(`**/#/inbox/${request.id}`)
    await expect.poll(shown).toEqual([])
  })

  it('after having asked for it once, and not again', async () => {
    const page = await fixture.openPage()
    await fixture.openAsker()
    await button(page, 'Not now').click()
    await page.reload()
    await page.getByText('You’re all caught up.').waitFor()
    expect(await page.getByText('Get notified when an agent needs you?').count()).toBe(0)
  })
})
