/** The panel of the session screen: pending requests beside the transcript on wide screens, and in a sheet on narrow ones. */
import type { Ask } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, click, pressKey, setUpPageFixture, visibleText } from './page-fixture.ts'

function log(page: Page): Locator {
  return page.getByRole('log', { name: 'Transcript' })
}
function panel(page: Page): Locator {
  return page.getByRole('complementary', { name: 'Requests and overview' })
}
async function boxOf(element: Locator) {
  const box = await element.boundingBox()
  if (!box) throw new Error('The element is not on the screen.')
  return { ...box, right: box.x + box.width, bottom: box.y + box.height }
}
/** Returns the elements around an element that scroll vertically and have something to scroll. */
function scrollersAround(element: Locator): Promise<readonly string[]> {
  return element.evaluate(inner => {
    const found: string[] = []
    for (let at = inner.parentElement; at; at = at.parentElement)
      if (/auto|scroll/.test(getComputedStyle(at).overflowY) && at.scrollHeight > at.clientHeight + 1)
        found.push(at.className)
    return found
  })
}

describe.skipIf(hasNoBrowser())('the panel of the session screen', () => {
  const fixture = setUpPageFixture()
  const yesNo: Ask = {
    kind: 'questions',
    questions: [
      {
        id: 'q',
        header: 'Guide',
        question: 'Should the old guide redirect?',
        options: [{ label: 'Yes' }, { label: 'No' }],
        multiSelect: false,
        allowOther: false,
        secret: false,
      },
    ],
  }
  const long = Array.from({ length: 200 }, (_, i) => `echo "line ${i} of a long command"`).join('\n')

  async function openSession(id: string, options: OpenOptions = {}): Promise<Page> {
    const page = await fixture.openPage(options)
    await page.goto(`${fixture.gateway.url}/#/sessions/${id}`)
    await page.locator('.session-header').waitFor()
    return page
  }
  async function openAgent() {
    const agent = await fixture.openAsker()
    const items = Array.from({ length: 60 }, (_, i) => ({
      type: 'message.added' as const,
      block: `b${i}`,
      text: `Message ${i} of the agent.`,
    }))
    await fixture.gateway.call('appendEvents', { id: agent.session.id, items })
    return agent
  }

  it.each([1440, 1024])(
    'the panel of the session screen is beside the transcript on a screen of %i pixels, and the composer is not below the card',
    async width => {
      const agent = await openAgent()
      const request = await agent.ask(asks.questions())
      const page = await openSession(agent.session.id, { viewport: { width, height: width === 1440 ? 900 : 768 } })
      const card = await boxOf(cardOf(page, request))
      const transcript = await boxOf(log(page))
      expect(transcript.right).toBeLessThanOrEqual(card.x)
      expect(transcript.height).toBeGreaterThan(350)
      expect(transcript.width).toBeGreaterThan(350)
      const composer = await boxOf(page.getByRole('textbox', { name: 'Message to the agent' }))
      expect(composer.right).toBeLessThanOrEqual(card.x)
    },
  )

  it('the panel of the session screen keeps the buttons of a long request in view without nested scroll areas', async () => {
    const agent = await openAgent()
    const request = await agent.ask(asks.command(long))
    for (const options of [{}, phone]) {
      const page = await openSession(agent.session.id, options)
      const card = cardOf(page, request)
      await card.waitFor()
      expect(await scrollersAround(card.locator('.scroll-end').first())).toHaveLength(1)
      const deny = await boxOf(button(card, 'Deny…'))
      expect(deny.bottom).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0)
      // The end of the command was seen, so the request can be allowed.
      await card.locator('.card-body').evaluate(it => it.scrollTo(0, it.scrollHeight))
      await card.locator('button.allow:enabled').waitFor()
    }
  })

  it('on a phone, the panel of the session screen is a sheet that hides the composer while it is open, and a person can lower it', async () => {
    const agent = await openAgent()
    const request = await agent.ask(asks.questions())
    const page = await openSession(agent.session.id, phone)
    const composer = page.getByRole('textbox', { name: 'Message to the agent' })
    await cardOf(page, request).waitFor()
    expect((await boxOf(log(page))).height).toBeGreaterThan(110)
    expect(await composer.isVisible()).toBe(false)
    // The open sheet covers the navigation, so the header has a way back.
    await expect.poll(() => page.getByRole('navigation').filter({ visible: true }).count()).toBe(0)
    await page.getByRole('link', { name: 'All sessions' }).tap()
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    await page.goBack()
    await cardOf(page, request).waitFor()
    await button(panel(page), 'Lower').tap()
    await expect.poll(() => cardOf(page, request).isVisible()).toBe(false)
    expect(await composer.isVisible()).toBe(true)
    expect((await boxOf(log(page))).height).toBeGreaterThan(400)
    await panel(page).getByRole('button', { name: 'Waiting for you 1' }).tap()
    await cardOf(page, request).waitFor()
    // Dragging the bar down lowers the sheet too.
    const bar = await boxOf(panel(page).locator('.panel-bar'))
    await page.mouse.move(bar.x + bar.width / 2, bar.y + 10)
    await page.mouse.down()
    await page.mouse.move(bar.x + bar.width / 2, bar.y + 90, { steps: 4 })
    await page.mouse.up()
    await expect.poll(() => cardOf(page, request).isVisible()).toBe(false)
    // A new request raises the sheet, but never over a message that the person is writing.
    const second = await agent.ask(asks.command('echo second'))
    await panel(page).getByRole('button', { name: 'Waiting for you 2', pressed: true }).waitFor()
    await button(panel(page), 'Lower').tap()
    await composer.fill('I am writing')
    await fixture.answer(second)
    await agent.ask(asks.command('echo third'))
    await panel(page).getByRole('button', { name: 'Waiting for you 2' }).waitFor()
    expect(await composer.isVisible()).toBe(true)
    expect(await composer.inputValue()).toBe('I am writing')
  })

  it('on a phone, what led to a request can be read above the sheet, and the header of the session is low', async () => {
    const agent = await openAgent()
    const requests = []
    for (let at = 0; at < 5; at++) requests.push(await agent.ask(asks.command(`${long}\necho ${at}`)))
    const page = await openSession(agent.session.id, phone)
    const [first] = requests
    if (!first) throw new Error('no requests were opened')
    await cardOf(page, first).waitFor()
    const transcript = await boxOf(log(page))
    expect((await boxOf(page.locator('.session-facts'))).bottom).toBeLessThan(80)
    expect(transcript.height).toBeGreaterThan(844 * 0.17)
    // The last message is in view, because the sheet shows the requests that came after it.
    const message = await boxOf(log(page).getByText('Message 59 of the agent.'))
    expect(message.y).toBeGreaterThanOrEqual(transcript.y)
    expect(message.bottom).toBeLessThanOrEqual(transcript.bottom)
    // Nothing in the header is cut or out of view.
    const facts = page.locator('.session-facts')
    expect(await facts.evaluate(it => it.scrollWidth - it.clientWidth)).toBeLessThanOrEqual(0)
    // The transcript lists the requests once the sheet is lowered.
    await button(panel(page), 'Lower').tap()
    await log(page).locator('.request-line').first().waitFor()
    expect(await log(page).locator('.request-line').count()).toBeGreaterThan(1)
  })

  it('on a small phone, the sheet of the session screen shows the buttons of a dangerous request and lines of its command without scrolling', async () => {
    const agent = await openAgent()
    const request = await agent.ask(asks.command('rm -rf /var/lib/app/releases/* && git clean -xfd'), {
      deadlineMs: 600_000,
    })
    await agent.ask(asks.command('echo second'))
    const page = await openSession(agent.session.id, { ...phone, viewport: { width: 360, height: 640 } })
    const card = cardOf(page, request)
    await card.waitFor()
    expect((await boxOf(button(card, 'Deny…'))).bottom).toBeLessThanOrEqual(640)
    expect((await boxOf(card.locator('.card-body'))).height).toBeGreaterThan(60)
    const tabs = await Promise.all(['Waiting for you 2', 'Lower'].map(name => boxOf(button(panel(page), name))))
    expect(tabs[0]?.height, 'no tab takes two lines').toBe(tabs[1]?.height)
  })

  it('on a phone, the header of a session shows nothing cut, its settings are in the overview, and the message field has one line with its buttons', async () => {
    const agent = await openAgent()
    await fixture.gateway.call('patchSession', { id: agent.session.id, model: 'the-large-one' })
    const page = await openSession(agent.session.id, phone)
    const facts = page.locator('.session-facts')
    expect(await facts.evaluate(it => it.scrollWidth - it.clientWidth)).toBeLessThanOrEqual(0)
    expect((await boxOf(facts)).bottom).toBeLessThan(80)
    const field = await boxOf(page.getByRole('textbox', { name: 'Message to the agent' }))
    const send = await boxOf(button(page, 'Send'))
    expect(Math.abs(field.bottom - send.bottom)).toBeLessThan(2)
    await button(panel(page), 'Overview').tap()
    const overview = page.getByRole('region', { name: 'Overview' })
    expect(await overview.getByLabel('Model').inputValue()).toBe('the-large-one')
    expect(await visibleText(overview.locator('.overview-facts'))).toContain('Agent')
  })

  it('the transcript stays at its end while the card beside or over the transcript grows', async () => {
    const agent = await openAgent()
    const request = await agent.ask(asks.plan())
    for (const options of [{}, phone]) {
      const page = await openSession(agent.session.id, options)
      const card = cardOf(page, request)
      const fromEnd = () => log(page).evaluate(it => it.scrollHeight - it.scrollTop - it.clientHeight)
      await expect.poll(fromEnd).toBeLessThan(40)
      for (const name of ['View source', 'View formatted', 'Note…']) {
        await button(card, name).click()
        await expect.poll(fromEnd).toBeLessThan(40)
      }
      await button(card, 'Back').click()
    }
  })

  it('the panel of the session screen puts the two buttons of a question without a Send button in one line on a phone', async () => {
    const agent = await openAgent()
    const request = await agent.ask(yesNo)
    const card = cardOf(await openSession(agent.session.id, phone), request)
    const [decline, askBack] = [await boxOf(button(card, 'Decline…')), await boxOf(button(card, 'Ask back…'))]
    expect(decline.y).toBe(askBack.y)
    expect(decline.right).toBeLessThan(askBack.x)
  })

  it.each([
    ['a phone', phone],
    ['a wide screen', {}],
  ] as const)(
    'the panel of the session screen on %s puts “Decline…”, “Ask back…” and “Send answers” in one line, the two that send nothing first',
    async (_, options) => {
      const agent = await openAgent()
      const request = await agent.ask(asks.questions())
      const card = cardOf(await openSession(agent.session.id, options), request)
      const buttons = ['Decline…', 'Ask back…', 'Send answers'].map(name => button(card, name))
      const [decline, askBack, send] = await Promise.all(buttons.map(boxOf))
      if (!decline || !askBack || !send) throw new Error('The card does not have all three buttons.')
      expect([askBack.y, send.y]).toEqual([decline.y, decline.y])
      expect([askBack.height, send.height]).toEqual([decline.height, decline.height])
      expect(decline.right).toBeLessThan(askBack.x)
      expect(askBack.right + 16, 'the button that sends is apart').toBeLessThan(send.x)
    },
  )

  it('the panel of the session screen lists several requests in rows, shows one card, and continues with the next after an answer', async () => {
    const agent = await openAgent()
    const first = await agent.ask(asks.command('echo first'))
    const second = await agent.ask(asks.command('echo second'))
    const page = await openSession(agent.session.id)
    await cardOf(page, first).waitFor()
    expect(await cardOf(page, second).count()).toBe(0)
    // A row starts with what is asked, not with its kind.
    expect(await visibleText(panel(page).locator('.pending-row').first())).toMatch(
      /^echo first\s+Notable:\s+not proven to be harmless$/,
    )
    expect(await visibleText(log(page).locator('.request-line-summary').first())).toBe('echo first')
    await panel(page)
      .getByRole('list', { name: 'Pending requests' })
      .getByRole('button', { name: /echo second/ })
      .click()
    await cardOf(page, second).waitFor()
    await page
      .getByRole('log')
      .getByRole('button', { name: /echo first/ })
      .click()
    await cardOf(page, first).waitFor()
    await click(page, button(cardOf(page, first), 'Allow once'))
    expect(await fixture.answerGivenOnPage(first)).toEqual({ kind: 'allow' })
    await cardOf(page, second).waitFor()
    await pressKey(page, 'a')
    expect(await fixture.answerGivenOnPage(second)).toEqual({ kind: 'allow' })
  })

  it('the panel of the session screen keeps an overview that a person opened when a request arrives, and no key answers the hidden card', async () => {
    const agent = await openAgent()
    const page = await openSession(agent.session.id)
    await pressKey(page, 'o')
    await panel(page).getByRole('button', { name: 'Overview', pressed: true }).waitFor()
    await panel(page).getByRole('button', { name: 'Overview' }).click()
    const request = await agent.ask(asks.command())
    await panel(page).getByRole('button', { name: 'Waiting for you 1', pressed: false }).waitFor()
    expect(await cardOf(page, request).isVisible()).toBe(false)
    await pressKey(page, 'a')
    await page.getByText('This request was off screen. Press again to confirm.').waitFor()
    expect(await fixture.isPending(request)).toBe(true)
    await cardOf(page, request).waitFor()
    await pressKey(page, 'a')
    await fixture.answerGivenOnPage(request)
  })
})
