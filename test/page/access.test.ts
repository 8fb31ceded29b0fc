// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { connectionErrors, desktop, hasNoBrowser, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { violationsOn } from './axe.ts'
import { button, cardOf, openCard, receipt, rowOf, select, setUpPageFixture } from './page-fixture.ts'

/** axe would measure colors in the middle of an animation, and cards appear with one while axe runs. */
const withoutMotion = { reducedMotion: 'reduce' } as const

const looks = [
  { name: 'on a desktop', options: desktop },
  { name: 'on a phone', options: phone },
] as const

describe.skipIf(hasNoBrowser())('accessibility of the page', () => {
  const fixture = setUpPageFixture({ runner: 'inline' }, 'fast')

  /** Opens requests and sessions of every kind, so that every screen has content. */
  async function openSamples() {
    const asker = await fixture.openAsker('api-server')
    const talker = await fixture.openAsker('docs')
    await fixture.gateway.call('appendEvents', {
      id: talker.session.id,
      items: [
        {
          type: 'message.added',
          block: 'm',
          text: '# Plan\n\n- one\n- `two`\n\n```ts\nconst a = 1\n```\n\n| a | b |\n|-|-|\n| 1 | 2 |',
        },
        { type: 'tool.started', block: 't', tool: 'Bash', input: { command: 'npm test' } },
        { type: 'tool.finished', block: 't', ok: false, output: '1 failed' },
        {
          type: 'tool.started',
          block: 'e',
          tool: 'Edit',
          input: {
            file_path: '/src/api/a.ts',
            old_string: "const a = 'one' // 1\nrun(a, 1)",
            new_string: "const a = 'two' // 2\nrun(a, 2)",
          },
        },
        { type: 'tool.finished', block: 'e', ok: true, output: 'done' },
        {
          type: 'tool.started',
          block: 'l',
          tool: 'TodoWrite',
          input: { todos: ['completed', 'in_progress', 'pending'].map(status => ({ content: 'Test', status })) },
        },
        { type: 'tool.finished', block: 'l', ok: true, output: 'done' },
        { type: 'message.added', block: 's', text: 'Below.', agentPath: ['reviewer'] },
        { type: 'error.raised', message: 'It broke.' },
        { type: 'turn.finished', ending: 'done', cost: 0.1 },
      ],
    })
    await fixture.answer(await asker.ask(asks.command('npm test')))
    await fixture.answer(await asker.ask(asks.command('npm run deploy')), { kind: 'deny', reason: 'no' })
    const all = [asks.command(), asks.dangerous(), asks.edit(), asks.write(60), asks.plan(), asks.fields()]
    const more = [asks.suggested(), asks.questions(), asks.secret(), asks.form(), asks.link()]
    const requests = []
    for (const ask of [...all, ...more]) requests.push(await asker.ask(ask, { deadlineMs: 3600_000 }))
    const discussed = await talker.ask(asks.plan())
    const scope = { cwd: '/src/api' }
    await fixture.gateway.call('addRule', { effect: 'allow', group: 'only-reads', scope, paused: true })
    await fixture.gateway.call('addRule', { effect: 'deny', command: 'git push', message: 'No.', note: 'Why not' })
    return { asker, talker, requests, discussed }
  }

  it.each(looks)('axe finds no violations on any screen in the light and dark themes ($name)', async ({ options }) => {
    const { asker, talker, requests, discussed } = await openSamples()
    const page = await fixture.openPage({
      ...options,
      ...withoutMotion,
      colorScheme: 'light',
      expectedErrors: connectionErrors,
    })
    const found: Record<string, readonly string[]> = {}
    // In the dark theme, check only the contrast, because a theme changes nothing but colors.
    const look = async (name: string, except = {}) => {
      found[name] = await violationsOn(page, except)
      await page.emulateMedia({ colorScheme: 'dark' })
      found[`${name}, dark`] = await violationsOn(page, { runOnly: ['color-contrast'] })
      await page.emulateMedia({ colorScheme: 'light' })
    }
    const visit = (hash: string) => page.goto(`${fixture.gateway.url}/${hash}`)
    const isPhone = options === phone
    const at = (index: number) => {
      const request = requests[index]
      if (!request) throw new Error(`only ${requests.length} were asked`)
      return request
    }
    /** Checks a card as it opens, and again in the middle of an answer. */
    const lookAtCard = async (index: number, answer?: (card: Locator) => Promise<unknown>) => {
      const card = await openCard(page, at(index))
      found[`card ${index}`] = await violationsOn(page)
      await answer?.(card)
      if (answer) await look(`card ${index}, in the middle of an answer`)
      if (isPhone) await page.goBack()
    }

    await rowOf(page, at(10)).waitFor()
    await look('inbox')
    await lookAtCard(0, card => button(card, 'Deny…').click())
    await lookAtCard(1)
    await lookAtCard(2, async card => {
      await button(card, 'Edit…').click()
      await card.getByLabel('(this is what will run)').fill('other')
      // The reply of the gateway changes the sizes of the card. axe reads sizes anew for each rule, but remembers what is focusable.
      await card.locator('.edited-risk .risk-line').waitFor()
    })
    await lookAtCard(3, card => button(card, 'Note…').click())
    await lookAtCard(4, async card => {
      await button(card, 'Comment…').click()
      await button(card, 'Comment on line 1 of the plan').click()
      await card.locator('textarea').fill('Shorter.')
      await button(card, 'Done').click()
      await button(card, 'Comment on line 3 of the plan').click()
    })
    await lookAtCard(5, card => button(card, 'Ask back…').click())
    await lookAtCard(6, card => button(card, 'Always…').click())
    for (const index of [7, 8]) await lookAtCard(index)
    await lookAtCard(9, async card => {
      await card.locator('.scroll-end').last().scrollIntoViewIfNeeded()
      await button(card, 'Submit').click()
    })
    await lookAtCard(10)
    await fixture.answer(discussed, { kind: 'deny', reason: 'Why?', askBack: true })
    const following = await talker.ask(asks.plan())
    await (await openCard(page, following)).locator('.followed-request').waitFor()
    await look('card with a discussion')
    if (isPhone) await page.goBack()
    await page.getByLabel('Group requests').selectOption('session')
    for (const index of [0, 2]) await select(page, at(index))
    await look('inbox, grouped and selected')
    if (isPhone) await button(page, 'Review 2…').click()
    await page.locator('.batch-bar').waitFor()
    await look('inbox, review')

    await visit(`#/sessions/${talker.session.id}`)
    const log = page.getByRole('log', { name: 'Transcript' })
    // The transcript moves until its beginning is loaded, and a click on a moving line may miss it.
    await log.getByText('The session starts here.').waitFor()
    const output = log.getByText('1 failed')
    // On a slow machine, the line may still move a little when the click arrives, so that the click misses it.
    await expect
      .poll(async () => {
        if (!(await output.isVisible())) await log.getByRole('button', { name: /Bash/ }).click()
        return output.isVisible()
      })
      .toBe(true)
    await look('session')
    await button(page, 'Overview').click()
    await page.getByRole('button', { name: /a\.ts.*lines? added/ }).click()
    await page.locator('.overview .diff-row.added').first().waitFor()
    await look('session, overview')
    await page
      .getByRole('button', { name: /^Search/ })
      .first()
      .click()
    await page.getByRole('searchbox').fill('failed')
    await page.getByText('1 of 1').waitFor()
    await look('session, search')
    await visit('#/sessions')
    await page.locator('li.session-row').first().waitFor()
    await look('sessions')
    await button(page, 'Stop everything…').click()
    await page.getByRole('dialog', { name: 'Stop everything?' }).waitFor()
    await look('sessions, stop everything')
    await page.keyboard.press('Escape')
    await visit('#/settings')
    await button(page, 'Create a link').click()
    await page.getByText('Open this link in another browser on this computer.').waitFor()
    await look('settings, with a link')
    await visit('#/nonsense')
    await page.getByRole('heading', { name: 'This page doesn’t exist' }).waitFor()
    await look('unknown address')
    await visit('#/audit')
    await receipt(page, 'npm run deploy').first().locator('summary').click()
    await page.locator('.receipt-details').waitFor()
    await look('audit')
    await visit('#/rules')
    await page.locator('.rule-row summary').first().click()
    await button(page, 'What would it have matched?').click()
    await page.getByText('It would have matched').waitFor()
    await look('rules')
    await button(page, 'New rule').click()
    await page.getByRole('dialog', { name: 'New rule' }).getByLabel('Deny').check()
    await look('rules, form')
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await look('help')
    await page.keyboard.press('Escape')
    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('dialog', { name: 'Go to' }).waitFor()
    await look('palette')
    await page.keyboard.press('Escape')
    await page.keyboard.press('n')
    await page.getByRole('dialog', { name: 'New session' }).getByRole('radio').first().waitFor()
    await look('start')
    await page.keyboard.press('Escape')
    await page.locator('button.user-menu-button').click()
    await look('menu')
    await page.keyboard.press('Escape')

    await fixture.gateway.call('stopEverything', {})
    await visit('#/')
    await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor()
    await look('inbox, empty')
    await asker.ask(asks.command())
    await page.getByRole('heading', { name: '1 request waiting' }).waitFor()
    await page.context().setOffline(true)
    await page.getByText('Reconnecting…').waitFor()
    // The whole screen is inert during a reconnect, including its landmark and heading.
    const off = { enabled: false }
    await look('reconnecting', { rules: { 'landmark-one-main': off, 'page-has-heading-one': off } })
    expect(Object.fromEntries(Object.entries(found).filter(([, wrong]) => wrong.length > 0))).toEqual({})
    expect(Object.keys(found)).toHaveLength(26 - 2 + 4 + requests.length + 14 + 4 + 8)
  })

  it('axe finds no violations on the sign-in screen', async () => {
    const context = await fixture.browser.newContext({ ...desktop, ...withoutMotion })
    const page = await context.newPage()
    await page.goto(fixture.gateway.url)
    await page.getByText('This browser is not signed in').waitFor()
    expect(await violationsOn(page)).toEqual([])
    await context.close()
  })

  it('axe finds no violations on the screen that asks before another person is signed in', async () => {
    const page = await fixture.openPage(withoutMotion)
    const { secret } = await fixture.gateway.call('addToken', { role: 'person', name: 'ben' })
    const { code } = await fixture.gateway.callAs(secret)('makeLink', {})
    await page.goto(`${fixture.gateway.url}/#code=${code}`)
    await page.getByRole('heading', { name: 'Sign in as ben?' }).waitFor()
    expect(await violationsOn(page)).toEqual([])
  })

  it('the page animates nothing if the person prefers reduced motion', async () => {
    const page = await fixture.openPage(withoutMotion)
    const asker = await fixture.openAsker()
    // The fade at the end of a line of filters follows the scroll position, and not the time.
    const moving = () =>
      page.evaluate(() => {
        const timed = document.getAnimations().filter(it => it.timeline instanceof DocumentTimeline)
        return timed.filter(it => it.playState === 'running').length
      })
    const request = await asker.ask(asks.command())
    // A card appears with its session, and then the bar for selected requests.
    await cardOf(page, request).waitFor()
    await page.locator('.state-icon.waiting').first().waitFor()
    expect(await moving()).toBe(0)
    await select(page, request)
    await page.locator('.batch-bar').waitFor()
    expect(await moving()).toBe(0)
    await fixture.answer(request)
    await receipt(page).waitFor()
    expect(await moving()).toBe(0)
  })

  it('screen readers announce new requests, resolutions and messages, with line breaks instead of the sign ↵', async () => {
    const asker = await fixture.openAsker()
    const page = await fixture.openPage()
    const request = await asker.ask(asks.command())
    await cardOf(page, request).waitFor()
    await expect.poll(() => page.getByRole('list', { name: 'Pending requests, most urgent first' }).count()).toBe(1)
    expect(await cardOf(page, request).getAttribute('aria-label')).toBe('Run a command')
    const told = page.getByRole('status').filter({ hasText: 'Run a command: allowed by you' })
    const heard = told.first().waitFor({ state: 'attached' })
    await fixture.answer(request)
    await heard
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await page.getByRole('log', { name: 'Transcript' }).waitFor()
    const announced = page.locator('.transcript-frame > [role="status"]')
    await announced.waitFor({ state: 'attached' })
    await fixture.gateway.call('appendEvents', {
      id: asker.session.id,
      items: [{ type: 'message.added', block: 'm', text: 'First line.\n\nSecond line ☀️.' }],
    })
    await expect.poll(() => announced.textContent()).toBe('The agent: First line.\n\nSecond line ☀️.')
  })
})
