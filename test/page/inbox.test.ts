import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  click,
  openCard,
  pressKey,
  receipt,
  rowOf,
  select,
  setUpPageFixture,
  visibleText,
} from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('the inbox', () => {
  const fixture = setUpPageFixture()

  it('the inbox says when it is empty and how many agents are working, and shows the pending count in the page title and tab icon', async () => {
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

  it('the inbox shows requests of every session, the oldest of equal urgency first, with session, folder and agent path', async () => {
    const docs = await fixture.openAsker('docs', '/src/docs')
    const api = await fixture.openAsker('api', '/src/api')
    const asked = await docs.ask(asks.questions())
    const command = await api.ask(asks.command(), { agentPath: ['reviewer', 'test-writer'] })
    const page = await fixture.openPage()
    const rows = page.locator('ol.requests > li')
    await rows.nth(1).waitFor()
    expect(await visibleText(rows.nth(0))).toMatch(
      /How should the output look[\s\S]*2 questions[\s\S]*docs[\s\S]*\/src\/docs/,
    )
    expect(await visibleText(rows.nth(1))).toMatch(/npm run migrate[\s\S]*Notable[\s\S]*api[\s\S]*\/src\/api/)
    const questions = cardOf(page, asked)
    expect(await visibleText(questions.locator('.card-header')), 'the most urgent request is open').toContain('docs')
    expect(await visibleText(questions)).toContain('/src/docs')
    const card = await openCard(page, command)
    expect(await questions.isVisible()).toBe(false)
    expect(await visibleText(card.locator('.card-header'))).toMatch(/api[\s\S]*reviewer[\s\S]*test-writer/)
  })

  it('the inbox gives each agent in a path its own background, so that one name cannot look like two names', async () => {
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

  it('the inbox ignores a dropped file instead of navigating to it', async () => {
    const page = await fixture.openPage()
    const prevented = await page.locator('main').evaluate(place => {
      const data = new DataTransfer()
      data.items.add(new File(['x'], 'x.txt'))
      const init = { bubbles: true, cancelable: true, dataTransfer: data }
      return ['dragover', 'drop'].every(type => !place.dispatchEvent(new DragEvent(type, init)))
    })
    expect(prevented).toBe(true)
  })

  it('the inbox adds new requests at the end, even urgent ones, and announces new requests below the screen, without moving a row or the open card', async () => {
    const page = await fixture.openPage({ viewport: { width: 1024, height: 600 } })
    const asker = await fixture.openAsker()
    const first = await asker.ask(asks.command('first'))
    const allow = button(cardOf(page, first), 'Allow once')
    await allow.hover()
    const places = async () => [await allow.boundingBox(), await rowOf(page, first).boundingBox()]
    const before = await places()
    for (let at = 0; at < 14; at++) await asker.ask(asks.command(`echo ${at}`))
    const urgent = await asker.ask(asks.dangerous(), { deadlineMs: 600_000 })
    const more = page.getByRole('button', { name: /^\d new/ })
    await more.waitFor()
    await rowOf(page, urgent).waitFor({ state: 'attached' })
    expect(await places()).toEqual(before)
    await page.getByRole('heading', { name: '16 requests waiting' }).waitFor()
    await more.click()
    await page.waitForFunction(() => document.activeElement?.matches('li[data-request]'))
  })

  it('the inbox lists requests with the nearest deadline first, then dangerous ones, then the oldest', async () => {
    const asker = await fixture.openAsker()
    const old = await asker.ask(asks.command('npm run old'))
    const young = await asker.ask(asks.command('npm run young'))
    const dangerous = await asker.ask(asks.dangerous())
    const late = await asker.ask(asks.command('npm run late'), { deadlineMs: 3_000_000 })
    const soon = await asker.ask(asks.command('npm run soon'), { deadlineMs: 300_000 })
    const page = await fixture.openPage()
    await rowOf(page, soon).waitFor()
    const listed = await page
      .locator('ol.requests > li')
      .evaluateAll(all => all.map(it => it.getAttribute('data-request')))
    expect(listed).toEqual([soon, late, dangerous, old, young].map(({ id }) => id))
    expect(await visibleText(rowOf(page, soon))).toMatch(/[45]:\d\d left/)
    expect(await visibleText(rowOf(page, dangerous))).toContain('Dangerous')
  })

  it('the inbox shows twenty rows on a laptop, beside the open request', async () => {
    const asker = await fixture.openAsker()
    const requests = []
    for (let at = 0; at < 24; at++) requests.push(await asker.ask(asks.command(`echo ${at}`)))
    const page = await fixture.openPage()
    await page.locator('article').waitFor()
    const rows = page.locator('ol.requests > li')
    await expect.poll(() => rows.count()).toBe(24)
    const bottoms = await rows.evaluateAll(all => all.map(it => it.getBoundingClientRect().bottom))
    expect(bottoms.filter(bottom => bottom <= 900).length).toBeGreaterThanOrEqual(20)
  })

  it('the inbox keeps a resolved request in its place for a moment, and then moves it to “Recently answered”', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const requests = [await asker.ask(asks.command('1st')), await asker.ask(asks.command('2nd'))]
    const [first, second] = requests
    if (!first || !second) throw new Error('no requests were opened')
    await rowOf(page, second).waitFor()
    await fixture.answer(first)
    const line = page.locator('ol.requests details.receipt', { hasText: '1st' })
    await line.waitFor()
    expect(await page.locator('ol.requests > li').first().getAttribute('data-request')).toBe(first.id)
    await page.locator('section.just-resolved', { hasText: '1st' }).waitFor()
    await expect.poll(() => page.locator('ol.requests > li').count()).toBe(1)
  })

  it('the inbox ignores keys while cards move because a receipt above them disappears', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const [first, second] = [await asker.ask(asks.command('1st')), await asker.ask(asks.command('2nd'))]
    await rowOf(page, second).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await cardOf(page, second).waitFor()
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

  it('the inbox answers several requests at once, and names the request whose answer failed', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const requests = []
    for (const name of ['one', 'two', 'three']) requests.push(await asker.ask(asks.command(name)))
    const alone = await asker.ask(asks.dangerous())
    for (const request of requests) await select(page, request)
    expect(await rowOf(page, alone).getByRole('checkbox').count()).toBe(0)
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

  it('the inbox denies several requests with one reason', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const requests = [await asker.ask(asks.command('one')), await asker.ask(asks.fields())]
    for (const request of requests) await select(page, request)
    await button(page, 'Deny 2…').click()
    await page.keyboard.type('stop that')
    await page.locator('.batch-bar .confirm-deny:enabled').waitFor()
    await pressKey(page, 'Enter')
    for (const request of requests)
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'stop that' })
  })

  it('the inbox opens the request in the URL', async () => {
    const asker = await fixture.openAsker()
    const requests = []
    for (const ask of [asks.edit(), asks.questions(), asks.form(), asks.write()]) requests.push(await asker.ask(ask))
    const last = requests.at(-1)
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/inbox/${last?.id}`)
    const item = page.locator(`li[data-request="${last?.id}"]`)
    await page.waitForFunction(id => document.activeElement?.getAttribute('data-request') === id, last?.id)
    expect(await item.evaluate(it => it.getBoundingClientRect().top < innerHeight)).toBe(true)
    await page.locator(`article[id$="${last?.id}"]`).waitFor()
  })

  it('the URL names the request that the person opened, so that a reload, another screen and the back button return to it', async () => {
    const asker = await fixture.openAsker()
    const [first, second] = [await asker.ask(asks.command('echo first')), await asker.ask(asks.command('echo second'))]
    const page = await fixture.openPage()
    const hash = () => page.evaluate(() => location.hash)
    await cardOf(page, first).waitFor()
    await rowOf(page, second).getByRole('link').click()
    await cardOf(page, second).waitFor()
    await expect.poll(hash).toBe(`#/inbox/${second.id}`)
    await page.reload()
    await cardOf(page, second).waitFor()
    expect(await cardOf(page, first).isVisible()).toBe(false)
    await page.getByRole('link', { name: 'Sessions' }).first().click()
    await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor()
    await page.goBack()
    await cardOf(page, second).waitFor()
    await pressKey(page, 'k')
    await expect.poll(hash).toBe(`#/inbox/${first.id}`)
    await pressKey(page, 'Escape')
    await expect.poll(hash).toBe('#/')
    await fixture.answer(second)
    await page.goto(`${fixture.gateway.url}/#/inbox/${second.id}`)
    await page.getByText('That request is no longer pending.').waitFor()
    await expect.poll(hash).toBe('#/')
  })

  it('the inbox makes every button and field of a card at least 44 px high on a phone', async () => {
    const page = await fixture.openPage(phone)
    const request = await (await fixture.openAsker()).ask(asks.suggested())
    const row = rowOf(page, request)
    await row.waitFor()
    for (const target of [row.getByRole('link'), row.locator('.select')])
      expect((await target.boundingBox())?.height, String(target)).toBeGreaterThanOrEqual(44)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    await openCard(page, request)
    const heights = await page
      .locator('.inbox-detail')
      .getByRole('button')
      .evaluateAll(all => all.map(it => [it.textContent, Math.round(it.getBoundingClientRect().height)] as const))
    expect(heights.filter(([, height]) => height < 44)).toEqual([])
    const session = await cardOf(page, request).locator('.asker-session').boundingBox()
    expect(session?.height).toBeGreaterThanOrEqual(44)
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  })

  it('the inbox follows the system’s color scheme or a chosen theme, and remembers the choice', async () => {
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
