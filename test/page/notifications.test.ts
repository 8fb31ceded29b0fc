/** Tests of browser notifications. They need the full Chromium, because the headless shell has no notifications. */
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, withWorker } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, setUpPageFixture, waitForCooldown } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('browser notifications', () => {
  const fixture = setUpPageFixture({}, 'full')

  /** Replaces the browser's notifications with a recorder, and lets a test hide the page. */
  function recordNotifications(): void {
    const shown: string[] = []
    const state = { hidden: false, shown, closed: 0 }
    Object.assign(globalThis, { recordedNotifications: state })
    Object.defineProperty(document, 'visibilityState', { get: () => (state.hidden ? 'hidden' : 'visible') })
    class FakeNotification {
      static permission = 'granted'
      static requestPermission = async () => 'granted'
      readonly tag: string
      constructor(title: string, options: { body?: string; tag?: string } = {}) {
        shown.push(`${title} / ${options.body}`)
        this.tag = options.tag ?? ''
      }
      close(): void {
        state.closed++
      }
    }
    Object.defineProperty(globalThis, 'Notification', { value: FakeNotification })
  }
  interface RecordedNotifications {
    hidden: boolean
    readonly shown: readonly string[]
    readonly closed: number
  }
  const recorded = (page: Page) =>
    page.evaluate(
      () => (globalThis as unknown as { recordedNotifications: RecordedNotifications }).recordedNotifications,
    ) // `recordNotifications` sets this property
  async function setHidden(page: Page, hidden: boolean): Promise<void> {
    await page.evaluate(now => {
      const { recordedNotifications } = globalThis as unknown as { recordedNotifications: RecordedNotifications } // `recordNotifications` sets this property
      recordedNotifications.hidden = now
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
  }
  const waitForCount = (page: Page, count: number) =>
    page.waitForFunction(
      wanted =>
        (globalThis as unknown as { recordedNotifications: RecordedNotifications }).recordedNotifications.shown
          .length >= wanted, // `recordNotifications` sets this property
      count,
    )
  const withRecorder = { before: (page: Page) => page.context().addInitScript(recordNotifications) }

  it('browser notifications are shown once per request or group of requests while the page is hidden, and closed when the request is answered', async () => {
    const page = await fixture.openPage(withRecorder)
    const asker = await fixture.openAsker()
    await setHidden(page, true)
    const request = await asker.ask(asks.command('npm test'))
    await waitForCount(page, 1)
    await Promise.all([asker.ask(asks.command('a')), asker.ask(asks.command('b'))])
    await waitForCount(page, 2)
    expect((await recorded(page)).shown).toEqual([
      'Run a command · api-server / npm test',
      '2 requests waiting / api-server',
    ])
    await fixture.answer(request)
    await page.waitForFunction(
      () =>
        (globalThis as unknown as { recordedNotifications: RecordedNotifications }).recordedNotifications.closed === 1, // `recordNotifications` sets this property
    )
  })

  it('browser notifications are not shown while the page is visible', async () => {
    const page = await fixture.openPage(withRecorder)
    const asker = await fixture.openAsker()
    const request = await asker.ask(asks.command())
    await cardOf(page, request).waitFor()
    // A second request while the page is hidden proves that notifications work, so the first request caused none.
    await waitForCooldown(page)
    await setHidden(page, true)
    await asker.ask(asks.command('later'))
    await waitForCount(page, 1)
    expect((await recorded(page)).shown).toEqual(['Run a command · api-server / later'])
  })

  it('browser notifications are not shown for a muted session', async () => {
    const page = await fixture.openPage(withRecorder)
    const [loud, quiet] = [await fixture.openAsker('loud'), await fixture.openAsker('quiet')]
    const request = await loud.ask(asks.command())
    await cardOf(page, request).waitFor()
    await button(page, 'Mute session').click()
    await page.getByText('Muted: 1 request').waitFor()
    await setHidden(page, true)
    await loud.ask(asks.command('npm run noise'))
    await quiet.ask(asks.command('npm run news'))
    await waitForCount(page, 1)
    expect((await recorded(page)).shown).toEqual(['Run a command · quiet / npm run news'])
  })

  it('browser notifications are shown by only one of several hidden tabs, and by no tab while another tab is visible', async () => {
    const page = await fixture.openPage(withRecorder)
    const other = await fixture.openTab(page)
    const asker = await fixture.openAsker()
    await setHidden(page, true)
    const seen = await asker.ask(asks.command('seen in the other tab'))
    await cardOf(other, seen).waitFor()
    await waitForCooldown(other)
    await setHidden(other, true)
    await asker.ask(asks.command('seen by nobody'))
    await Promise.race([waitForCount(page, 1), waitForCount(other, 1)])
    const shown = [...(await recorded(page)).shown, ...(await recorded(other)).shown]
    expect(shown).toEqual(['Run a command · api-server / seen by nobody'])
  })

  it('browser notifications come with a chime, and open the request when clicked', async () => {
    /** Lets the test hide the page, because a headless page is always visible. Also counts the tones that the page plays. */
    const countTones = () => {
      const state = { hidden: false, shown: [], closed: 0, tones: 0 }
      Object.assign(globalThis, { recordedNotifications: state })
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
      before: it => it.context().addInitScript(countTones),
    })
    await page.locator('button.user-menu-button').click()
    await page.getByLabel('Play a sound when an agent needs you').check()
    await page.keyboard.press('Escape')
    const tones = () =>
      page.evaluate(
        () => (globalThis as unknown as { recordedNotifications: { tones: number } }).recordedNotifications.tones,
      ) // `countTones` sets this property
    expect(await tones()).toBe(2) // the chime has two tones, and plays once when the person turns it on
    await page.evaluate(async () => void (await navigator.serviceWorker.ready))
    const asker = await fixture.openAsker()
    await setHidden(page, true)
    const request = await asker.ask(asks.command('npm test'))
    const shown = () =>
      page.evaluate(async () => {
        const all = await (await navigator.serviceWorker.ready).getNotifications()
        return all.map(({ title, body }) => `${title} / ${body}`)
      })
    await expect.poll(shown).toEqual(['Run a command · api-server / npm test'])
    expect(await tones()).toBe(4)
    const [worker] = page.context().serviceWorkers()
    // Pass the code as a string, because TypeScript's DOM types lack the worker's globals.
    await worker?.evaluate(`registration.getNotifications().then(([notification]) => {
      dispatchEvent(new NotificationEvent('notificationclick', { notification }))
    })`)
    await page.waitForURL(`**/#/inbox/${request.id}`)
    await expect.poll(shown).toEqual([])
  })

  it('browser notifications are offered once, and not again after the person declines', async () => {
    const page = await fixture.openPage()
    await fixture.openAsker()
    await button(page, 'Not now').click()
    await page.reload()
    await page.getByText('You’re all caught up.').waitFor()
    expect(await page.getByText('Get notified when an agent needs you?').count()).toBe(0)
  })
})
