/** The list of the inbox: moving, searching, filtering, grouping and muting, and how many keys an answer takes. */
import type { Ask, Request } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
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
  setUpPageFixture,
  visibleText,
  waitForCooldown,
} from './page-fixture.ts'

const yesNo: Ask = {
  kind: 'questions',
  questions: [
    {
      id: 'redirect',
      header: 'Guide',
      question: 'Should the old guide redirect?',
      options: [{ label: 'Yes' }, { label: 'No', description: 'Both stay.' }],
      multiSelect: false,
      allowOther: false,
      secret: false,
    },
  ],
}

describe.skipIf(hasNoBrowser())('the list of the inbox', () => {
  const fixture = setUpPageFixture()

  const listed = (page: Page) =>
    page.locator('li.request-row').evaluateAll(all => all.map(it => it.getAttribute('data-request')))
  const idsOf = (...requests: readonly Request[]) => requests.map(({ id }) => id)

  /** Opens 24 requests of three sessions: 8 similar commands, a request with a near deadline, and others of every kind. */
  async function openMixed() {
    const [api, docs, web] = [
      await fixture.openAsker('api', '/src/api'),
      await fixture.openAsker('docs', '/src/docs'),
      await fixture.openAsker('web', '/src/web'),
    ]
    const others = [asks.edit(), asks.questions(), asks.form(), asks.write(), asks.plan(), asks.fields(), yesNo]
    const similar: Request[] = []
    for (let at = 0; at < 7; at++) {
      similar.push(await web.ask({ ...asks.command(`npm run e2e -- --shard ${at}`), cwd: '/src/web' } as Ask)) // a request for a command is an approval, and every approval has a `cwd`
      const ask = others[at]
      if (ask) await docs.ask(ask)
    }
    similar.push(
      await web.ask({ ...asks.command('npm test'), cwd: '/src/web' } as Ask, { deadlineMs: 3_000_000 }), // a request for a command is an approval, and every approval has a `cwd`
    )
    for (let at = 0; at < 8; at++) await api.ask(asks.command(`git show HEAD~${at}`))
    const urgent = await api.ask(asks.command('npm run migrate'), { deadlineMs: 240_000 })
    return { similar, urgent }
  }
  /** Presses keys as a person does who looks at the screen in between, and counts them. */
  function keyCounter(page: Page) {
    let count = 0
    return {
      press: async (key: string) => {
        count++
        await pressKey(page, key)
      },
      get count() {
        return count
      },
    }
  }

  it('among 24 requests, the request with the nearest deadline is opened and answered with at most 3 keys', async () => {
    const { urgent } = await openMixed()
    const page = await fixture.openPage()
    await expect.poll(() => page.locator('li.request-row').count()).toBe(24)
    await cardOf(page, urgent).waitFor()
    const keys = keyCounter(page)
    await keys.press('j')
    await cardOf(page, urgent).locator('[data-key="a"]').waitFor()
    await keys.press('a')
    expect(await fixture.answerGivenOnPage(urgent)).toEqual({ kind: 'allow' })
    expect(keys.count).toBeLessThanOrEqual(3)
  })

  it('among 24 requests, 8 similar requests are answered with at most 4 keys', async () => {
    const { similar, urgent } = await openMixed()
    const page = await fixture.openPage()
    await expect.poll(() => page.locator('li.request-row').count()).toBe(24)
    const keys = keyCounter(page)
    await keys.press('j')
    await keys.press('j')
    await button(page, '7 more like this').waitFor()
    await keys.press('s')
    await page.locator('.batch-bar [data-key="a"]', { hasText: 'Allow 8 once' }).waitFor()
    await keys.press('a')
    for (const request of similar) expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
    expect(await fixture.isPending(urgent)).toBe(true)
    expect(keys.count).toBeLessThanOrEqual(4)
  })

  it('a search finds a part of the command, the session or the folder; Enter opens the first result, and Escape ends the search', async () => {
    const api = await fixture.openAsker('payments', '/src/api')
    const docs = await fixture.openAsker('guide', '/home/ada/docs')
    const migrate = await api.ask(asks.command('npm run migrate'))
    const lint = await api.ask(asks.command('npm run lint'))
    const questions = await docs.ask(asks.questions())
    const page = await fixture.openPage()
    await rowOf(page, questions).waitFor()
    await pressKey(page, '/')
    await page.keyboard.type('LINT')
    await expect.poll(() => listed(page)).toEqual(idsOf(lint))
    await page.keyboard.press('Enter')
    await cardOf(page, lint).locator('[data-key="a"]').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('ada/docs')
    await expect.poll(() => listed(page)).toEqual(idsOf(questions))
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('payments')
    await expect.poll(() => listed(page)).toEqual(idsOf(migrate, lint))
    await page.keyboard.type(' nothing')
    await page.getByText('No pending request matches.').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => listed(page)).toEqual(idsOf(migrate, lint, questions))
  })

  it('the list of the inbox filters by kind and by risk, with the number of requests of each kind', async () => {
    const asker = await fixture.openAsker()
    const command = await asker.ask(asks.command())
    const dangerous = await asker.ask(asks.dangerous())
    const questions = await asker.ask(asks.questions())
    const write = await asker.ask(asks.write())
    const page = await fixture.openPage()
    await rowOf(page, write).waitFor()
    const kinds = page.getByRole('group', { name: 'Kind of request' })
    expect((await visibleText(kinds)).replace(/\s+/g, ' ')).toBe(
      'Kind of request All 4 Dangerous 1 Questions 1 Commands 2 Files 1',
    )
    await kinds.getByText('Dangerous').click()
    await expect.poll(() => listed(page)).toEqual(idsOf(dangerous))
    await cardOf(page, dangerous).waitFor()
    await kinds.getByText('Questions').click()
    await expect.poll(() => listed(page)).toEqual(idsOf(questions))
    // A new request of another kind changes only the count.
    await asker.ask(asks.command('another'))
    await kinds.getByText('Commands 3').waitFor()
    expect(await listed(page)).toEqual(idsOf(questions))
    await kinds.getByText('Commands').click()
    await expect.poll(async () => (await listed(page)).slice(0, 2)).toEqual(idsOf(dangerous, command))
  })

  it('the list of the inbox groups by project or session, and remembers the choice; a new request joins its group or is announced, and moves no row on screen', async () => {
    const [one, two] = [await fixture.openAsker('one', '/src/shared'), await fixture.openAsker('two', '/src/shared')]
    const docs = await fixture.openAsker('docs', '/src/docs')
    const a = await one.ask(asks.command('npm run a'))
    const b = await docs.ask(asks.command('npm run b'))
    const c = await two.ask(asks.command('npm run c'))
    const page = await fixture.openPage()
    await rowOf(page, c).waitFor()
    expect(await listed(page)).toEqual(idsOf(a, b, c))
    const heads = () => page.locator('.group-head h3').allInnerTexts()
    await page.getByLabel('Group requests').selectOption('By project')
    await expect.poll(() => listed(page)).toEqual(idsOf(a, c, b))
    expect(await heads()).toEqual(['/src/shared', '/src/docs'])
    await page.getByLabel('Group requests').selectOption('By session')
    await expect.poll(heads).toEqual(['one', 'docs', 'two'])
    await page.reload()
    await expect.poll(heads).toEqual(['one', 'docs', 'two'])
    // All rows are on screen, so the new request of the first group would move the others.
    const late = await one.ask(asks.command('npm run late'))
    const more = page.getByRole('button', { name: '1 new' })
    await more.waitFor()
    expect(await listed(page)).toEqual(idsOf(a, b, c))
    await more.click()
    await expect.poll(() => listed(page)).toEqual(idsOf(a, late, b, c))
  })

  it('a row describes the request in the agent’s words and in Holdpoint’s, and leaves out what the header of its group says', async () => {
    const title = `Upgrade everything ${'and what depends on it '.repeat(12)}`.slice(0, 300)
    const asker = await fixture.openAsker(title, '/src/platform')
    const plan = await asker.ask(asks.plan())
    const command = await asker.ask(asks.command(`echo ${'x'.repeat(5000)} end`))
    const page = await fixture.openPage()
    const facts = (request: Request) => visibleText(rowOf(page, request).locator('.row-who'))
    await rowOf(page, plan).waitFor()
    // The title of every plan is “Approve the plan”, so the row shows the first line of the plan.
    expect(await visibleText(rowOf(page, plan).locator('.row-what'))).toBe('Plan')
    expect(await facts(plan)).toMatch(/^Approve a plan[\s\S]*Upgrade every/)
    // The start of a long command gets more space than its end, and the title of a session is cut without a count.
    const width = (part: string) =>
      rowOf(page, command)
        .locator(`.row-what > ${part}`)
        .evaluate(it => it.getBoundingClientRect().width)
    expect(await width('.cut-head')).toBeGreaterThan(await width('.cut-tail'))
    expect(await facts(command)).not.toContain('more⟩')
    await page.getByLabel('Group requests').selectOption('By session')
    await page.locator('.group-head', { hasText: '/src/platform' }).waitFor()
    expect(await facts(command)).toMatch(/^Notable:\s+not proven to be harmless\s+Run a command$/)
    await page.getByLabel('Group requests').selectOption('Not grouped')
  })

  it('the requests of a muted session are collapsed at the end of the inbox and counted separately, until the session is unmuted', async () => {
    const [loud, quiet] = [await fixture.openAsker('loud'), await fixture.openAsker('quiet')]
    const noise = await loud.ask(asks.command('npm run noise'))
    const other = await quiet.ask(asks.command('npm run other'))
    const page = await fixture.openPage()
    await openCard(page, noise)
    await button(page, 'Mute session').click()
    await expect.poll(() => listed(page)).toEqual(idsOf(other))
    await page.getByRole('heading', { name: '1 request waiting' }).waitFor()
    await page.getByText('1 muted', { exact: true }).waitFor()
    await expect.poll(() => page.title()).toBe('(1) Holdpoint')
    await cardOf(page, other).waitFor()
    const again = await loud.ask(asks.command('npm run again'))
    await page.reload()
    await button(page, 'Muted: 2 requests').click()
    await openCard(page, noise)
    await click(page, button(cardOf(page, noise), 'Allow once'))
    expect(await fixture.answerGivenOnPage(noise)).toEqual({ kind: 'allow' })
    await openCard(page, again)
    await button(page, 'Unmute session').click()
    await page.getByRole('heading', { name: '2 requests waiting' }).waitFor()
  })

  it('the next request opens after an answer; the answered row becomes a receipt of the same height in its place', async () => {
    const asker = await fixture.openAsker()
    const requests = []
    for (const name of ['one', 'two', 'three']) requests.push(await asker.ask(asks.command(`echo ${name}`)))
    const [one, two, three] = requests
    if (!one || !two || !three) throw new Error('no requests were opened')
    const page = await fixture.openPage()
    await openCard(page, two)
    const places = () =>
      page.locator('li.request-row').evaluateAll(all => all.map(it => it.getBoundingClientRect().top))
    const before = await places()
    await click(page, button(cardOf(page, two), 'Allow once'))
    await rowOf(page, two).locator('details.receipt', { hasText: 'allowed by you' }).waitFor()
    await cardOf(page, three).waitFor()
    expect(await places()).toEqual(before)
    // The row with the focus keeps the keys working.
    await cardOf(page, three).locator('[data-key="a"]').waitFor()
  })

  it('a typed secret and an open panel are kept while the person looks at another request', async () => {
    const asker = await fixture.openAsker()
    const secret = await asker.ask(asks.secret())
    const command = await asker.ask(asks.command())
    const page = await fixture.openPage()
    await (await openCard(page, secret)).getByLabel('Your answer').fill('s3cr3t')
    const card = await openCard(page, command)
    await button(card, 'Deny…').click()
    await openCard(page, secret)
    expect(await cardOf(page, secret).getByLabel('Your answer').inputValue()).toBe('s3cr3t')
    await openCard(page, command)
    expect(await card.getByRole('textbox').isVisible()).toBe(true)
  })

  it('a key that selects the next request works on a request with an open panel, and is not typed into the field of the panel', async () => {
    const asker = await fixture.openAsker()
    const [first, second] = [await asker.ask(asks.command('echo first')), await asker.ask(asks.command('echo second'))]
    const page = await fixture.openPage()
    const card = await openCard(page, first)
    await button(card, 'Deny…').click()
    await card.locator('textarea:focus').waitFor()
    await openCard(page, second)
    await pressKey(page, 'k')
    await card.getByRole('textbox').waitFor()
    await pressKey(page, 'j')
    await cardOf(page, second).waitFor()
    await openCard(page, first)
    expect(await card.getByRole('textbox').inputValue()).toBe('')
  })

  it('a question with two options is answered with one click, but not with a click right after the card appears', async () => {
    const page = await fixture.openPage()
    const asker = await fixture.openAsker()
    await page.evaluate(() => {
      new MutationObserver((_, observer) => {
        const option = document.querySelector<HTMLButtonElement>('button.option-button')
        if (!option) return
        observer.disconnect()
        option.click()
      }).observe(document.body, { childList: true, subtree: true })
    })
    const request = await asker.ask(yesNo)
    const card = cardOf(page, request)
    await card.getByText('This card just changed').waitFor()
    expect(await fixture.isPending(request)).toBe(true)
    await click(page, card.getByRole('button', { name: /^No/ }))
    const chosen = (label: string) => ({ kind: 'answers', answers: [{ id: 'redirect', chosen: [label] }] })
    expect(await fixture.answerGivenOnPage(request)).toEqual(chosen('No'))
    // A number key only chooses, and another key sends.
    const again = await asker.ask(yesNo)
    await cardOf(page, again).waitFor()
    await pressKey(page, 'j')
    await pressKey(page, '1')
    await cardOf(page, again).locator('.option-button.chosen', { hasText: 'Yes' }).waitFor()
    expect(await fixture.isPending(again)).toBe(true)
    await pressKey(page, 'a')
    expect(await fixture.answerGivenOnPage(again)).toEqual(chosen('Yes'))
  })

  it('on a card, the command or the question is the largest text', async () => {
    const asker = await fixture.openAsker()
    const page = await fixture.openPage()
    for (const [ask, text] of [
      [asks.command('npm test'), 'npm'],
      [yesNo, 'Should the old guide redirect?'],
      [asks.form(), 'Release'],
    ] as const) {
      const card = await openCard(page, await asker.ask(ask))
      const sizeOf = (found: typeof card) => found.evaluate(it => Number.parseFloat(getComputedStyle(it).fontSize))
      const largest = () =>
        card
          .locator('*')
          .evaluateAll(all => Math.max(...all.map(it => Number.parseFloat(getComputedStyle(it).fontSize))))
      // The styles of a part of the card can be loaded after the card is shown.
      await expect
        .poll(async () => (await largest()) === (await sizeOf(card.getByText(text, { exact: true }).first())))
        .toBe(true)
      expect(await largest()).toBeGreaterThan(await sizeOf(card.getByRole('heading', { level: 3 })))
    }
  })

  describe('on a phone', () => {
    it('a tap opens the card over the whole screen; Back and the browser’s back button return to the same place in the list', async () => {
      const asker = await fixture.openAsker()
      const requests = []
      for (let at = 0; at < 30; at++) requests.push(await asker.ask(asks.command(`echo ${at}`)))
      const last = requests.at(-1)
      if (!last) throw new Error('no requests were opened')
      const page = await fixture.openPage(phone)
      expect(await page.locator('article').count(), 'the list comes first').toBe(0)
      await rowOf(page, last).scrollIntoViewIfNeeded()
      const top = () => page.locator('.inbox-list').evaluate(it => it.scrollTop)
      const before = await top()
      expect(before).toBeGreaterThan(0)
      await openCard(page, last)
      await page.waitForURL(`**/#/inbox/${last.id}`)
      expect(await page.getByRole('navigation', { name: 'Screens' }).isVisible()).toBe(false)
      await page.goBack()
      await page.locator('article').waitFor({ state: 'detached' })
      expect(await top()).toBe(before)
      await openCard(page, last)
      await button(page, 'Back').tap()
      await page.locator('article').waitFor({ state: 'detached' })
      expect(await top()).toBe(before)
      expect(await page.evaluate(() => location.hash)).toMatch(/^(#\/)?$/)
    })

    it('after an answer, the next card opens in the place of the first, and Back returns to the list', async () => {
      const asker = await fixture.openAsker()
      const [one, two] = [await asker.ask(asks.command('one')), await asker.ask(asks.command('two'))]
      const page = await fixture.openPage(phone)
      await openCard(page, one)
      const place = (request: Request) => button(cardOf(page, request), 'Allow once').boundingBox()
      await button(cardOf(page, one), 'Allow once').waitFor()
      const before = await place(one)
      await waitForCooldown(page)
      await button(cardOf(page, one), 'Allow once').tap()
      expect(await fixture.answerGivenOnPage(one)).toEqual({ kind: 'allow' })
      await cardOf(page, two).waitFor()
      await page.waitForURL(`**/#/inbox/${two.id}`)
      expect(await place(two)).toEqual(before)
      await page.goBack()
      await receipt(page, 'one', 'allowed by you').waitFor()
      await rowOf(page, two).waitFor()
    })

    it('selected requests are reviewed over the whole screen, and allowed from there', async () => {
      const asker = await fixture.openAsker()
      const requests = [await asker.ask(asks.command('one')), await asker.ask(asks.command('two'))]
      const page = await fixture.openPage(phone)
      for (const request of requests) await rowOf(page, request).getByRole('checkbox').check()
      await button(page, 'Review 2…').tap()
      await page.waitForURL('**/#/inbox/review')
      await page.goBack()
      await button(page, 'Review 2…').tap()
      const allow = button(page, 'Allow 2 once')
      await allow.waitFor()
      await click(page, allow)
      for (const request of requests) expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
      await page.waitForFunction(() => location.hash === '#/')
    })

    it('the review of several requests has “Deny” and “Allow” in the places of a card, apart from each other', async () => {
      const asker = await fixture.openAsker()
      const requests = [await asker.ask(asks.command('one')), await asker.ask(asks.command('two'))]
      const page = await fixture.openPage(phone)
      const places = async (deny: string, allow: string) => {
        const [left, right] = await Promise.all([deny, allow].map(name => button(page, name).boundingBox()))
        if (!left || !right) throw new Error('The buttons are not on the screen.')
        expect(left.x + left.width + 16).toBeLessThan(right.x)
        expect(left.y).toBe(right.y)
      }
      for (const request of requests) await rowOf(page, request).getByRole('checkbox').check()
      await button(page, 'Review 2…').tap()
      await button(page, 'Allow 2 once').waitFor()
      await places('Deny 2…', 'Allow 2 once')
      await button(page, 'Clear').tap()
      for (const request of requests.slice(0, 1)) await openCard(page, request)
      await places('Deny…', 'Allow once')
    })

    it('the count beside “Back” is never cut, also beside the button for similar requests', async () => {
      const asker = await fixture.openAsker()
      const requests = []
      for (const name of ['lint', 'test', 'build']) requests.push(await asker.ask(asks.command(`npm run ${name}`)))
      const page = await fixture.openPage(phone)
      for (const request of requests.slice(0, 1)) await openCard(page, request)
      await button(page, '2 more like this').waitFor()
      const count = page.locator('.detail-count')
      const isCut = await count.evaluate(it => it.scrollWidth > it.clientWidth)
      expect(isCut && (await count.isVisible())).toBe(false)
    })

    it('a link to a request that is no longer pending shows the list and says so', async () => {
      const asker = await fixture.openAsker()
      const old = await asker.ask(asks.command('old'))
      const other = await asker.ask(asks.command('other'))
      await fixture.answer(old)
      const page = await fixture.openPage(phone)
      await page.goto(`${fixture.gateway.url}/#/inbox/${old.id}`)
      await page.getByText('That request is no longer pending.').waitFor()
      expect(await rowOf(page, other).isVisible()).toBe(true)
    })
  })
})
