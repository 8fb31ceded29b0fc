import type { Ask } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  openCard,
  pressKey,
  rowOf,
  setUpPageFixture,
  visibleText,
  waitForCooldown,
} from './page-fixture.ts'

const small = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true } as const
const longPath = `/home/ana/${'customers/with-a-long-name/'.repeat(4)}billing/packages/api`
const longTitle = 'Find out why the nightly build fails on its second attempt. '.repeat(5)

/** Returns the elements that extend beyond the right edge of the screen, except visually hidden ones. An element inside a scrolling or clipping element counts only if it starts within 8 px of the edge or beyond it. */
function overflowingElements(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isCut = (element: Element | null): boolean =>
      element !== null && (getComputedStyle(element).overflowX !== 'visible' || isCut(element.parentElement))
    return [...document.querySelectorAll('#page *')]
      .filter(it => it.getBoundingClientRect().right > innerWidth + 1 && !it.closest('.visually-hidden'))
      .filter(it => it.getBoundingClientRect().left >= innerWidth - 8 || !isCut(it.parentElement))
      .map(it => `${it.tagName} ${it.className}`)
  })
}

describe.skipIf(hasNoBrowser())('the appearance of the page', () => {
  const fixture = setUpPageFixture()

  it('a card’s header fits on one line however long the names are, and the last folders of the path stay visible', async () => {
    const asker = await fixture.openAsker(longTitle, longPath)
    const request = await asker.ask({ ...asks.command(), cwd: longPath } as Ask, { agentPath: ['test-writer'] }) // a copy of an approval with other fields is still an approval
    for (const [options, linesMax] of [
      [{}, 1],
      [phone, 3],
      [small, 3],
    ] as const) {
      const page = await fixture.openPage(options)
      await rowOf(page, request).waitFor()
      expect(await overflowingElements(page)).toEqual([])
      const head = (await openCard(page, request)).locator('.card-header')
      const { height } = (await head.boundingBox()) ?? { height: 0 }
      expect(height).toBeLessThan(linesMax * 22 + 8)
      const tail = head.locator('.path-tail')
      expect(await tail.evaluate(it => it.scrollWidth <= it.clientWidth)).toBe(true)
      expect(await visibleText(tail)).toBe('packages/api')
      expect(await head.locator('.path-line').getAttribute('title')).toBe(longPath)
      expect(await visibleText(cardOf(page, request).locator('.card-body'))).toContain(longPath)
      expect(await overflowingElements(page)).toEqual([])
    }
  })

  it('a card has a shadow at its bottom edge while there is more content below', async () => {
    const request = await (await fixture.openAsker()).ask(asks.form())
    const page = await fixture.openPage({ ...phone, viewport: { width: 390, height: 640 } })
    const body = (await openCard(page, request)).locator('.card-body')
    await body.waitFor()
    // Sample a pixel next to the text, where only the shadow is drawn.
    const edge = async () => {
      const box = await body.boundingBox()
      if (!box) throw new Error('the element is not rendered')
      return page.screenshot({ clip: { x: box.x + 1, y: box.y + box.height - 3, width: 2, height: 2 } })
    }
    const before = await edge()
    await body.evaluate(it => it.scrollTo(0, it.scrollHeight))
    expect((await edge()).equals(before)).toBe(false)
  })

  it('every screen fits the narrowest supported width', async () => {
    const asker = await fixture.openAsker(longTitle, longPath)
    const request = await asker.ask(asks.plan())
    const page = await fixture.openPage(small)
    await rowOf(page, request).waitFor()
    expect(await overflowingElements(page)).toEqual([])
    await openCard(page, request)
    expect(await overflowingElements(page)).toEqual([])
    await page.goto(`${fixture.gateway.url}/#/sessions`)
    const facts = page.locator('.row-facts').first()
    await facts.waitFor()
    expect((await facts.boundingBox())?.height).toBeLessThan(24)
    expect(
      await page
        .locator('.row-driver')
        .first()
        .evaluate(it => it.getClientRects().length),
    ).toBe(1)
  })

  it.each([
    ['sessions', {}],
    ['sessions', phone],
    ['audit', {}],
    ['audit', phone],
  ] as const)(
    'the button for new items on the %s screen covers no row and no other control',
    async (screen, options) => {
      await fixture.answer(await (await fixture.openAsker('first')).ask(asks.command()))
      const page = await fixture.openPage(options)
      await page.goto(`${fixture.gateway.url}/#/${screen}`)
      await page.locator('.session-row, .audit-row').first().waitFor()
      await fixture.answer(await (await fixture.openAsker('second')).ask(asks.command()))
      const more = page.locator('.new-items-button')
      await more.waitFor()
      const covered = await more.evaluate(it => {
        const over = it.getBoundingClientRect()
        return [...document.querySelectorAll('main h1, main button, main a, main input, main select, main li')]
          .filter(other => other !== it)
          .filter(other => {
            // The box of a heading is wider than its text.
            const content = document.createRange()
            content.selectNodeContents(other)
            const { left, right, top, bottom } = (other.matches('h1') ? content : other).getBoundingClientRect()
            return left < over.right && right > over.left && top < over.bottom && bottom > over.top
          })
          .map(other => other.outerHTML.slice(0, 80))
      })
      expect(covered).toEqual([])
    },
  )

  it('only the active card shows key hints, only on devices with a keyboard, and screen readers announce each hint once', async () => {
    const asker = await fixture.openAsker()
    const first = await asker.ask(asks.command())
    await asker.ask(asks.questions())
    const page = await fixture.openPage()
    const card = cardOf(page, first)
    const allow = button(card, 'Allow once')
    const keysOf = (place: Locator) =>
      place.locator('[data-key]').evaluateAll(all => all.map(it => it.getAttribute('data-key')))
    await allow.waitFor()
    expect(await page.locator('[data-key]').count()).toBe(0)
    const before = await allow.boundingBox()
    await page.keyboard.press('j')
    await card.locator('[data-key="a"]').waitFor()
    expect(await keysOf(card)).toEqual(['c', 'a', 'e', 'd'])
    expect(await allow.evaluate(it => getComputedStyle(it, '::after').content)).toContain('"a"')
    expect(await allow.getAttribute('aria-keyshortcuts')).toBe('a')
    // The key hint does not change the layout.
    expect(await allow.boundingBox()).toEqual(before)
    await page.keyboard.press('j')
    const questions = page.getByRole('article', { name: '2 questions' })
    await questions.locator('[data-key]').first().waitFor()
    expect(await keysOf(questions)).toEqual(['1', '2', 'd'])
    await pressKey(page, '1')
    await questions.locator('[data-key="3"]').waitFor()
    expect(await keysOf(card)).toEqual([])
    const touched = await fixture.openPage(phone)
    await openCard(touched, first)
    await touched.locator('.card.active').waitFor()
    const touchable = button(cardOf(touched, first), 'Allow once')
    expect(await touchable.evaluate(it => getComputedStyle(it, '::after').content)).toBe('none')
  })

  it('key hints are not shown while the person types in a field, because letters are text then', async () => {
    const asker = await fixture.openAsker()
    const first = await asker.ask(asks.command())
    const page = await fixture.openPage()
    const allow = button(cardOf(page, first), 'Allow once')
    const hintOf = (place: Locator) => place.evaluate(it => getComputedStyle(it, '::after').display)
    await page.keyboard.press('j')
    await expect.poll(() => hintOf(allow)).not.toBe('none')
    await page.keyboard.press('/')
    await expect.poll(() => hintOf(allow)).toBe('none')
    await page.keyboard.press('Escape')
    await page.locator('body').click({ position: { x: 1, y: 1 } })
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await page.keyboard.press('j')
    await expect.poll(() => hintOf(allow)).not.toBe('none')
    const search = page.locator('.letter-key', { hasText: '/' })
    expect(await search.isVisible()).toBe(true)
    await page.locator('.composer textarea').focus()
    await expect.poll(() => hintOf(allow)).toBe('none')
    expect(await search.isVisible()).toBe(false)
  })

  it('the hint of a key is not shown on a touch screen', async () => {
    const touched = await fixture.openPage(phone)
    await touched.locator('.user-menu-button').click()
    const hint = touched.locator('.kbd')
    await expect.poll(() => hint.count()).toBeGreaterThan(0)
    for (const each of await hint.all()) expect(await each.isVisible()).toBe(false)
  })

  it('the accessible description of an Allow button says what the button allows', async () => {
    const request = await (await fixture.openAsker()).ask(asks.command())
    const page = await fixture.openPage()
    const about = await button(cardOf(page, request), 'Allow once').getAttribute('aria-describedby')
    const told = await page.locator(`[id="${about}"]`).getAttribute('aria-label')
    expect(told).toBe('Run a command: npm run migrate -- --env staging. Notable: runs project code')
  })

  it('the description of a command is quoted as the agent’s own text, and a short list fits on one line', async () => {
    const asker = await fixture.openAsker()
    const command = await asker.ask({
      ...asks.command(),
      input: { command: 'ls', description: 'Look', timeout: 5 },
    } as Ask) // a copy of an approval with other fields is still an approval
    const fields = await asker.ask(asks.fields())
    const page = await fixture.openPage()
    const says = cardOf(page, command).getByRole('figure', { name: 'What the agent says' })
    await says.waitFor()
    expect(await says.locator('blockquote').allTextContents()).toEqual(['Migrate the staging database', 'Look'])
    expect(await cardOf(page, command).locator('.field-row dt').allTextContents()).toEqual(['timeout'])
    const labels = (await openCard(page, fields)).locator('.field-row', { hasText: 'labels' })
    expect(await labels.locator('li').allTextContents()).toEqual(['bug', 'ci'])
    expect((await labels.boundingBox())?.height).toBeLessThan(32)
  })

  it('on the screen of a waiting session, only the active card is amber', async () => {
    const asker = await fixture.openAsker()
    const request = await asker.ask(asks.command())
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await cardOf(page, request).waitFor()
    await page.locator('.request-line').waitFor()
    const amber = await page.locator('main').evaluate(main => {
      const probe = main.appendChild(document.createElement('i'))
      const tones = ['--waiting', '--amber'].map(name => {
        probe.style.color = `var(${name})`
        return getComputedStyle(probe).color
      })
      probe.remove()
      const isAmber = (it: Element) => {
        const { color, backgroundColor, borderTopColor, borderTopWidth } = getComputedStyle(it)
        return tones.some(
          tone => color === tone || backgroundColor === tone || (borderTopColor === tone && borderTopWidth !== '0px'),
        )
      }
      return [...main.querySelectorAll('*')].filter(isAmber).map(it => it.className)
    })
    expect(amber).toEqual(['card-surface'])
  })

  describe('on a phone', () => {
    const long = `echo ${'all of this '.repeat(200)}`
    const boxOf = async (place: Locator) => {
      const box = await place.boundingBox()
      if (!box) throw new Error('the element is not rendered')
      return box
    }

    it.each(['inbox', 'session'])(
      'the two answer buttons on the %s screen are at the bottom, with space between them',
      async screen => {
        const asker = await fixture.openAsker()
        const request = await asker.ask(asks.command(long))
        const page = await fixture.openPage(phone)
        if (screen === 'session') await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
        const card = screen === 'session' ? cardOf(page, request) : await openCard(page, request)
        await card.waitFor()
        const [deny, allow] = [await boxOf(button(card, 'Deny…')), await boxOf(button(card, 'Allow once'))]
        const { height } = phone.viewport
        for (const box of [deny, allow]) {
          expect(box.y).toBeGreaterThan(height / 2)
          expect(box.y + box.height).toBeLessThan(height)
        }
        expect(await page.locator('.bottom-nav').isVisible(), 'nothing covers the buttons').toBe(false)
        expect(allow.x - (deny.x + deny.width)).toBeGreaterThanOrEqual(16)
        expect(await overflowingElements(page)).toEqual([])
      },
    )

    it('a long request scrolls inside its card, and can be allowed once its end has been visible', async () => {
      const request = await (await fixture.openAsker()).ask(asks.command(long))
      const page = await fixture.openPage(phone)
      const card = await openCard(page, request)
      const allow = button(card, 'Allow once')
      await card.getByText('Scroll to the end to allow.').waitFor()
      await expect.poll(() => allow.isDisabled()).toBe(true)
      const before = await boxOf(allow)
      await card.locator('.card-body').evaluate(body => body.scrollTo(0, body.scrollHeight))
      await page.waitForFunction(() => !document.querySelector<HTMLButtonElement>('.allow')?.disabled)
      expect((await boxOf(allow)).y).toBe(before.y)
      await waitForCooldown(page)
      await allow.tap()
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
    })

    it.each(['inbox', 'session'])(
      'the %s screen shows the full folder path and every warning before a request can be allowed',
      async screen => {
        const asker = await fixture.openAsker('s', `/srv/${'deep/'.repeat(60)}end`)
        const caution = { reason: 'It is outside. '.repeat(60), blockedPath: '/etc/shadow' }
        const ask = { ...asks.command('rm -rf *'), cwd: asker.session.cwd, caution } as Ask // a copy of an approval with other fields is still an approval
        const request = await asker.ask(ask)
        const page = await fixture.openPage(phone)
        if (screen === 'session') await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
        const card = screen === 'session' ? cardOf(page, request) : await openCard(page, request)
        const allow = card.locator('.allow')
        await card.getByText('Scroll to the end to allow.').waitFor()
        await expect.poll(() => allow.isDisabled()).toBe(true)
        const { y, height } = await boxOf(allow)
        expect(y + height).toBeLessThan(phone.viewport.height)
        expect(await page.locator('.bottom-nav').isVisible(), 'nothing covers the buttons').toBe(false)
        await card.locator('.card-body').evaluate(body => body.scrollTo(0, body.scrollHeight))
        await page.waitForFunction(() => !document.querySelector<HTMLButtonElement>('.allow')?.disabled)
        const body = await boxOf(card.locator('.card-body'))
        const path = await boxOf(card.getByText('/etc/shadow'))
        expect(path.y + path.height).toBeLessThanOrEqual(body.y + body.height)
        const actionLine = card.locator('.action-line')
        expect(await actionLine.evaluate(it => it.scrollHeight <= it.clientHeight + 1)).toBe(true)
        expect(await visibleText(card.locator('.card-body'))).toContain(asker.session.cwd)
      },
    )

    it('the buttons of a dangerous edit stay on the screen, and are not cut', async () => {
      const request = await (await fixture.openAsker()).ask(asks.command('npm test'))
      const page = await fixture.openPage(phone)
      const card = await openCard(page, request)
      await button(card, 'Edit…').tap()
      await card
        .getByLabel('(this is what will run)')
        .fill('cd app\n\nnpm test\nnpm run lint\nnpm run build\nrm -rf dist ~/cache')
      const buttons = ['Hold to allow with edits', 'Undo my changes', 'Back']
      await button(card, 'Hold to allow with edits').waitFor()
      const cut = () =>
        Promise.all(
          buttons.map(name =>
            button(card, name).evaluate(element => {
              const { left, right, top, bottom } = element.getBoundingClientRect()
              const isOnTop = (y: number) => element.contains(document.elementFromPoint((left + right) / 2, y))
              return isOnTop(top + 2) && isOnTop(bottom - 2) ? [] : [element.textContent]
            }),
          ),
        )
      await expect.poll(async () => (await cut()).flat()).toEqual([])
    })

    it('a card of every kind of request fills the screen', async () => {
      const asker = await fixture.openAsker()
      const requests = []
      for (const ask of [asks.suggested(), asks.questions(), asks.form(), asks.dangerous()])
        requests.push(await asker.ask(ask))
      const page = await fixture.openPage(phone)
      for (const request of requests) {
        const card = await openCard(page, request)
        const screen = await boxOf(page.locator('main'))
        expect(screen.height, 'nothing else is on the screen').toBe(phone.viewport.height)
        const { height } = await boxOf(card)
        expect(height).toBeGreaterThan(screen.height * 0.8)
        expect(height).toBeLessThan(screen.height)
        await page.goBack()
      }
    })
  })

  it('code in a plan has its own background and padding', async () => {
    const plan = 'Run this:\n\n```ts\nretry()\n```'
    const request = await (await fixture.openAsker()).ask({ ...asks.plan(), plan, input: { plan } } as Ask) // a copy of an approval with other fields is still an approval
    const page = await fixture.openPage()
    const code = cardOf(page, request).locator('.code-block')
    await code.waitFor()
    expect(await code.evaluate(it => getComputedStyle(it).paddingLeft)).toBe('12px')
  })
})
