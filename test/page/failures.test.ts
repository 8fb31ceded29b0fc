import { describe, expect, it } from 'vitest'
import { connectionErrors, hasNoBrowser } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  click,
  openCard,
  pressKey,
  receipt,
  rowOf,
  setUpPageFixture,
  visibleText,
  waitForCooldown,
} from './page-fixture.ts'

const reconnecting = 'Reconnecting… Showing the last known state.'

describe.skipIf(hasNoBrowser())('the page when something fails', () => {
  const fixture = setUpPageFixture()

  it('a reload while a person writes an answer loses no text, even if the draft was not saved yet', async () => {
    const page = await fixture.openPage({ expectedErrors: connectionErrors })
    await page.route('**/draft', route =>
      route.request().method() === 'PUT' ? route.abort('connectionrefused') : route.continue(),
    )
    const asker = await fixture.openAsker()
    const denied = await asker.ask(asks.command())
    const questions = await asker.ask(asks.questions())
    const form = await asker.ask(asks.form())
    await (await openCard(page, questions)).getByRole('radio', { name: 'Detailed' }).check()
    await (await openCard(page, form)).getByLabel('Version').fill('4.2')
    await button(await openCard(page, denied), 'Deny…').click()
    await page.keyboard.type('not on a Fri')
    await page.reload()
    await page.unroute('**/draft')
    const reason = cardOf(page, denied).getByRole('textbox')
    await reason.waitFor()
    await expect.poll(() => reason.inputValue()).toBe('not on a Fri')
    await openCard(page, questions)
    await expect.poll(() => cardOf(page, questions).getByRole('radio', { name: 'Detailed' }).isChecked()).toBe(true)
    await openCard(page, form)
    await expect.poll(() => cardOf(page, form).getByLabel('Version').inputValue()).toBe('4.2')
    await openCard(page, denied)
    await reason.press('End')
    await page.keyboard.type('day')
    await pressKey(page, 'Control+Enter')
    expect(await fixture.answerGivenOnPage(denied)).toEqual({ kind: 'deny', reason: 'not on a Friday' })
  })

  it('a crash of the tab while a person writes an answer loses no text', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    await button(cardOf(page, request), 'Note…').click()
    const kept = page.waitForResponse(response => response.request().method() === 'PUT' && response.ok())
    await page.keyboard.type('careful')
    await kept
    const other = await page.context().newPage()
    await page.close()
    await other.goto(fixture.gateway.url)
    const note = cardOf(other, request).getByRole('textbox')
    await note.waitFor()
    await expect.poll(() => note.inputValue()).toBe('careful')
  })

  it('after a network failure, the typed text is still there and the answer can be sent', async () => {
    const page = await fixture.openPage({ expectedErrors: connectionErrors })
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    await button(card, 'Deny…').click()
    await page.keyboard.type('because')
    await page.context().setOffline(true)
    await page.getByText(reconnecting).waitFor()
    await expect.poll(() => button(card, 'Deny').isDisabled()).toBe(true)
    await page.keyboard.type(' of the cut')
    await page.keyboard.press('Control+Enter')
    expect(await fixture.isPending(request)).toBe(true)
    await page.context().setOffline(false)
    await page.getByText('Reconnected').waitFor()
    await expect.poll(() => card.getByRole('textbox').inputValue()).toBe('because of the cut')
    await click(page, button(card, 'Deny'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'because of the cut' })
  })

  it('a screen whose script cannot be loaded shows a message, and loads after the page reconnects', async () => {
    const page = await fixture.openPage({ expectedErrors: connectionErrors })
    await page.route('**/audit-screen-*.js', route => route.abort('connectionrefused'))
    await page.goto(`${fixture.gateway.url}/#/audit`)
    await page.getByText('This part of the page couldn’t be loaded').waitFor()
    await expect.poll(() => page.getByRole('navigation').first().isVisible()).toBe(true)
    await page.unroute('**/audit-screen-*.js')
    await page.context().setOffline(true)
    await page.getByText(reconnecting).waitFor()
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()
  })

  it('a note is sent with the answer, even if the person has closed the note field', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    await button(card, 'Note…').click()
    await page.keyboard.type('only on staging')
    await button(card, 'Back').click()
    await click(page, button(card, 'Allow with your note'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow', note: 'only on staging' })
  })

  it('if an answer cannot be sent, the card says why, keeps the text and stays usable', async () => {
    const page = await fixture.openPage({ expectedErrors: connectionErrors })
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    await page.route('**/answer', route => route.abort('connectionrefused'))
    await button(card, 'Note…').click()
    await page.keyboard.type('with care')
    await click(page, button(card, 'Allow with this note'))
    await button(card, 'Allowing…').waitFor()
    await card.getByRole('alert').getByText('Not sent. Can’t reach the gateway. Everything').waitFor()
    await expect.poll(() => card.getByRole('textbox').inputValue()).toBe('with care')
    await page.unroute('**/answer')
    await click(page, button(card, 'Allow with this note'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow', note: 'with care' })
  })

  it('if the gateway refuses an answer, the card shows the reason and stays usable', async () => {
    const page = await fixture.openPage({ expectedErrors: /422/ })
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    const error = { code: 'answer_mismatch', message: 'The answer does not fit: it is odd.' }
    await page.route('**/answer', route => route.fulfill({ status: 422, json: { error } }))
    await click(page, button(card, 'Allow once'))
    await card.getByRole('alert').getByText('The answer does not fit: it is odd.').waitFor()
    await expect.poll(() => button(card, 'Allow once').isEnabled()).toBe(true)
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('an answer is submitted only once, even if the gateway’s response is lost', async () => {
    const page = await fixture.openPage({ expectedErrors: connectionErrors })
    const request = await (await fixture.openAsker()).ask(asks.command())
    let tries = 0
    await page.route('**/answer', async route => {
      if (++tries > 1) return route.continue()
      await route.fetch()
      await route.abort('connectionreset')
    })
    await click(page, button(cardOf(page, request), 'Allow once'))
    await receipt(page, 'allowed by you').waitFor()
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
  })

  it.each(['questions', 'form'] as const)(
    'while the gateway is unreachable, a person can keep typing an answer, and no typed letter sends an answer (kind of request: %s)',
    async kind => {
      const page = await fixture.openPage({ expectedErrors: connectionErrors })
      const request = await (await fixture.openAsker()).ask(asks[kind]())
      const card = cardOf(page, request)
      const field = kind === 'form' ? card.getByLabel('Version') : card.getByRole('textbox', { name: 'Other' }).first()
      await field.click()
      await page.keyboard.type('deploy, but not ')
      await fixture.gateway.kill()
      await page.getByText(reconnecting).waitFor()
      await page.keyboard.type('there ')
      await fixture.gateway.start()
      await page.getByText('Reconnected').waitFor()
      await waitForCooldown(page)
      await page.keyboard.type('at all, and never')
      await expect.poll(() => field.inputValue()).toBe('deploy, but not there at all, and never')
      expect(await fixture.isPending(request)).toBe(true)
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    },
  )

  it('while the gateway is unreachable, nothing can be clicked; after reconnecting, the page shows the current state', async () => {
    const page = await fixture.openPage({ expectedErrors: connectionErrors })
    const asker = await fixture.openAsker()
    const old = await asker.ask(asks.command('old'))
    const kept = await asker.ask(asks.command('kept'))
    await openCard(page, kept)
    await fixture.gateway.kill()
    await page.getByText(reconnecting).waitFor()
    const screen = page.locator('main')
    const inert = () => screen.evaluate(it => it instanceof HTMLElement && it.inert)
    expect(await inert()).toBe(true)
    await expect.poll(() => page.title()).toBe('… Holdpoint')
    await expect.poll(() => button(cardOf(page, kept), 'Allow once').isDisabled()).toBe(true)
    await page.waitForFunction(
      () => Number(getComputedStyle(document.querySelector('main > *') as Element).opacity) < 1,
    ) // `main` always has a child element
    await page.keyboard.press('j')
    await page.keyboard.press('a')

    // The gateway is back, but the page has not reconnected yet, so the page's content must not look live.
    await page.route('**/api/v1/events*', route => route.abort('connectionrefused'))
    await fixture.gateway.start()
    await fixture.answer(old, { kind: 'deny' })
    const fresh = await asker.ask(asks.command('fresh'))
    expect(await inert()).toBe(true)
    await page.unroute('**/api/v1/events*')
    await page.getByText('Reconnected').waitFor()
    expect(await inert()).toBe(false)
    await rowOf(page, fresh).waitFor()
    await cardOf(page, old).waitFor({ state: 'detached' })
    await page.waitForFunction(() => document.title === '(2) Holdpoint')
    expect(await visibleText(page.getByRole('heading', { level: 1 }))).toBe('2 requests waiting')
    await click(page, button(cardOf(page, kept), 'Allow once'))
    expect(await fixture.answerGivenOnPage(kept)).toEqual({ kind: 'allow' })
    expect(await fixture.isPending(fresh)).toBe(true)
  })

  it('after a sign-out in another tab, the page says that the browser is not signed in and how to sign in', async () => {
    const page = await fixture.openPage({ expectedErrors: /401/ })
    const other = await fixture.openTab(page)
    await other.locator('button.user-menu-button').click()
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByText('This browser is not signed in').waitFor()
    await page.reload()
    await page.getByText('holdpoint link').waitFor()
  })
})
