import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { displayText } from '@holdpoint/client'
import { type Ask, escapeInvisible, type Request } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { cooldownMs } from '../../packages/web/src/ui/input-cooldown.ts'
import { hasNoBrowser } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  click,
  openCard,
  pressKey,
  rowOf,
  select,
  setUpPageFixture,
  visibleText,
  waitForCooldown,
} from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('protection against accidental and uninformed answers', () => {
  const fixture = setUpPageFixture()

  it('a click right after a card appears sends no answer, and the card says that it just changed', async () => {
    const page = await fixture.openPage()
    // A script in the page clicks the button at the moment it appears.
    await page.evaluate(() => {
      new MutationObserver((_, observer) => {
        const allow = document.querySelector<HTMLButtonElement>('button.allow:enabled')
        if (!allow) return
        observer.disconnect()
        allow.click()
      }).observe(document.body, { childList: true, subtree: true, attributes: true })
    })
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    await card.getByText('This card just changed').waitFor()
    expect(await fixture.isPending(request)).toBe(true)
    await click(page, button(card, 'Allow once'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
  })

  it('a key pressed right after a card appears sends no answer', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const first = await asker.ask(asks.command('first'))
    await cardOf(page, first).waitFor()
    await page.keyboard.press('j')
    // Press the key in every frame, from before the change until the cooldown is nearly over.
    await page.evaluate(ms => {
      new MutationObserver((_, observer) => {
        if (document.querySelectorAll('li[data-request]').length < 2) return
        observer.disconnect()
        const stopAt = performance.now() + ms
        const pressKeyEachFrame = () => {
          // A delayed frame must not press the key after the cooldown.
          if (performance.now() < stopAt) {
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))
            requestAnimationFrame(pressKeyEachFrame)
          } else document.body.dataset.pressed = 'yes'
        }
        pressKeyEachFrame()
      }).observe(document.body, { childList: true, subtree: true })
    }, cooldownMs - 100)
    await waitForCooldown(page)
    const second = await asker.ask(asks.command('second'))
    await page.locator('[data-pressed]').waitFor()
    await page.getByText('The list just changed. Press again to confirm.').waitFor()
    expect(await fixture.isPending(first)).toBe(true)
    expect(await fixture.isPending(second)).toBe(true)
  })

  it.each(['inbox', 'session'])(
    'a double click on the %s screen answers only one card, not the card that takes its place',
    async screen => {
      const page = await fixture.openPage()
      const asker = await fixture.openAsker()
      const one = await asker.ask(asks.command('one'))
      const two = await asker.ask(asks.command('two'))
      if (screen === 'session') await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
      await cardOf(page, one).waitFor()
      await rowOf(page, two).waitFor()
      await waitForCooldown(page)
      // The second click of the double click lands at the moment the first card disappears, on the card that takes its place.
      await page.evaluate(
        ([first, second]) => {
          const cardIn = (id: string) => document.querySelector(`article[id$="${id}"]`)
          new MutationObserver((_, observer) => {
            // The second card opens now, and its button is disabled for a moment.
            const allow = cardIn(second)?.querySelector<HTMLButtonElement>('button.allow:enabled')
            if (cardIn(first) || !allow) return
            observer.disconnect()
            allow.click()
          }).observe(document.body, { childList: true, subtree: true, attributes: true })
        },
        [one.id, two.id] as const,
      )
      await button(cardOf(page, one), 'Allow once').dblclick()
      expect(await fixture.answerGivenOnPage(one)).toEqual({ kind: 'allow' })
      await cardOf(page, two).getByText('This card just changed').waitFor()
      expect(await fixture.isPending(two)).toBe(true)
    },
  )

  it.each([
    ['a letter', 'Deny…', 'a'],
    ['a line break', 'Edit…', 'Enter'],
    ['an arrow key', 'Deny…', 'ArrowLeft'],
    ['Shift', 'Deny…', 'Shift'],
    ['Delete', 'Note…', 'Delete'],
  ])(
    'if a text field disappears after the person typed %s, the next keys answer no request',
    async (_, panel, lastKey) => {
      const page = await fixture.openPage()
      const asker = await fixture.openAsker()
      const first = await asker.ask(asks.command('first'))
      const second = await asker.ask(asks.command('second'))
      await rowOf(page, second).waitFor()
      await button(cardOf(page, first), panel).click()
      // The panel for edits is loaded when it is first opened.
      await cardOf(page, first).locator('textarea:focus').waitFor()
      await page.keyboard.type('because ')
      await page.keyboard.press(lastKey)
      await fixture.gateway.call('withdrawRequest', { id: first.id })
      await cardOf(page, first).waitFor({ state: 'detached' })
      await page.keyboard.type('aaaaaaaaaaaaaaaa', { delay: 70 })
      await page.locator('.leftover-draft', { hasText: 'because' }).waitFor()
      await fixture.gateway.call('getRequest', { id: second.id, wait: 500 })
      expect(await fixture.isPending(second)).toBe(true)
    },
  )

  it('a key does not allow a request with an unfinished edit, and the label of the Allow button says that the edit is left out', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command('make build'))
    const card = cardOf(page, request)
    await button(card, 'Edit…').click()
    const field = card.getByLabel('(this is what will run)')
    await field.fill('')
    expect(await field.inputValue()).toBe('')
    await field.fill('make build/tmp')
    await page.keyboard.press('Escape')
    await button(card, 'Your edit…').waitFor()
    await pressKey(page, 'a')
    await page.getByText('You can’t allow this request with a key right now').waitFor()
    expect(await fixture.isPending(request)).toBe(true)
    await button(card, 'Your edit…').click()
    await expect.poll(() => field.inputValue()).toBe('make build/tmp')
    await page.keyboard.press('Escape')
    await click(page, button(card, 'Allow as asked, without your edit'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
  })

  it('while the decline panel is open, no key sends the answers to the questions', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.questions())
    const card = cardOf(page, request)
    await card.getByRole('radio', { name: 'Detailed' }).check()
    await card.getByRole('checkbox', { name: 'Linux' }).check()
    await button(card, 'Decline…').click()
    await page.keyboard.type('not now')
    await card.getByText('Which targets?').click()
    await pressKey(page, 'a')
    await page.getByText('You can’t allow this request with a key right now').waitFor()
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('opening a plan with Enter does not focus the mode menu, where letter keys would change the mode', async () => {
    const page = await fixture.openPage()
    const ask = { ...asks.plan(), modes: ['default', 'acceptEdits'] } as Ask // `asks.plan()` returns an approval, which may have `modes`
    const request = await (await fixture.openAsker()).ask(ask)
    const modeSelect = cardOf(page, request).getByLabel('After approval')
    await modeSelect.waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await pressKey(page, 'd')
    expect(await modeSelect.count()).toBe(0)
    await cardOf(page, request).getByRole('textbox').waitFor()
  })

  it('in the reason field, Ctrl+Enter denies the request, Enter starts a new line, and Escape goes back and keeps the text', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    await button(card, 'Deny…').click()
    await page.keyboard.type('first line')
    await page.keyboard.press('Escape')
    await button(card, 'Allow once').waitFor()
    expect(await fixture.isPending(request)).toBe(true)
    await button(card, 'Deny…').click()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.keyboard.type('second line')
    await card.getByText('Ctrl+Enter sends').waitFor()
    expect(await fixture.isPending(request)).toBe(true)
    await pressKey(page, 'Control+Enter')
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'first line\nsecond line' })
  })

  it('Enter in a text area of a card sends no answer', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.command())
    const card = cardOf(page, request)
    await button(card, 'Note…').click()
    await page.keyboard.type('a note')
    await waitForCooldown(page)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await button(card, 'Edit…').click()
    // The panel for edits is loaded when it is first opened.
    await card.locator('textarea:focus').waitFor()
    await page.keyboard.type('x')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await button(card, 'Allow as asked, without your edit').waitFor()
    await button(card, 'Deny…').click()
    await page.keyboard.type('no')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('Ctrl+Enter sends a note or an edit, but never allows a request that is dangerous or not shown in full, for which the card does not offer it', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const dangerous = await asker.ask(asks.dangerous())
    const long = await asker.ask(asks.command(`echo ${'all of this '.repeat(900)}`))
    const noted = await asker.ask(asks.command('npm test'))
    const hint = (card: Locator) => card.getByText('Ctrl+Enter sends').first()
    for (const request of [dangerous, long]) {
      const card = await openCard(page, request)
      await button(card, 'Note…').click()
      await page.keyboard.type('please')
      expect(await hint(card).isVisible()).toBe(false)
      await pressKey(page, 'Control+Enter')
      expect(await fixture.isPending(request)).toBe(true)
    }
    const card = await openCard(page, noted)
    await button(card, 'Note…').click()
    await page.keyboard.type('please')
    await hint(card).waitFor()
    await pressKey(page, 'Control+Enter')
    expect(await fixture.answerGivenOnPage(noted)).toEqual({ kind: 'allow', note: 'please' })
    const edited = await asker.ask(asks.command('npm run lint'))
    const editing = await openCard(page, edited)
    await button(editing, 'Edit…').click()
    await page.keyboard.press('End')
    await page.keyboard.type(':all')
    await expect.poll(() => hint(editing).isVisible()).toBe(true)
    await pressKey(page, 'Control+Enter')
    expect(await fixture.answerGivenOnPage(edited)).toMatchObject({
      kind: 'allow',
      input: { command: 'npm run lint:all' },
    })
  })

  it('a dangerous request cannot be allowed with a key', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.dangerous())
    const card = cardOf(page, request)
    await card.waitFor()
    await page.keyboard.press('j')
    await pressKey(page, 'a')
    await page.getByText('This request is dangerous').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    expect(await fixture.isPending(request)).toBe(true)
  })

  it.each([1440, 390, 320])(
    'a toast never covers the buttons for selected requests on a screen %i pixels wide',
    async width => {
      const page = await fixture.openPage({ viewport: { width, height: 700 } })
      const asker = await fixture.openAsker()
      const plain = await asker.ask(asks.command())
      for (const ask of [asks.write(), asks.plan()]) await asker.ask(ask)
      const dangerous = await asker.ask(asks.dangerous())
      await select(page, plain)
      const bar = page.locator(width < 900 ? '.selection-bar' : '.batch-bar')
      await bar.waitFor()
      await rowOf(page, dangerous).focus()
      const toast = page.locator('.toast.shown', { hasText: 'This request is dangerous' })
      for (const where of ['top', 'end']) {
        await page
          .locator('.inbox-list')
          .evaluate((it, at) => it.scrollTo(0, at === 'top' ? 0 : it.scrollHeight), where)
        await page.keyboard.press('x')
        await toast.waitFor()
        const [above, below] = [await toast.boundingBox(), await bar.boundingBox()]
        if (!above || !below) throw new Error('the toast or the bar is not visible')
        const isApart = above.y + above.height <= below.y || below.y + below.height <= above.y
        expect(isApart, where).toBe(true)
        expect(above.y, where).toBeGreaterThan(0)
        expect(above.x, where).toBeGreaterThanOrEqual(0)
        expect(above.x + above.width, where).toBeLessThanOrEqual(width)
      }
    },
  )

  it.each([
    [1440, 900],
    [1024, 768],
    [390, 844],
  ])('a toast never covers a button of a card on a screen of %i × %i pixels', async (width, height) => {
    const page = await fixture.openPage({ viewport: { width, height } })
    const asker = await fixture.openAsker()
    const dangerous = await asker.ask(asks.dangerous())
    for (const where of ['inbox', 'session']) {
      if (where === 'inbox') await rowOf(page, dangerous).getByRole('link').click()
      else await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
      await cardOf(page, dangerous).locator('.card-footer').waitFor()
      await page.keyboard.press('j')
      await pressKey(page, 'a')
      const toast = page.locator('.toast.shown', { hasText: 'This request is dangerous' })
      await toast.waitFor()
      const shown = await toast.boundingBox()
      if (!shown) throw new Error('the toast is not visible')
      const buttons = page.locator('.card-footer, .composer').getByRole('button')
      const boxes = await buttons.evaluateAll(all => all.map(it => it.getBoundingClientRect()))
      expect(boxes.length).toBeGreaterThan(1)
      expect(Math.min(...boxes.map(({ top }) => top)), where).toBeGreaterThan(shown.y + shown.height)
      expect(shown.y, where).toBeGreaterThanOrEqual(0)
      await toast.waitFor({ state: 'detached' })
    }
  })

  it('selecting a range skips rows that have never been on screen, and a toast says so', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    const requests: Request[] = []
    for (let n = 0; n < 60; n++) requests.push(await asker.ask(n === 1 ? asks.plan() : asks.command(`step ${n}`)))
    const [first, last] = [requests[0], requests.at(-1)]
    if (!first || !last) throw new Error('no requests were opened')
    await select(page, first)
    await page.locator('.inbox-list').evaluate(it => it.scrollTo(0, it.scrollHeight))
    await rowOf(page, last)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] })
    const toast = page.getByText(/^1 request needs individual review\. \d+ requests haven’t been on screen yet/)
    await toast.waitFor()
    const skipped = Number(/(\d+) requests haven’t/.exec(await visibleText(toast))?.[1])
    await page.getByText(`Review ${requests.length - 1 - skipped} requests`).waitFor()
  })

  it('a toast shown twice is announced twice, and its text is removed only after the toast has faded out', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.dangerous())
    await cardOf(page, request).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    const toast = page.locator('.toast')
    await toast.getByText('This request is dangerous').waitFor()
    const firstText = await toast.locator('span').elementHandle()
    await page.keyboard.press('x')
    // Screen readers announce new elements in a live region.
    await expect.poll(() => firstText?.evaluate(it => it.isConnected)).toBe(false)
    await toast.getByText('This request is dangerous').waitFor()
    const textWhileFading = await toast.evaluate(
      it =>
        new Promise(done => {
          new MutationObserver(() => !it.classList.contains('shown') && done(it.textContent)).observe(it, {
            attributes: true,
          })
        }),
    )
    expect(textWhileFading).toContain('This request is dangerous')
    await expect.poll(() => toast.textContent()).toBe('')
  })

  it('a long file change can be allowed only after its end has been on screen', async () => {
    const page = await fixture.openPage()
    const request = await (await fixture.openAsker()).ask(asks.write(400))
    const card = cardOf(page, request)
    const allow = button(card, 'Allow once')
    await card.getByText('Scroll to the end to allow.').waitFor()
    await expect.poll(() => allow.isDisabled()).toBe(true)
    await page.keyboard.press('j')
    await pressKey(page, 'a')
    expect(await fixture.isPending(request)).toBe(true)
    const pane = card.getByRole('figure', { name: 'Change' })
    await pane.hover()
    await page.mouse.wheel(0, 2000)
    await expect.poll(() => allow.isDisabled()).toBe(true)
    await page.mouse.wheel(0, 100_000)
    await page.waitForFunction(() => document.querySelector('button.allow:enabled') !== null)
    await click(page, allow)
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
  })

  it('a very long command line is shown in full and wraps', async () => {
    const page = await fixture.openPage()
    const command = `echo ${'x'.repeat(4000)} && rm -rf /tmp/hidden-at-the-end`
    const request = await (await fixture.openAsker()).ask(asks.command(command))
    const card = cardOf(page, request)
    await card.waitFor()
    expect(await card.locator('pre code').first().textContent()).toBe(command)
    const box = card.locator('pre').first()
    expect(await box.evaluate(it => it.scrollWidth <= it.clientWidth + 1)).toBe(true)
  })

  describe('invisible characters', () => {
    const data = join(import.meta.dirname, '../../packages/protocol/test/data/display.json')
    const attacks = JSON.parse(readFileSync(data, 'utf8')) as readonly {
      readonly name: string
      readonly text: string
    }[] // every entry of display.json has these fields

    it('invisible characters are made visible on cards, in receipts and in the transcript, where agent text is never rendered as HTML', async () => {
      const page = await fixture.openPage()
      const asker = await fixture.openAsker('\u202Eapi\u202C')
      for (const { text } of attacks.filter(attack => attack.name !== 'lone surrogate'))
        await fixture.gateway.call('appendEvents', {
          id: asker.session.id,
          items: [{ type: 'message.added', block: text.slice(0, 100), text }],
        })
      const requests = []
      for (const { text } of attacks.filter(attack => attack.name !== 'lone surrogate'))
        requests.push({ text, request: await asker.ask(asks.command(text)) })
      for (const { text, request } of requests) {
        const code = (await openCard(page, request)).locator('pre code').first()
        await code.waitFor()
        expect(await code.textContent(), JSON.stringify(text)).toBe(displayText(text, { multiline: true }))
      }
      expect(await page.locator('main img').count()).toBe(0)
      const [first] = requests
      if (!first) throw new Error('no attacks in the data file')
      await fixture.answer(first.request)
      await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
      const log = page.getByRole('log', { name: 'Transcript' })
      await log.getByText('<img src=x onerror=alert(1)>').first().waitFor()
      // One of the attacks has two hundred lines, which the summary joins into one line.
      await log.locator('.request-line-summary', { hasText: 'npm test ↵ rm -rf ~' }).first().waitFor()
      expect((await log.locator('.request-line-summary').allInnerTexts()).join()).not.toContain('\\u{a}')
      expect(await visibleText(log)).not.toContain('\u202E')
      expect(await page.locator('main img').count()).toBe(0)
      expect(await visibleText(page.locator('main'))).toContain(escapeInvisible('\u202Eapi\u202C'))
    })

    it('invisible characters are shown as a count if there is a long run of them, and stay in a command when a person edits the command', async () => {
      const page = await fixture.openPage()
      const asker = await fixture.openAsker()
      const command = `npm test${' '.repeat(3000)}; rm -rf ~`
      const request = await asker.ask(asks.command(command))
      const card = cardOf(page, request)
      const marker = card.locator('pre .marker.count')
      await marker.waitFor()
      expect(await marker.allInnerTexts()).toEqual(['⟨3000 spaces⟩'])
      expect(await marker.evaluate(it => getComputedStyle(it).direction)).toBe('ltr')
      const change = await asker.ask({
        kind: 'approval',
        tool: 'Write',
        title: 'Write a file',
        input: { file_path: '/src/a', content: `first${'\n'.repeat(201)}last${'\t'.repeat(400)}end` },
        cwd: '/src',
        editable: true,
      })
      const lines = (await openCard(page, change)).locator('.diff-row')
      await lines.first().waitFor()
      await expect.poll(() => lines.count()).toBe(3)
      expect(await cardOf(page, change).locator('.marker.count').allInnerTexts()).toEqual([
        '⟨200 blank lines⟩',
        '⟨400 tabs⟩',
      ])
      expect(await visibleText(cardOf(page, change))).toContain('202 added')
      await openCard(page, request)
      await button(card, 'Edit…').click()
      const field = card.getByLabel('(this is what will run)')
      await expect.poll(() => field.inputValue()).toBe(command)
      await field.press('Control+End')
      await field.pressSequentially('x')
      await button(card, 'Allow with edits anyway…').click()
      await click(page, button(card, 'Allow with edits anyway'))
      expect(await fixture.answerGivenOnPage(request)).toMatchObject({ input: { command: `${command}x` } })
    })

    it('invisible characters are made visible wherever a card shows an agent’s text', async () => {
      const invisible = 'ok\u202Edne\u200B'
      const page = await fixture.openPage()
      const asker = await fixture.openAsker()
      const approval: Ask = {
        kind: 'approval',
        tool: `Tool${invisible}`,
        title: invisible,
        description: invisible,
        input: { [invisible]: invisible },
        cwd: `/src/${invisible}`,
        editable: true,
        suggestions: [{ id: 's', label: invisible, scope: invisible }],
        caution: { reason: invisible, blockedPath: invisible },
      }
      const questions: Ask = {
        kind: 'questions',
        questions: [
          {
            id: invisible,
            header: invisible,
            question: invisible,
            options: [{ label: invisible, description: invisible, preview: invisible }],
            multiSelect: false,
            allowOther: true,
            secret: false,
          },
        ],
      }
      const form: Ask = {
        kind: 'form',
        title: invisible,
        message: invisible,
        schema: {
          type: 'object',
          properties: {
            [invisible]: { type: 'string', title: invisible, description: invisible, enum: [invisible, 'b'] },
          },
        },
      }
      for (const ask of [approval, questions, form]) {
        const card = await openCard(page, await asker.ask(ask, { agentPath: [invisible] }))
        if (ask === approval) await button(card, 'Always…').click()
      }
      const html = await page.evaluate(() => document.documentElement.outerHTML)
      const leaks = [...html.matchAll(/.{60}[\u202E\u200B].{60}/gu)].map(([at]) => at)
      expect(leaks).toEqual([])
    })
  })
})
