/** Finds a decision of last week in the audit log, with few actions. */
import { join } from 'node:path'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { receipt, setUpPageFixture, visibleText } from './page-fixture.ts'

const clockOffset = join(import.meta.dirname, '../support/clock-offset.mjs')
const weekMs = 7 * 24 * 3600_000

describe.skipIf(hasNoBrowser())('the audit log with decisions of last week', () => {
  // The gateway starts with a clock of last week only once, so the decisions are recorded once.
  let day: Date
  const fixture = setUpPageFixture(
    { execArgv: ['--import', clockOffset], env: { HOLDPOINT_TEST_AGO_MS: String(weekMs) } },
    'light',
    async () => {
      day = await recordDecisions()
    },
  )

  /** Records decisions of two people last week and this week. Returns the day of the decisions of last week. */
  async function recordDecisions(): Promise<Date> {
    const { gateway } = fixture
    const { secret } = await gateway.call('addToken', { role: 'person', name: 'Bob' })
    const lastWeek = await fixture.openAsker('release', '/srv/app')
    for (let at = 0; at < 30; at++) await fixture.answer(await lastWeek.ask(asks.command(`npm test -- --shard ${at}`)))
    const { id, digest } = await lastWeek.ask(asks.command('npm run deploy -- --env production'))
    await gateway.callAs(secret)('answerRequest', { id, digest, answer: { kind: 'allow' } })
    const { at } = (await gateway.call('getRequest', { id })).resolution ?? { at: 0 }
    await gateway.stop()
    await gateway.start({})
    const thisWeek = await fixture.openAsker('fixes', '/srv/app')
    for (let n = 0; n < 60; n++) await fixture.answer(await thisWeek.ask(asks.command(`git show HEAD~${n}`)))
    return new Date(at)
  }

  /** Counts what a person does: a click, a key press, or a text that is typed into the focused field. */
  function actionCounter(page: Page) {
    let count = 0
    return {
      click: (name: string) => {
        count++
        return page.getByRole('link', { name }).first().click()
      },
      press: (key: string) => {
        count++
        return page.keyboard.press(key)
      },
      type: (text: string) => {
        count++
        return page.keyboard.type(text)
      },
      get count() {
        return count
      },
    }
  }

  it('a person finds out with at most 4 actions who allowed a given command last week, and when', async () => {
    expect(Date.now() - day.getTime()).toBeGreaterThan(weekMs - 60_000)
    const page = await fixture.openPage()
    const person = actionCounter(page)
    await person.click('Audit log')
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor()
    await person.press('/')
    await person.type('deploy')
    const line = receipt(page, 'npm run deploy -- --env production')
    await receipt(page, 'git show').first().waitFor({ state: 'detached' })
    // The browser skips rows outside the view (content-visibility), and reports no visible text for them until it has drawn them.
    await expect.poll(() => visibleText(line.locator('.audit-who'))).toBe('Bob')
    await expect.poll(() => visibleText(line.locator('.audit-answer'))).toMatch(/allowed/i)
    const heading = day.toLocaleDateString('en-US', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
    await page.getByRole('region', { name: heading }).getByText('npm run deploy').waitFor()
    expect(person.count).toBeLessThanOrEqual(4)
  })

  it('a notice in the audit log is aligned with the column of the answers', async () => {
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/audit`)
    const left = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate(element => element.getBoundingClientRect().left)
    await page.locator('.audit-notice').first().waitFor()
    expect(await left('.audit-notice > span:last-child')).toBe(await left('.audit-head > :nth-child(3)'))
  })
})
