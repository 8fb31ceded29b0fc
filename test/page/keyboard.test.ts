import type { Ask, Request } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  pressKey,
  receipt,
  rowOf,
  setUpPageFixture,
  waitForCooldown,
  waitForKeyPause,
} from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('keyboard shortcuts', () => {
  const fixture = setUpPageFixture()

  let askers = 0
  async function openRequests(...list: readonly Ask[]) {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker(`agent ${++askers}`)
    const requests: Request[] = []
    for (const ask of list) requests.push(await asker.ask(ask))
    for (const request of requests) await page.locator(`[data-request="${request.id}"]`).waitFor()
    const request = (at: number) => {
      const found = requests[at]
      if (!found) throw new Error(`only ${requests.length} requests were opened`)
      return found
    }
    const active = () => page.locator('li[aria-current="true"]').getAttribute('data-request')
    return { page, request, active }
  }

  it('keyboard shortcuts answer every kind of request in the inbox', async () => {
    const list = [asks.command('first'), asks.command('second'), asks.edit(), asks.questions(), asks.form()]
    const { page, request, active } = await openRequests(...list)
    await page.keyboard.press('j')
    expect(await active()).toBe(request(0).id)
    await page.keyboard.press('j')
    expect(await active()).toBe(request(1).id)
    await page.keyboard.press('k')
    expect(await active()).toBe(request(0).id)

    await pressKey(page, 'a')
    expect(await fixture.answerGivenOnPage(request(0))).toEqual({ kind: 'allow' })
    await receipt(page, 'first', 'allowed by you').waitFor()
    expect(await active(), 'the next request becomes active').toBe(request(1).id)

    await pressKey(page, 'd')
    await page.keyboard.type('no, and dance')
    await pressKey(page, 'Control+Enter')
    expect(await fixture.answerGivenOnPage(request(1))).toEqual({ kind: 'deny', reason: 'no, and dance' })
    await receipt(page, 'denied by you: no, and dance').waitFor()

    await pressKey(page, 'e')
    const field = cardOf(page, request(2)).getByLabel('(this is what will run)')
    expect(await field.evaluate(it => it === document.activeElement)).toBe(true)
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('return 1')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    const allowEdited = button(cardOf(page, request(2)), 'Allow with edits')
    expect(
      await allowEdited.evaluate(it => it === document.activeElement),
      'Tab reaches the button also while the gateway checks the edit',
    ).toBe(true)
    await expect.poll(() => allowEdited.getAttribute('aria-disabled')).toBe(null)
    await pressKey(page, 'Enter')
    expect(await fixture.answerGivenOnPage(request(2))).toMatchObject({
      kind: 'allow',
      input: { new_string: 'return 1' },
    })
    await receipt(page, 'allowed with changes').waitFor()

    await pressKey(page, '2')
    await expect.poll(() => cardOf(page, request(3)).getByRole('radio', { name: 'Detailed' }).isChecked()).toBe(true)
    await page.keyboard.press('1')
    await expect.poll(() => cardOf(page, request(3)).getByRole('checkbox', { name: 'Linux' }).isChecked()).toBe(true)
    await pressKey(page, 'a')
    expect(await fixture.answerGivenOnPage(request(3))).toMatchObject({
      answers: [
        { id: 'format', chosen: ['Detailed'] },
        { id: 'targets', chosen: ['Linux'] },
      ],
    })
    await receipt(page, 'answered by you').waitFor()

    expect(await active()).toBe(request(4).id)
    await pressKey(page, 'Enter')
    await page.keyboard.type('3.1')
    await expect.poll(() => cardOf(page, request(4)).getByLabel('Version').inputValue()).toBe('3.1')
    await page.keyboard.press('Escape')
    expect(await fixture.isPending(request(4))).toBe(true)
  })

  it('keyboard shortcuts answer no request while the person types into a field', async () => {
    const { page, request } = await openRequests(asks.command('first'), asks.command('second'))
    await page.keyboard.press('j')
    await pressKey(page, 'd')
    await page.keyboard.type('adejkx123?./n gi ')
    await waitForCooldown(page)
    await expect.poll(() => cardOf(page, request(0)).getByRole('textbox').inputValue()).toBe('adejkx123?./n gi ')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await fixture.isPending(request(0))).toBe(true)
    expect(await fixture.isPending(request(1))).toBe(true)
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(`#/inbox/${request(0).id}`)
  })

  it('keyboard shortcuts allow no request while its edit or deny panel is open', async () => {
    const request = await (await fixture.openAsker()).ask(asks.command())
    const page = await fixture.openPage()
    await cardOf(page, request).waitFor()
    await pressKey(page, 'j')
    for (const key of ['e', 'd']) {
      await pressKey(page, key)
      await cardOf(page, request).getByRole('textbox').first().fill('rm -rf build')
      await cardOf(page, request).focus()
      await pressKey(page, 'a')
      await page.getByText('You can’t allow this request with a key right now.').waitFor()
      expect(await fixture.isPending(request)).toBe(true)
      await cardOf(page, request).getByRole('textbox').first().press('Escape')
    }
  })

  it('keyboard shortcuts answer at most one request while a key is held down', async () => {
    const { page, request } = await openRequests(asks.command('first'), asks.command('second'))
    await page.keyboard.press('j')
    await waitForKeyPause(page)
    await page.keyboard.down('a')
    await fixture.answerGivenOnPage(request(0))
    await receipt(page, 'first').waitFor()
    await waitForKeyPause(page)
    await page.keyboard.down('a')
    await page.keyboard.down('a')
    await page.keyboard.up('a')
    expect(await fixture.isPending(request(1))).toBe(true)
  })

  it('keyboard shortcuts select several requests and a range, and deny them together', async () => {
    const { page, request } = await openRequests(
      asks.command('1st'),
      asks.command('2nd'),
      asks.command('3rd'),
      asks.plan(),
    )
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Shift+X')
    await page.getByText('Review 3 requests').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('Plans need individual review.').waitFor()
    await page.getByText('Review 3 requests').waitFor()
    await pressKey(page, 'd')
    await page.keyboard.type('all three')
    await page.locator('.batch-bar .confirm-deny:enabled').waitFor()
    await pressKey(page, 'Enter')
    for (const at of [0, 1, 2])
      expect(await fixture.answerGivenOnPage(request(at))).toEqual({ kind: 'deny', reason: 'all three' })
    expect(await fixture.isPending(request(3))).toBe(true)
  })

  it('Enter on a short request adds no button that collapses it', async () => {
    const request = await (await fixture.openAsker()).ask(asks.command('echo short'))
    const page = await fixture.openPage()
    await pressKey(page, 'j')
    await page.keyboard.press('Enter')
    await button(cardOf(page, request), 'Comment…').waitFor()
    expect(
      await cardOf(page, request)
        .getByText(/Collapse|Show all/)
        .count(),
    ).toBe(0)
  })

  it('keyboard shortcuts are listed in a help dialog, and do nothing on the page while that dialog is open', async () => {
    const { page, request } = await openRequests(asks.command())
    await page.keyboard.press('j')
    await waitForCooldown(page)
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard' })
    await help.getByText('Deny with a reason').waitFor()
    await page.keyboard.press('a')
    expect(await fixture.isPending(request(0))).toBe(true)
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
  })

  it('keyboard shortcuts switch between screens, and find a session by part of its name', async () => {
    const { page, request } = await openRequests(asks.command())
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('api')
    // The first Escape empties the field, the second leaves it.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor()
    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('combobox', { name: 'Go to' }).fill(`ent ${askers}`)
    await page
      .getByRole('dialog')
      .getByRole('option', { name: `agent ${askers}` })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/#\/sessions\/ses_/)
    await cardOf(page, request(0)).waitFor()
    await pressKey(page, 'a')
    expect(await fixture.answerGivenOnPage(request(0))).toEqual({ kind: 'allow' })
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor()
  })

  it('keyboard shortcuts move between the requests of a session and open a card, but answer no card that is not shown', async () => {
    const asker = await fixture.openAsker()
    const requests: Request[] = []
    for (const at of [0, 1, 2, 3, 4]) requests.push(await asker.ask(asks.command(`echo ${at}`)))
    const [first, second] = requests
    if (!first || !second) throw new Error('no requests were opened')
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await cardOf(page, first).waitFor()
    await page.keyboard.press('j')
    await cardOf(page, second).waitFor()
    await expect.poll(() => cardOf(page, second).evaluate(it => it === document.activeElement)).toBe(true)
    expect(await cardOf(page, first).isVisible()).toBe(false)
    await page.keyboard.press('k')
    await cardOf(page, first).waitFor()
    await page.keyboard.press('k')
    await pressKey(page, 'Enter')
    expect(await cardOf(page, first).evaluate(it => it.contains(document.activeElement))).toBe(true)

    await button(page, 'Overview').click()
    await expect.poll(() => cardOf(page, first).isVisible()).toBe(false)
    await pressKey(page, 'a')
    await page.getByText('This request was off screen. Press again to confirm.').waitFor()
    expect(await fixture.isPending(first), 'the key only showed it').toBe(true)
    await cardOf(page, first).waitFor()
    await pressKey(page, 'a')
    await fixture.answerGivenOnPage(first)
    expect(await fixture.isPending(second)).toBe(true)
  })

  it('keyboard shortcuts act on the open card of the inbox, which stays in view while the list is scrolled elsewhere', async () => {
    const { page, request, active } = await openRequests(
      ...Array.from({ length: 40 }, (_, at) => asks.command(`echo ${at}`)),
    )
    await page.keyboard.press('j')
    await page.locator('.inbox-list').evaluate(it => it.scrollTo(0, it.scrollHeight))
    expect(await rowOf(page, request(0)).evaluate(it => it.getBoundingClientRect().bottom < 0)).toBe(true)
    expect(await cardOf(page, request(0)).isVisible()).toBe(true)
    await pressKey(page, 'a')
    expect(await fixture.answerGivenOnPage(request(0))).toEqual({ kind: 'allow' })
    expect(await fixture.isPending(request(1))).toBe(true)
    await expect.poll(active).toBe(request(1).id)
  })

  it('the Tab key reaches every button of a card, and the focus is visible', async () => {
    const { page, request } = await openRequests(asks.command())
    const card = cardOf(page, request(0))
    await card.locator('button.allow:enabled').waitFor()
    const reached = new Set<string>()
    for (let i = 0; i < 40 && reached.size < 4; i++) {
      await page.keyboard.press('Tab')
      const { name, outlined } = await page.evaluate(() => {
        const it = document.activeElement
        const style = it ? getComputedStyle(it) : null
        return {
          name: it instanceof HTMLButtonElement ? it.textContent : '',
          outlined: style?.outlineStyle !== 'none' && style?.outlineWidth !== '0px',
        }
      })
      if (/Allow once|Edit…|Note…|Deny…/.test(name)) {
        expect(outlined, name).toBe(true)
        reached.add(name)
      }
    }
    expect([...reached]).toEqual(['Allow once', 'Edit…', 'Note…', 'Deny…'])
  })
})
