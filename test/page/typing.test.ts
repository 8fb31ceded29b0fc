/** G12 in a real browser: texts that a person types while requests appear decide nothing. `packages/web/test/typing.test.ts` checks thousands of texts without a browser. */
import type { Ask, Request } from '@holdpoint/protocol'
import fc from 'fast-check'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  holdClock,
  installClock,
  pressKey,
  setUpPageFixture,
  waitForCooldown,
  waitWithClock,
} from './page-fixture.ts'

interface TypedText {
  readonly text: string
  readonly gapsMs: readonly number[]
  readonly ask: Ask
  /** The number of keys before the request appears; 0 if it is on the screen before the text begins. */
  readonly askedAfter: number
  /** The element that has the focus when the text begins. */
  readonly focus: 'page' | 'allow button'
}
const texts = ['data', 'are a', 'do it\n', 'aa', 'edit a', 'i am a', 'dad\n', 'ja', 'x a', 'add a', 'ok a', '1a\n']
const typedText = fc
  .record({
    text: fc.constantFrom(...texts),
    gapsMs: fc.array(fc.integer({ min: 30, max: 600 }), { minLength: 8, maxLength: 8 }),
    ask: fc.constantFrom(asks.command(), asks.command('rm -rf build'), asks.dangerous(), asks.questions()),
    place: fc.nat(99),
    focus: fc.constantFrom<TypedText['focus']>('page', 'allow button'),
  })
  .map(({ place, ...one }): TypedText => ({ ...one, askedAfter: place % one.text.length }))

describe.skipIf(hasNoBrowser())('text typed on the page while requests appear', () => {
  const fixture = setUpPageFixture()

  it('text typed on the page while requests appear answers no request (20 texts)', async () => {
    const asker = await fixture.openAsker()
    const page = await fixture.openPage({ before: installClock })
    // On the screen of a session, keys act on the first card.
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await page.getByRole('log', { name: 'Transcript' }).waitFor()
    const runFor = await holdClock(page)
    for (const { text, gapsMs, ask, askedAfter, focus } of fc.sample(typedText, 20)) {
      let request: Request | null = null
      const open = async () => {
        request = await asker.ask(ask)
        return waitWithClock(page, cardOf(page, request))
      }
      if (askedAfter === 0) await open()
      const answer = page.locator('article button:is(.allow, .answer-button)').first()
      if (request && focus === 'allow button') await answer.focus()
      await runFor(2000)
      for (const [index, char] of [...text].entries()) {
        await page.keyboard.press(char === '\n' ? 'Enter' : char === ' ' ? 'Space' : char)
        const spentMs = index + 1 === askedAfter ? await open() : 0
        await runFor(Math.max(0, (gapsMs[index] ?? 0) - spentMs))
      }
      await runFor(2000)
      const { id, status } = await fixture.gateway.call('getRequest', { id: (request as unknown as Request).id }) // `open` has set it
      expect(status, JSON.stringify({ text, gapsMs, ask, askedAfter, focus })).toBe('pending')
      await fixture.gateway.call('withdrawRequest', { id })
      await waitWithClock(page, page.locator('body:not(:has(article.card))'))
    }
  })

  it('a single key that is not part of typed text answers a request on the page, and the button shows that first', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    const request = await asker.ask(asks.command())
    await cardOf(page, request).waitFor()
    await pressKey(page, 'a')
    await cardOf(page, request).locator('button.key-held', { hasText: 'Allow once' }).waitFor()
    expect(await fixture.isPending(request)).toBe(true)
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
  })

  it.each([
    ['another key', 'because another key followed', (page: Page) => page.keyboard.press('h')],
    ['a click elsewhere', 'because you clicked or tapped', (page: Page) => page.mouse.click(700, 500)],
    [
      'leaving the window',
      'because you left the page',
      (page: Page) => page.evaluate(() => dispatchEvent(new Event('blur'))),
    ],
  ])('a key that answers a request on the page is dropped by %s', async (_, toast, interrupt) => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    const request = await asker.ask(asks.command())
    await button(cardOf(page, request), 'Allow once').waitFor()
    await pressKey(page, 'a')
    await interrupt(page)
    await page.getByText(toast).waitFor()
    await fixture.gateway.call('getRequest', { id: request.id, wait: 1000 })
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('text typed on the page while requests appear does not change the mode of a session while its select has the focus', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const request = await asker.ask({ ...asks.plan(), modes: ['acceptEdits', 'bypassPermissions', 'default'] } as Ask) // a plan is an approval, which may have `modes`
    const select = cardOf(page, request).getByLabel('After approval')
    await select.focus()
    await waitForCooldown(page)
    await page.keyboard.type('by default', { delay: 40 })
    await page.keyboard.press('Enter')
    expect(await select.inputValue()).toBe('')
    await page.keyboard.press('ArrowDown')
    expect(await select.inputValue()).toBe('acceptEdits')
  })
})
