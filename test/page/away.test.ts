// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { desktop, hasNoBrowser, phone } from '../support/browser.ts'
import { announceLocalRunner } from '../support/local-agent.ts'
import { asks } from '../support/request-samples.ts'
import { violationsOn } from './axe.ts'
import { button, rowOf, setUpPageFixture, visibleText } from './page-fixture.ts'

const minute = 60_000

/** Makes the page believe that it was last visible some time ago. */
function setLastVisible(page: Page, agoMs: number): Promise<void> {
  return page.evaluate(ago => {
    const key = Object.keys(localStorage).find(name => name.startsWith('holdpoint.visit.'))
    if (key) localStorage.setItem(key, JSON.stringify({ at: Date.now() - ago, away: null }))
  }, agoMs)
}
function panel(page: Page): Locator {
  return page.getByRole('region', { name: 'While you were away' })
}

describe.skipIf(hasNoBrowser())('after an absence, the inbox', () => {
  const fixture = setUpPageFixture()

  /** Lets one of everything happen: a failure, an expired request, a finished turn, answers of a person and a rule, and a new request. */
  async function letThingsHappen() {
    const { gateway } = fixture
    const [broken, done, busy] = [
      await fixture.openAsker('broken'),
      await fixture.openAsker('tests'),
      await fixture.openAsker('api-server'),
    ]
    const finish = (id: typeof broken.session.id, ending: 'done' | 'failed') =>
      gateway.call('appendEvents', {
        id,
        items: [
          ...(ending === 'failed' ? [{ type: 'error.raised' as const, code: 'x', message: 'The key is missing' }] : []),
          { type: 'message.added', block: 'b', text: 'All 12 tests passed.' },
          { type: 'turn.finished', ending },
        ],
      })
    await finish(broken.session.id, 'failed')
    await finish(done.session.id, 'done')
    const late = await busy.ask(asks.command('npm run late'), { deadlineMs: 1000 })
    await gateway.call('addRule', { effect: 'deny', command: 'git push', message: 'No.' })
    for (const _ of [1, 2]) await busy.ask(asks.command('git push'))
    await fixture.answer(await busy.ask(asks.command('npm run deploy')), { kind: 'deny', reason: 'Not today.' })
    const pending = await busy.ask(asks.command('npm run migrate'))
    await fixture.waitUntilResolved(late)
    return { broken, done, busy, pending }
  }

  it('after an absence, the inbox says what was asked, answered, finished, failed and expired, each with a link, until it is dismissed', async () => {
    const page = await fixture.openPage()
    const { broken, pending } = await letThingsHappen()
    await rowOf(page, pending).waitFor()
    expect(await panel(page).count()).toBe(0)
    await setLastVisible(page, 10 * minute)
    await page.reload()
    await panel(page).waitFor()
    const text = await visibleText(panel(page))
    for (const count of ['10 min', '1 failed', '1 expired or withdrawn', '1 finished', '3 answered', '1 asked'])
      expect(text).toContain(count)
    // Requests are waiting, so the panel is closed and leaves the place to them.
    expect(await panel(page).getByRole('link').count()).toBe(0)
    await button(panel(page), 'While you were away 10 min').click()
    const entry = (name: RegExp) => panel(page).getByRole('link', { name })
    expect(await entry(/npm run late.*nobody answered in time/).count()).toBe(1)
    expect(await entry(/tests.*finished.*All 12 tests passed/).count()).toBe(1)
    expect(await entry(/git push.*2 × denied by the rule “Deny git push”/).count()).toBe(1)
    expect(await entry(/npm run deploy.*denied by you/).count()).toBe(1)
    expect(await entry(/npm run migrate.*waiting for you/).getAttribute('href')).toBe(`#/inbox/${pending.id}`)
    const failed = entry(/broken.*last turn failed.*The key is missing/)
    expect(await failed.getAttribute('href')).toBe(`#/sessions/${broken.session.id}`)
    await failed.click()
    await page.getByRole('log', { name: 'Transcript' }).waitFor()
    // The summary is still there after another reload, but not after it was dismissed.
    await page.goBack()
    await panel(page).waitFor()
    await page.reload()
    await button(panel(page), 'Dismiss').click()
    await panel(page).waitFor({ state: 'detached' })
    await page.reload()
    await rowOf(page, pending).waitFor()
    expect(await panel(page).count()).toBe(0)
  })

  it('the inbox says nothing after a short absence', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker('quiet')
    const request = await asker.ask(asks.command())
    await rowOf(page, request).waitFor()
    await setLastVisible(page, 4 * minute)
    await page.reload()
    await rowOf(page, request).waitFor()
    const stored = await page.evaluate(() =>
      Object.entries(localStorage).find(([name]) => name.startsWith('holdpoint.visit.')),
    )
    expect(JSON.parse(stored?.[1] ?? '{}')).toMatchObject({ away: null })
    expect(await panel(page).count()).toBe(0)
  })

  it('after an absence, the inbox does not move the list while the pointer is over it', async () => {
    const page = await fixture.openPage()
    const { pending } = await letThingsHappen()
    await rowOf(page, pending).hover()
    const place = () => rowOf(page, pending).boundingBox()
    const before = await place()
    await setLastVisible(page, 10 * minute)
    const loaded = page.waitForResponse(/\/rules/)
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await loaded
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    expect(await panel(page).count()).toBe(0)
    expect(await place()).toEqual(before)
    await page.mouse.move(1200, 500)
    await panel(page).waitFor()
    expect((await place())?.y).toBeGreaterThan(before?.y ?? 0)
  })

  it.each([
    { name: 'a desktop', options: desktop },
    { name: 'a phone', options: phone },
  ])('after an absence, the inbox has no accessibility violations with the summary on $name', async ({ options }) => {
    const page = await fixture.openPage({ ...options, reducedMotion: 'reduce', colorScheme: 'light' })
    await letThingsHappen()
    await setLastVisible(page, 10 * minute)
    await page.reload()
    await panel(page).getByRole('button').first().click()
    await panel(page).getByRole('link').first().waitFor()
    expect(await violationsOn(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violationsOn(page, { runOnly: ['color-contrast'] })).toEqual([])
  })
})

describe.skipIf(hasNoBrowser())('the first screen of an empty gateway', () => {
  const fixture = setUpPageFixture()

  it('the first screen of an empty gateway leads to a rehearsal, to a session with an installed agent, to your own terminal, and to a script', async () => {
    const page = await fixture.openPage({ reducedMotion: 'reduce', colorScheme: 'light' })
    await page.getByRole('heading', { name: 'Give your first answer' }).waitFor()
    await page.getByText('No agent is installed here yet.').waitFor()
    await page.getByText("npx holdpoint ask 'Deploy to production?'").waitFor()
    await page.getByText('holdpoint hook install').waitFor()
    const runner = await announceLocalRunner(fixture.gateway, ['messages'])
    try {
      await button(page, 'Test agent').waitFor()
      expect(await violationsOn(page)).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await violationsOn(page, { runOnly: ['color-contrast'] })).toEqual([])
      await button(page, 'Test agent').click()
      const dialog = page.getByRole('dialog', { name: 'New session' })
      await dialog.getByRole('radio', { name: 'Test agent', checked: true }).waitFor()
      expect(await dialog.getByLabel('Model').getAttribute('placeholder')).toBe('Default of Test agent')
      await dialog.getByLabel('Folder').fill(fixture.gateway.folder)
      await button(dialog, 'Start session').click()
      await page.getByRole('log', { name: 'Transcript' }).waitFor()
    } finally {
      runner.close()
    }
    await page.getByRole('link', { name: 'Inbox' }).first().click()
    await page.getByRole('heading', { name: 'You’re all caught up.' }).waitFor()
  })

  it('an empty Audit log, Rules or Sessions screen says what it will show', async () => {
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/audit`)
    await page.getByText('Every answer to an agent is recorded here').waitFor()
    await page.goto(`${fixture.gateway.url}/#/rules`)
    await page.getByText('No rules yet.').waitFor()
    await page.goto(`${fixture.gateway.url}/#/sessions`)
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('no such thing')
    await button(page, 'Show all sessions').click()
    await page.getByText('No results').waitFor({ state: 'detached' })
  })
})
