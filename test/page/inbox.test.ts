import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, click, pressKey, receipt, setUpPageFixture, visibleText } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('the inbox', () => {
  const fixture = setUpPageFixture()

  it('says when it is empty and how many agents are working, and shows the pending count in the page title and tab icon', async () => {
    const page = await fixture.openPage()
    const icon = page.locator('link[rel="icon"]')
    const asker = await fixture.openAsker()
    await page.getByRole('heading', { name: 'You’re all caught up.' }).waitFor()
    await fixture.gateway.call('appendEvents', {
      id: asker.session.id,
      items: [{ type: 'message.added', block: 'b', text: 'Let me see.' }],
    })
    await page.getByText('1 agent is working.').waitFor()
    await expect.poll(() => page.title()).toBe('Holdpoint')
    expect(await icon.getAttribute('href')).toBe('/favicon.svg')
    const request = await asker.ask(asks.command())
    await page.getByRole('heading', { name: '1 request waiting' }).waitFor()
    await expect.poll(() => page.title()).toBe('(1) Holdpoint')
    await page.locator('link[rel="icon"][href^="data:image/png"]').waitFor({ state: 'attached' })
    await fixture.answer(request)
    await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor()
    await expect.poll(() => page.title()).toBe('Holdpoint')
    await page.locator('link[rel="icon"][href="/favicon.svg"]').waitFor({ state: 'attached' })
  })

  it('shows requests of every session, the oldest of equal urgency first, with session, folder and agent path', async () => {
    const docs = await fixture.openAsker('docs', '/src/docs')
    const api = await fixture.openAsker('api', '/src/api')
    await docs.ask(asks.questions())
    await api.ask(asks.command(), { agentPath: ['reviewer', 'test-writer'] })
    const page = await fixture.openPage()
    const cards = page.locator('article')
    await cards.nth(1).waitFor()
    expect(await visibleText(cards.nth(0).locator('.card-header'))).toContain('docs')
    expect(await visibleText(cards.nth(0))).toContain('/src/docs')
    expect(await visibleText(cards.nth(1).locator('.card-header'))).toMatch(/api[\s\S]*reviewer[\s\S]*test-writer/)
  })

  it('gives each agent in a path its own background, so that one name cannot look like two', async () => {
    const asker = await fixture.openAsker()
    await asker.ask(asks.command(), { agentPath: ['sub ⟶ fake', 'real'] })
    const page = await fixture.openPage()
    const names = page.locator('article .agent-name')
    await names.first().waitFor()
    expect(await names.allTextContents()).toEqual(['sub ⟶ fake', 'real'])
    const background = (at: number) => names.nth(at).evaluate(it => getComputedStyle(it).backgroundColor)
    const around = await page.locator('article .agent-path').evaluate(it => getComputedStyle(it).backgroundColor)
    for (const at of [0, 1]) expect(await background(at)).not.toBe(around)
  })

  it('ignores a dropped file instead of navigating to it', async () => {
    const page = await fixture.openPage()
    const prevented = await page.locator('main').evaluate(place => {
      const data = new DataTransfer()
      data.items.add(new File(['x'], 'x.txt'))
      const init = { bubbles: true, cancelable: true, dataTransfer: data }
      return ['dragover', 'drop'].every(type => !place.dispatchEvent(new DragEvent(type, init)))
    })
    expect(prevented).toBe(true)
  })

  it('adds new requests at the end and announces them, without moving the card under the pointer', async () => {
    const page = await fixture.openPage({ viewport: { width: 1024, height: 600 } })
    const asker = await fixture.openAsker()
    const first = await asker.ask(asks.command('first'))
    const allow = button(cardOf(page, first), 'Allow once')
    await allow.hover()
    const before = await allow.boundingBox()
    const others = [asks.edit(), asks.questions(), asks.form(), asks.write()]
    for (const ask of others) await asker.ask(ask)
    const more = page.getByRole('button', { name: /^\d more/ })
    await more.waitFor()
    expect(await allow.boundingBox()).toEqual(before)
    await more.click()
    await page.getByRole('heading', { name: '5 requests waiting' }).waitFor()
  })

  it('keeps a resolved request in its place for a moment, and then moves it to “Recently answered”', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const requests = [await asker.ask(asks.command('1st')), await asker.ask(asks.command('2nd'))]
    const [first, second] = requests
    if (!first || !second) throw new Error('no requests were opened')
    await cardOf(page, second).waitFor()
    await fixture.answer(first)
    const line = page.locator('ol.requests details.receipt', { hasText: '1st' })
    await line.waitFor()
    expect(await page.locator('ol.requests > li').first().getAttribute('data-request')).toBe(first.id)
    await page.locator('section.just-resolved', { hasText: '1st' }).waitFor()
    await expect.poll(() => page.locator('ol.requests > li').count()).toBe(1)
  })

  it('ignores keys while cards move because a receipt above them disappears', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const [first, second] = [await asker.ask(asks.command('1st')), await asker.ask(asks.command('2nd'))]
    await cardOf(page, second).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await fixture.answer(first)
    await page.locator('ol.requests details.receipt', { hasText: '1st' }).waitFor()
    // Press the key in the frame in which the receipt starts to disappear.
    await page.waitForFunction(() => {
      const moves = document.querySelector('ol.requests > li')?.getAnimations() ?? []
      const disappears = moves.some(({ effect }) => (effect as KeyframeEffect).getKeyframes().at(-1)?.opacity === '0') // the page animates only with keyframes
      if (disappears) document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))
      return disappears
    })
    await page.getByText('The list just changed.').waitFor()
    expect(await fixture.isPending(second)).toBe(true)
  })

  it('answers several requests at once, and names the request whose answer failed', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const requests = []
    for (const name of ['one', 'two', 'three']) requests.push(await asker.ask(asks.command(name)))
    const alone = await asker.ask(asks.dangerous())
    for (const request of requests) await cardOf(page, request).getByRole('checkbox').check()
    expect(await cardOf(page, alone).getByRole('checkbox').count()).toBe(0)
    const [, two] = requests
    if (!two) throw new Error('no requests were opened')
    // Someone else answers the second request while the answers are being sent.
    await page.route('**/requests/answer', async route => {
      await fixture.answer(two, { kind: 'deny', reason: 'not this one' })
      await route.continue()
    })
    await click(page, button(page, 'Allow 3 once'))
    await page.getByText('2 answered, 1 failed').waitFor()
    expect(await visibleText(page.locator('.batch-outcome'))).toContain('two')
    const answers = []
    for (const request of requests) answers.push((await fixture.waitUntilResolved(request)).resolution?.answer?.kind)
    expect(answers).toEqual(['allow', 'deny', 'allow'])
    expect(await fixture.isPending(alone)).toBe(true)
    await receipt(page, 'one', 'allowed by you').waitFor()
    await receipt(page, 'two', 'denied by you').waitFor()
  })

  it('denies several requests with one reason', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const requests = [await asker.ask(asks.command('one')), await asker.ask(asks.fields())]
    for (const request of requests) await cardOf(page, request).getByRole('checkbox').check()
    await button(page, 'Deny 2…').click()
    await page.keyboard.type('stop that')
    await page.locator('.batch-bar .confirm-deny:enabled').waitFor()
    await pressKey(page, 'Enter')
    for (const request of requests)
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'stop that' })
  })

  it('scrolls to the request in the URL', async () => {
    const asker = await fixture.openAsker()
    const requests = []
    for (const ask of [asks.edit(), asks.questions(), asks.form(), asks.write()]) requests.push(await asker.ask(ask))
    const last = requests.at(-1)
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/inbox/${last?.id}`)
    const item = page.locator(`li[data-request="${last?.id}"]`)
    await page.waitForFunction(id => document.activeElement?.getAttribute('data-request') === id, last?.id)
    expect(await item.evaluate(it => it.getBoundingClientRect().top < innerHeight)).toBe(true)
  })

  it('makes every button and field of a card at least 44 px high on a phone', async () => {
    const page = await fixture.openPage(phone)
    const request = await (await fixture.openAsker()).ask(asks.suggested())
    await cardOf(page, request).waitFor()
    const heights = await cardOf(page, request)
      .getByRole('button')
      .evaluateAll(all => all.map(it => [it.textContent, Math.round(it.getBoundingClientRect().height)] as const))
    expect(heights.filter(([, height]) => height < 44)).toEqual([])
    for (const target of ['.asker-session', '.select'])
      expect(
        await cardOf(page, request)
          .locator(target)
          .evaluate(it => it.getBoundingClientRect().height),
        target,
      ).toBeGreaterThanOrEqual(44)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  })

  it('follows the system’s color scheme or a chosen theme, and remembers the choice', async () => {
    const page = await fixture.openPage({ colorScheme: 'light' })
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const light = await background()
    await page.emulateMedia({ colorScheme: 'dark' })
    const dark = await background()
    expect(dark).not.toBe(light)
    await page.getByRole('button', { name: /^Theme: system/ }).click()
    expect(await background()).toBe(light)
    // The color of the browser's toolbar follows the theme. Browsers accept only simple color formats there.
    await page.locator('meta[name="theme-color"][content^="rgb("]').first().waitFor({ state: 'attached' })
    await page.reload()
    await page.getByRole('button', { name: /^Theme: light/ }).waitFor()
    expect(await background()).toBe(light)
  })
})
