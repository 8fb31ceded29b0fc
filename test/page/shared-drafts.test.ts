import type { Ask } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: it exports them by a way that the linter does not follow
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  click,
  markChanged,
  receipt,
  setUpPageFixture,
  visibleText,
  waitForCooldown,
} from './page-fixture.ts'

/** When a selector is first met on a page, by the clock that all of this machine share. */
function momentOf(page: Page, selector: string): Promise<number> {
  return page.evaluate(wanted => {
    return new Promise<number>(done => {
      const look = () => {
        if (!document.querySelector(wanted)) return
        observer.disconnect()
        done(Date.now())
      }
      const observer = new MutationObserver(look)
      observer.observe(document, { childList: true, subtree: true })
      look()
    })
  }, selector)
}

const withinMs = 1000

const withSecret: Ask = {
  kind: 'form',
  title: 'Sign in',
  message: '',
  schema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name' },
      pass: { type: 'string', title: 'Pass', format: 'password' },
    },
  },
}

describe.skipIf(hasNoBrowser())('several who look at the same', () => {
  const fixture = setUpPageFixture()

  async function person(name: string): Promise<string> {
    return (await fixture.gateway.call('addToken', { role: 'person', name })).secret
  }

  it('two tabs and a phone show a request and its end within a second', async () => {
    const tab = await fixture.openPage()
    const screens = [tab, await fixture.openTab(tab), await fixture.openPage(phone)]
    const asker = await fixture.openAsker()
    const came = screens.map(page => momentOf(page, 'article.card'))
    const request = await asker.ask(asks.command())
    for (const at of await Promise.all(came)) expect(at - request.openedAt).toBeLessThan(withinMs)
    expect(await Promise.all(screens.map(page => page.title()))).toEqual(screens.map(() => '(1) Holdpoint'))
    const folded = screens.map(page => momentOf(page, '.receipt'))
    await click(tab, button(cardOf(tab, request), 'Allow once'))
    const { resolution } = await fixture.waitUntilResolved(request)
    for (const at of await Promise.all(folded)) expect(at - (resolution?.at ?? 0)).toBeLessThan(withinMs)
    for (const page of screens) {
      expect(await visibleText(receipt(page))).toContain('allowed by you')
      expect(await button(page, 'Allow once').count()).toBe(0)
      await page.waitForFunction(() => document.title === 'Holdpoint')
    }
  })

  it('what somebody else has answered is gone within a second, with who and what, and takes no second answer', async () => {
    const page = await fixture.openPage()
    const ada = await person('Ada')
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    await button(card, 'Deny…').click()
    await page.keyboard.type('half a rea')
    await waitForCooldown(page)
    const folded = momentOf(page, '.receipt')
    const { id, digest } = request
    const { resolution } = await fixture.gateway.callAs(ada)('answerRequest', { id, digest, answer: { kind: 'allow' } })
    expect((await folded) - (resolution?.at ?? 0)).toBeLessThan(withinMs)
    await page.keyboard.press('Enter')
    await receipt(page, 'allowed by Ada').waitFor()
    await page.locator('.leftover-draft', { hasText: 'Your unsent answer:' }).getByText('half a rea').waitFor()
    expect((await fixture.waitUntilResolved(request)).resolution).toMatchObject({
      person: 'Ada',
      answer: { kind: 'allow' },
    })
  })

  it('a loser of a race is shown the winner', async () => {
    const page = await fixture.openPage({ expectedErrors: /409/ })
    const request = await (await fixture.openAsker()).ask(asks.command())
    await cardOf(page, request).waitFor()
    // The answer is held up on its way, and somebody is faster meanwhile.
    await page.route('**/answer', async route => {
      await fixture.answer(request, { kind: 'deny', reason: 'faster' })
      await route.continue()
    })
    await click(page, button(cardOf(page, request), 'Allow once'))
    await receipt(page, 'denied by you', 'faster').waitFor()
    expect((await fixture.waitUntilResolved(request)).resolution?.answer?.kind).toBe('deny')
  })

  it('an unfinished answer is there on another device, and goes when it is given', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    await button(cardOf(page, request), 'Deny…').click()
    const kept = page.waitForResponse(response => response.request().method() === 'PUT' && response.ok())
    await page.keyboard.type('because of the')
    await kept
    const other = await fixture.openPage(phone)
    const field = cardOf(other, request).getByRole('textbox')
    await field.waitFor()
    await expect.poll(() => field.inputValue()).toBe('because of the')
    await field.fill('because of the backup')
    await markChanged(other)
    await click(other, button(cardOf(other, request), 'Deny'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'because of the backup' })
    await receipt(page, 'because of the backup').waitFor()
  })

  describe('an answer that one person begins on two devices', () => {
    const also = 'You also started an answer on another device'
    async function two(ask: Ask) {
      const [desk, pocket] = [await fixture.openPage(), await fixture.openPage(phone)]
      const request = await (await fixture.openAsker()).ask(ask)
      const [here, there] = [cardOf(desk, request), cardOf(pocket, request)]
      await Promise.all([here.waitFor(), there.waitFor()])
      return { desk, pocket, request, here, there }
    }
    const holds = (field: Locator, text: string) => expect.poll(() => field.inputValue(), soon).toBe(text)
    const soon = { timeout: 5000, interval: 20 }

    it('is followed as it is typed where nobody has touched it', async () => {
      const { desk, here, there } = await two(asks.command())
      await button(here, 'Deny…').click()
      const field = there.getByRole('textbox')
      await desk.keyboard.type('because')
      await holds(field, 'because')
      await desk.keyboard.type(' of the backup')
      await holds(field, 'because of the backup')
      expect(await there.getByText(also).count()).toBe(0)
      expect(await here.getByText(also).count(), 'not of its own echo').toBe(0)
      await here.getByRole('textbox').fill('')
      await button(there, 'Allow once').waitFor()
    })

    it('a press is not counted on what has just changed by itself', async () => {
      const { pocket, here, there, request } = await two(asks.command())
      await waitForCooldown(pocket)
      await pocket.evaluate(() => {
        new MutationObserver((_, observer) => {
          const deny = [...document.querySelectorAll('button')].find(each => each.textContent === 'Deny')
          if (!deny) return
          observer.disconnect()
          deny.click()
        }).observe(document.body, { childList: true, subtree: true })
      })
      await button(here, 'Deny…').click()
      await here.getByRole('textbox').fill('hm')
      await there.getByText('This card just changed').waitFor()
      expect(await fixture.isPending(request)).toBe(true)
    })

    it('is never overwritten where it was typed; the other one is offered', async () => {
      const { desk, pocket, request, here, there } = await two(asks.command())
      await button(here, 'Deny…').click()
      await button(there, 'Deny…').click()
      await here.getByRole('textbox').fill('from the desk')
      await holds(there.getByRole('textbox'), 'from the desk')
      await button(there, 'Back').click()
      await button(there, 'Add a note…').click()
      await pocket.keyboard.type('from the phone')
      await here.getByText(also).waitFor()
      await expect.poll(() => here.getByRole('textbox').inputValue()).toBe('from the desk')
      await desk.keyboard.press('End')
      await desk.keyboard.type(', still')
      await expect.poll(() => here.getByRole('textbox').inputValue()).toBe('from the desk, still')
      await there.getByText(`${also}: from the desk, still`).waitFor()
      await expect.poll(() => there.getByRole('textbox').inputValue()).toBe('from the phone')
      await button(there, 'Use that one').click()
      await expect.poll(() => there.getByRole('textbox').inputValue()).toBe('from the desk, still')
      await there.getByText(also).waitFor({ state: 'detached' })
      await button(here, 'Keep mine').click()
      await here.getByText(also).waitFor({ state: 'detached' })
      await markChanged(pocket)
      await click(pocket, button(there, 'Deny'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'from the desk, still' })
    })

    it('is followed in questions and forms, too, field by field', async () => {
      const { desk, request, here, there } = await two(asks.questions())
      await here.getByRole('radio', { name: 'Summary' }).check()
      await expect.poll(() => there.getByRole('radio', { name: 'Summary' }).isChecked(), soon).toBe(true)
      await here.getByRole('textbox', { name: 'Other' }).first().fill('a table')
      await holds(there.getByRole('textbox', { name: 'Other' }).first(), 'a table')
      await there.getByRole('checkbox', { name: 'Linux' }).check()
      await here.getByText(`${also}: Format: a table`).waitFor()
      await button(here, 'Use that one').click()
      await expect.poll(() => here.getByRole('checkbox', { name: 'Linux' }).isChecked()).toBe(true)
      await markChanged(desk)
      await click(desk, button(here, 'Send answers'))
      expect(await fixture.answerGivenOnPage(request)).toMatchObject({
        answers: [{ other: 'a table' }, { chosen: ['Linux'] }],
      })

      const form = await two(asks.form())
      await form.here.getByLabel('Version').fill('1')
      await holds(form.there.getByLabel('Version'), '1')
      await form.here.getByLabel('Replicas').fill('7')
      await holds(form.there.getByLabel('Replicas'), '7')
    })

    it('after a reload the newer one stands, and the older one is offered', async () => {
      const { desk, here, there } = await two(asks.command())
      await button(here, 'Deny…').click()
      await here.getByRole('textbox').fill('older')
      await holds(there.getByRole('textbox'), 'older')
      await there.getByRole('textbox').fill('newer')
      await here.getByText(also).waitFor()
      await desk.reload()
      await holds(here.getByRole('textbox'), 'newer')
      await here.getByText('You started a different answer here earlier: older').waitFor()
    })

    it('reaches the other device to its last letter when the page is left at once', async () => {
      const { desk, here, there } = await two(asks.command())
      await button(here, 'Deny…').click()
      await desk.keyboard.type('to the last letter')
      await desk.goto('about:blank')
      await holds(there.getByRole('textbox'), 'to the last letter')
    })

    it('is there on the other device, but for its last moment, when the browser is gone without a word', async () => {
      const { desk, here, there } = await two(asks.command())
      await button(here, 'Deny…').click()
      await desk.keyboard.type('before the crash')
      await holds(there.getByRole('textbox'), 'before the crash')
      await desk.context().close()
      const again = await fixture.openPage()
      const field = again.locator('article').getByRole('textbox')
      await field.waitFor()
      await expect.poll(() => field.inputValue()).toBe('before the crash')
    })
  })

  it('each sees that another person is answering, and when they leave it', async () => {
    const page = await fixture.openPage()
    const adas = await fixture.openPage({ token: await person('Ada') })
    const request = await (await fixture.openAsker()).ask(asks.questions())
    const card = cardOf(adas, request)
    await card.getByRole('textbox', { name: 'Other' }).first().fill('hm')
    await cardOf(page, request).getByText('Ada is answering').waitFor()
    expect(await card.getByText('is answering').count(), 'not of oneself').toBe(0)
    await card.getByRole('textbox', { name: 'Other' }).first().fill('')
    await cardOf(page, request).getByText('Ada is answering').waitFor({ state: 'detached' })
  })

  it('what was begun when the time is up or the agent goes on is there to be copied, until it is discarded', async () => {
    // A letter typed as the request ends is refused, and a browser says so.
    const page = await fixture.openPage({ permissions: ['clipboard-read', 'clipboard-write'], expectedErrors: /409/ })
    const asker = await fixture.openAsker()
    const form = await asker.ask(withSecret, { deadlineMs: 8000 })
    const edited = await asker.ask(asks.command())
    const command = cardOf(page, edited)
    await button(command, 'Edit…').click()
    await command.getByRole('textbox').first().fill('npm run migrate -- --dry')
    await cardOf(page, form).getByLabel('Name').fill('Ada')
    await cardOf(page, form).getByLabel('Pass').fill('hush')
    await fixture.gateway.call('withdrawRequest', { id: edited.id })
    const begun = page.locator('.leftover-draft')
    await begun.getByText('npm run migrate -- --dry').waitFor()
    await begun.filter({ hasText: 'Name: Ada' }).waitFor()
    expect(await begun.filter({ hasText: 'hush' }).count(), 'never a secret').toBe(0)
    await button(begun.filter({ hasText: 'Name: Ada' }), 'Copy').click()
    await begun.getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Name: Ada')
    await page.reload()
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await button(begun.filter({ hasText: 'dry' }), 'Discard').click()
    await page.reload()
    await begun.filter({ hasText: 'Name: Ada' }).waitFor()
    await expect.poll(() => begun.count()).toBe(1)
  })

  it('a request with a deadline counts down by the gateway’s clock, and says what silence means', async () => {
    // A browser whose clock is a day ahead.
    const page = await fixture.openPage({
      before: page =>
        page.addInitScript(() => {
          const real = Date.now
          Date.now = () => real() + 24 * 3600_000
        }),
    })
    const asker = await fixture.openAsker()
    const request = await asker.ask(asks.command(), { deadlineMs: 90_000 })
    const count = cardOf(page, request).locator('.countdown')
    await count.waitFor()
    expect(await visibleText(count)).toMatch(/^1:(3[01]|2\d) left$/)
    const silence = 'If no one answers in time, the agent is told so.'
    await cardOf(page, request).getByText(silence).waitFor()
    const before = await visibleText(count)
    await page.waitForFunction(text => document.querySelector('.countdown')?.textContent !== text, before)
  })

  it('a deadline that passes resolves the request as that, and as nobody’s no', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command(), { deadlineMs: 1000 })
    await receipt(page, 'nobody answered in time').waitFor()
    expect((await fixture.waitUntilResolved(request)).resolution).toMatchObject({ by: 'deadline' })
  })

  it('what its agent withdraws goes, as that', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    await cardOf(page, request).waitFor()
    await fixture.gateway.call('withdrawRequest', { id: request.id })
    await receipt(page, 'withdrawn by the agent').waitFor()
  })
})
