import type { Ask } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  click,
  markChanged,
  openCard,
  receipt,
  setUpPageFixture,
  visibleText,
  waitForCooldown,
} from './page-fixture.ts'

/** Resolves to the time when a selector first matches on a page, in epoch milliseconds. */
function firstMatchAt(page: Page, selector: string): Promise<number> {
  return page.evaluate(wanted => {
    return new Promise<number>(done => {
      const check = () => {
        if (!document.querySelector(wanted)) return
        observer.disconnect()
        done(Date.now())
      }
      const observer = new MutationObserver(check)
      observer.observe(document, { childList: true, subtree: true })
      check()
    })
  }, selector)
}

/** On an idle machine, a change appears within a tenth of a second. Without the event stream, it would not appear at all. */
const syncMs = 20_000

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

describe.skipIf(hasNoBrowser())('the same request on several devices', () => {
  const fixture = setUpPageFixture()

  async function addPerson(name: string): Promise<string> {
    return (await fixture.gateway.call('addToken', { role: 'person', name })).secret
  }

  it('two tabs and a phone show a request and its resolution without a reload', async () => {
    const tab = await fixture.openPage()
    const screens = [tab, await fixture.openTab(tab), await fixture.openPage(phone)]
    const asker = await fixture.openAsker()
    const appeared = screens.map(page => firstMatchAt(page, 'li[data-request]'))
    const request = await asker.ask(asks.command())
    for (const at of await Promise.all(appeared)) expect(at - request.openedAt).toBeLessThan(syncMs)
    expect(await Promise.all(screens.map(page => page.title()))).toEqual(screens.map(() => '(1) Holdpoint'))
    const folded = screens.map(page => firstMatchAt(page, '.receipt'))
    await click(tab, button(cardOf(tab, request), 'Allow once'))
    const { resolution } = await fixture.waitUntilResolved(request)
    for (const at of await Promise.all(folded)) expect(at - (resolution?.at ?? 0)).toBeLessThan(syncMs)
    for (const page of screens) {
      expect(await visibleText(receipt(page))).toContain('allowed by you')
      expect(await button(page, 'Allow once').count()).toBe(0)
      await page.waitForFunction(() => document.title === 'Holdpoint')
    }
  })

  it('a request that someone else answers turns into a receipt and accepts no second answer', async () => {
    const page = await fixture.openPage()
    const ada = await addPerson('Ada')
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    await button(card, 'Deny…').click()
    await page.keyboard.type('half a rea')
    await waitForCooldown(page)
    const folded = firstMatchAt(page, '.receipt')
    const { id, digest } = request
    const { resolution } = await fixture.gateway.callAs(ada)('answerRequest', { id, digest, answer: { kind: 'allow' } })
    expect((await folded) - (resolution?.at ?? 0)).toBeLessThan(syncMs)
    await page.keyboard.press('Enter')
    await receipt(page, 'allowed by Ada').waitFor()
    await page.locator('.leftover-draft', { hasText: 'Your unsent answer:' }).getByText('half a rea').waitFor()
    expect((await fixture.waitUntilResolved(request)).resolution).toMatchObject({
      person: 'Ada',
      answer: { kind: 'allow' },
    })
  })

  it('if two people answer the same request, the second person sees the first answer', async () => {
    const page = await fixture.openPage({ expectedErrors: /409/ })
    const request = await (await fixture.openAsker()).ask(asks.command())
    await cardOf(page, request).waitFor()
    // Someone else answers while this answer is being sent.
    await page.route('**/answer', async route => {
      await fixture.answer(request, { kind: 'deny', reason: 'faster' })
      await route.continue()
    })
    await click(page, button(cardOf(page, request), 'Allow once'))
    await receipt(page, 'denied by you', 'faster').waitFor()
    expect((await fixture.waitUntilResolved(request)).resolution?.answer?.kind).toBe('deny')
  })

  it('a draft appears on another device and can be sent from there', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    await button(cardOf(page, request), 'Deny…').click()
    const kept = page.waitForResponse(response => response.request().method() === 'PUT' && response.ok())
    await page.keyboard.type('because of the')
    await kept
    const other = await fixture.openPage(phone)
    const field = (await openCard(other, request)).getByRole('textbox')
    await field.waitFor()
    await expect.poll(() => field.inputValue()).toBe('because of the')
    await field.fill('because of the backup')
    await markChanged(other)
    await click(other, button(cardOf(other, request), 'Deny'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'because of the backup' })
    await receipt(page, 'because of the backup').waitFor()
  })

  describe('a draft that one person writes on two devices', () => {
    const otherFound = 'You also started an answer on another device'
    async function openOnBoth(ask: Ask) {
      const [desktopPage, phonePage] = [await fixture.openPage(), await fixture.openPage(phone)]
      const request = await (await fixture.openAsker()).ask(ask)
      const [here, there] = await Promise.all([openCard(desktopPage, request), openCard(phonePage, request)])
      return { desktopPage, phonePage, request, here, there }
    }
    const expectValue = (field: Locator, text: string) => expect.poll(() => field.inputValue(), soon).toBe(text)
    const soon = { interval: 20 }

    it('a draft that one person writes on two devices is updated live on a device where nobody has typed', async () => {
      const { desktopPage, here, there } = await openOnBoth(asks.command())
      await button(here, 'Deny…').click()
      const field = there.getByRole('textbox')
      await desktopPage.keyboard.type('because')
      await expectValue(field, 'because')
      await desktopPage.keyboard.type(' of the backup')
      await expectValue(field, 'because of the backup')
      expect(await there.getByText(otherFound).count()).toBe(0)
      expect(await here.getByText(otherFound).count(), 'it does not report its own draft').toBe(0)
      await here.getByRole('textbox').fill('')
      await button(there, 'Allow once').waitFor()
    })

    it('a click right after an update from the other device is ignored', async () => {
      const { phonePage, here, there, request } = await openOnBoth(asks.command())
      await waitForCooldown(phonePage)
      await phonePage.evaluate(() => {
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

    it('a draft that one person writes on two devices is never overwritten on the device where it was typed, because that device only offers the other draft', async () => {
      const { desktopPage, phonePage, request, here, there } = await openOnBoth(asks.command())
      await button(here, 'Deny…').click()
      await button(there, 'Deny…').click()
      await here.getByRole('textbox').fill('from the desk')
      await expectValue(there.getByRole('textbox'), 'from the desk')
      await button(there, 'Back').click()
      await button(there, 'Note…').click()
      await phonePage.keyboard.type('from the phone')
      // The phone saves while it types. Its last save must not come after the next change on the desktop.
      await here.getByText(`${otherFound}: from the phone`).waitFor()
      await expect.poll(() => here.getByRole('textbox').inputValue()).toBe('from the desk')
      await desktopPage.keyboard.press('End')
      await desktopPage.keyboard.type(', still')
      await expect.poll(() => here.getByRole('textbox').inputValue()).toBe('from the desk, still')
      await there.getByText(`${otherFound}: from the desk, still`).waitFor()
      await expect.poll(() => there.getByRole('textbox').inputValue()).toBe('from the phone')
      await button(there, 'Use that answer').click()
      await expect.poll(() => there.getByRole('textbox').inputValue()).toBe('from the desk, still')
      await there.getByText(otherFound).waitFor({ state: 'detached' })
      await button(here, 'Keep current answer').click()
      await here.getByText(otherFound).waitFor({ state: 'detached' })
      await markChanged(phonePage)
      await click(phonePage, button(there, 'Deny'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'from the desk, still' })
    })

    it('a draft that one person writes on two devices is updated field by field in questions and forms', async () => {
      const { desktopPage, request, here, there } = await openOnBoth(asks.questions())
      await here.getByRole('radio', { name: 'Summary' }).check()
      await expect.poll(() => there.getByRole('radio', { name: 'Summary' }).isChecked(), soon).toBe(true)
      await here.getByRole('textbox', { name: 'Other' }).first().fill('a table')
      await expectValue(there.getByRole('textbox', { name: 'Other' }).first(), 'a table')
      await there.getByRole('checkbox', { name: 'Linux' }).check()
      await here.getByText(`${otherFound}: Format: a table`).waitFor()
      await button(here, 'Use that answer').click()
      await expect.poll(() => here.getByRole('checkbox', { name: 'Linux' }).isChecked()).toBe(true)
      await markChanged(desktopPage)
      await click(desktopPage, button(here, 'Send answers'))
      expect(await fixture.answerGivenOnPage(request)).toMatchObject({
        answers: [{ other: 'a table' }, { chosen: ['Linux'] }],
      })

      const form = await openOnBoth(asks.form())
      await form.here.getByLabel('Version').fill('1')
      await expectValue(form.there.getByLabel('Version'), '1')
      await form.here.getByLabel('Replicas').fill('7')
      await expectValue(form.there.getByLabel('Replicas'), '7')
    })

    it('a draft that one person writes on two devices is shown in its newer version after a reload, and the older version is offered', async () => {
      const { desktopPage, here, there } = await openOnBoth(asks.command())
      await button(here, 'Deny…').click()
      await here.getByRole('textbox').fill('older')
      await expectValue(there.getByRole('textbox'), 'older')
      await there.getByRole('textbox').fill('newer')
      await here.getByText(otherFound).waitFor()
      await desktopPage.reload()
      await expectValue(here.getByRole('textbox'), 'newer')
      await here.getByText('You started a different answer here earlier: older').waitFor()
    })

    it('a draft that one person writes on two devices reaches the other device completely, even if the page is closed right after typing', async () => {
      const { desktopPage, here, there } = await openOnBoth(asks.command())
      await button(here, 'Deny…').click()
      await desktopPage.keyboard.type('to the last letter')
      await desktopPage.goto('about:blank')
      await expectValue(there.getByRole('textbox'), 'to the last letter')
    })

    it('a draft that one person writes on two devices is still there after the browser is killed', async () => {
      const { desktopPage, here, there } = await openOnBoth(asks.command())
      await button(here, 'Deny…').click()
      await desktopPage.keyboard.type('before the crash')
      await expectValue(there.getByRole('textbox'), 'before the crash')
      await desktopPage.context().close()
      const again = await fixture.openPage()
      const field = again.locator('article').getByRole('textbox')
      await field.waitFor()
      await expect.poll(() => field.inputValue()).toBe('before the crash')
    })
  })

  it('each person sees when another person starts and stops answering', async () => {
    const page = await fixture.openPage()
    const adas = await fixture.openPage({ token: await addPerson('Ada') })
    const request = await (await fixture.openAsker()).ask(asks.questions())
    const card = cardOf(adas, request)
    await card.getByRole('textbox', { name: 'Other' }).first().fill('hm')
    await cardOf(page, request).getByText('Ada is answering').waitFor()
    expect(await card.getByText('is answering').count(), 'a person does not see their own name').toBe(0)
    await card.getByRole('textbox', { name: 'Other' }).first().fill('')
    await cardOf(page, request).getByText('Ada is answering').waitFor({ state: 'detached' })
  })

  it('after a request expires or is withdrawn, an unsent answer can be copied until the person discards it', async () => {
    // The gateway refuses a draft that is saved while the request ends, and the browser logs an error.
    const page = await fixture.openPage({ permissions: ['clipboard-read', 'clipboard-write'], expectedErrors: /409/ })
    const asker = await fixture.openAsker()
    const form = await asker.ask(withSecret, { deadlineMs: 8000 })
    const edited = await asker.ask(asks.command())
    const command = await openCard(page, edited)
    await button(command, 'Edit…').click()
    await command.getByRole('textbox').first().fill('npm run migrate -- --dry')
    await (await openCard(page, form)).getByLabel('Name').fill('Ada')
    await cardOf(page, form).getByLabel('Pass').fill('hush')
    await fixture.gateway.call('withdrawRequest', { id: edited.id })
    const leftover = page.locator('.leftover-draft')
    await leftover.getByText('npm run migrate -- --dry').waitFor()
    await leftover.filter({ hasText: 'Name: Ada' }).waitFor()
    expect(await leftover.filter({ hasText: 'hush' }).count(), 'secrets are not part of a draft').toBe(0)
    await button(leftover.filter({ hasText: 'Name: Ada' }), 'Copy').click()
    await leftover.getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Name: Ada')
    await page.reload()
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await button(leftover.filter({ hasText: 'dry' }), 'Discard').click()
    await page.reload()
    await leftover.filter({ hasText: 'Name: Ada' }).waitFor()
    await expect.poll(() => leftover.count()).toBe(1)
  })

  it('a request with a deadline counts down by the gateway’s clock, and says what happens if nobody answers', async () => {
    // This browser's clock is a day ahead.
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
    const noAnswer = 'If no one answers in time, the agent is told so.'
    await cardOf(page, request).getByText(noAnswer).waitFor()
    const before = await visibleText(count)
    await page.waitForFunction(text => document.querySelector('.countdown')?.textContent !== text, before)
  })

  it('the receipt of an expired request says that nobody answered in time, not that a person denied it', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command(), { deadlineMs: 1000 })
    await receipt(page, 'nobody answered in time').waitFor()
    expect((await fixture.waitUntilResolved(request)).resolution).toMatchObject({ by: 'deadline' })
  })

  it('a withdrawn request turns into a receipt that says it was withdrawn', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    await cardOf(page, request).waitFor()
    await fixture.gateway.call('withdrawRequest', { id: request.id })
    await receipt(page, 'withdrawn by the agent').waitFor()
  })
})
