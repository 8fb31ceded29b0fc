/** Comments on lines of a request, and questions that people ask back, on the page. */
import { type Ask, type Input, type JsonObject, limits } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { announceLocalRunner } from '../support/local-agent.ts'
import { asks } from '../support/request-samples.ts'
import {
  button,
  cardOf,
  click,
  openCard,
  receipt,
  setUpPageFixture,
  visibleText,
  waitForCooldown,
} from './page-fixture.ts'

const path = '/src/api/src/retry.ts'

describe.skipIf(hasNoBrowser())('review of a request on the page', () => {
  const fixture = setUpPageFixture()

  /** Opens the page with one request. */
  async function openRequest(ask: Ask, options = {}) {
    const page = await fixture.openPage(options)
    const agent = await fixture.openAsker()
    const request = await agent.ask(ask)
    const card = await openCard(page, request)
    return { page, agent, request, card }
  }
  const commentOn = (card: Locator, place: string) => button(card, `Comment on ${place}`)

  it('comments on lines of a diff go with a denial, and the receipt shows path, line, quotation and comment', async () => {
    const { page, request, card } = await openRequest(asks.edit())
    await button(card, 'Comment…').click()
    await card.getByText('Choose a line to comment on it.').waitFor()
    await card.locator('.diff-row.added', { hasText: 'log(tries)' }).locator('code').click()
    await card.getByLabel('Comment on line 3 of the new text').and(card.locator('textarea')).fill('Do not log this.')
    await button(card, 'Done').click()
    await card.locator('.diff-row.removed').locator('code').click()
    await card.locator('textarea').fill('Keep 3 tries.')
    await card.getByText('2 comments go with your answer.').waitFor()
    await button(card, 'Deny…').click()
    await click(page, button(card, 'Deny'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({
      kind: 'deny',
      comments: [
        { path, line: 2, side: 'before', quote: '  const tries = 3', text: 'Keep 3 tries.' },
        { path, line: 3, side: 'after', quote: '\tlog(tries)', text: 'Do not log this.' },
      ],
    })
    const line = receipt(page, 'denied by you, with 2 comments')
    await line.locator('summary').click()
    const details = line.locator('.receipt-details')
    await details.getByText(`${path}, line 3 of the new text`).waitFor()
    expect(await visibleText(details)).toContain('Do not log this.')
  })

  it('a change of several files shows the diff of each file, and comments name their file', async () => {
    const changes: JsonObject[] = [
      { path: '/src/b.ts', kind: 'update', diff: '@@ -7 +7 @@ main()\n-const b = 1\n+const b = 2\n' },
      { path: '/src/a.ts', old_string: '', new_string: 'const a = 1\n' },
      { path: '/src/gone.ts', kind: 'delete', diff: 'old\n' },
      { path: '/src/c.ts', kind: 'update', move_path: '/src/d.ts', diff: '' },
    ]
    const ask = { ...asks.edit(), tool: 'apply_patch', input: { changes, grantRoot: '/srv' } } as Ask // `asks.edit()` returns an approval, which may have any `input`
    const { page, request, card } = await openRequest(ask)
    const shown = await visibleText(card)
    for (const text of [
      '@@ -7 +7 @@ main()',
      'new file · 2 added',
      'deleted · 2 removed',
      'moved to',
      '/src/d.ts',
      '/srv',
    ])
      expect(shown).toContain(text)
    expect(shown).not.toContain('\\n')
    await button(card, 'Comment…').click()
    await card.getByText('Choose a line to comment on it.').waitFor()
    await commentOn(card, 'line 1 of the new text in /src/b.ts').click()
    await card.locator('textarea').fill('Why 2?')
    await button(card, 'Done').click()
    await commentOn(card, 'line 1 in /src/a.ts').click()
    await card.locator('textarea').fill('Export this.')
    await button(card, 'Done').click()
    await card.getByText('2 comments go with your answer.').waitFor()
    await button(card, 'Deny…').click()
    await click(page, button(card, 'Deny'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({
      kind: 'deny',
      comments: [
        { path: '/src/a.ts', line: 1, quote: 'const a = 1', text: 'Export this.' },
        { path: '/src/b.ts', line: 1, side: 'after', quote: 'const b = 2', text: 'Why 2?' },
      ],
    })
  })

  it('a line can be chosen with the keyboard, and keys in a comment field never send an answer', async () => {
    const { page, request, card } = await openRequest(asks.plan())
    await waitForCooldown(page)
    await page.keyboard.press('c')
    const first = commentOn(card, 'line 1 of the plan')
    await expect.poll(() => first.evaluate(element => element === document.activeElement)).toBe(true)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await card.locator('textarea').waitFor()
    await page.keyboard.type('Which schema?')
    await page.keyboard.press('Control+Enter')
    await card.locator('textarea').waitFor({ state: 'detached' })
    expect(await commentOn(card, 'line 3 of the plan').evaluate(element => element === document.activeElement)).toBe(
      true,
    )
    expect(await fixture.isPending(request)).toBe(true)
    await click(page, button(card, 'Approve with comments'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({
      kind: 'allow',
      comments: [{ line: 3, quote: '1. Read the schema', text: 'Which schema?' }],
    })
    await receipt(page, 'allowed by you, with 1 comment').waitFor()
  })

  it('a comment on a command of one line needs no choice of a line, and can be changed and deleted', async () => {
    const { card } = await openRequest(asks.command(), phone)
    await button(card, 'Comment…').tap()
    await card.locator('textarea').fill('Not on staging.')
    await button(card, 'Done').tap()
    await card.getByText('1 comment goes with your answer.').waitFor()
    await button(card, 'Edit').tap()
    await card.locator('textarea').fill('Use test.')
    await button(card, 'Done').tap()
    await card.getByText('Use test.').waitFor()
    await button(card, 'Delete').tap()
    await card.getByText('Choose a line to comment on it.').waitFor()
    await button(card, 'Done commenting').tap()
    await button(card, 'Allow once').waitFor()
  })

  it('on a phone, the buttons for a denial stay on the screen beside a long list of lines', async () => {
    const { card } = await openRequest(asks.write(60), phone)
    await button(card, 'Comment…').tap()
    await commentOn(card, 'line 1').tap()
    await card.locator('textarea').fill('Shorter.')
    await button(card, 'Deny…').tap()
    const deny = button(card, 'Deny')
    await deny.waitFor()
    const isInside = () =>
      deny.evaluate(element => {
        const footer = element.closest('.card-footer')?.getBoundingClientRect()
        return footer !== undefined && element.getBoundingClientRect().bottom <= footer.bottom
      })
    await expect.poll(isInside).toBe(true)
  })

  it('comments are part of the draft, so another device shows them', async () => {
    const { page, request, card } = await openRequest(asks.edit())
    const other = await openCard(await fixture.openPage(phone), request)
    await button(card, 'Comment…').click()
    await commentOn(card, 'line 1 of the new text').click()
    await card.locator('textarea').fill('Why a function?')
    await other.getByText('Why a function?').waitFor()
    await other.getByText('1 comment goes with your answer.').waitFor()
    await page.reload()
    await cardOf(page, request).getByText('Why a function?').waitFor()
  })

  it('the first line of the first edit takes the focus, and no field opens before the person chooses a line', async () => {
    const { page, card } = await openRequest({
      ...asks.edit(),
      tool: 'MultiEdit',
      input: {
        file_path: path,
        edits: [
          { old_string: 'const tries = 3', new_string: 'const tries = 8' },
          { old_string: 'const pause = 1', new_string: '' },
        ],
      },
    } as Ask) // a copy of an approval with other fields is still an approval
    await waitForCooldown(page)
    await page.keyboard.press('c')
    const buttons = card.locator('.comment-button')
    await expect.poll(() => buttons.first().evaluate(element => element === document.activeElement)).toBe(true)
    expect(await card.locator('textarea').count()).toBe(0)
  })

  it('a comment beyond the limit is refused with a message', async () => {
    const command = Array.from({ length: limits.commentsMax + 1 }, (_, i) => `echo ${i}`).join('\n')
    const { page, request, card } = await openRequest(asks.command(command))
    const comments = Array.from({ length: limits.commentsMax }, (_, i) => ({ line: i + 1, quote: '', text: 'no' }))
    await fixture.gateway.call('putDraft', { id: request.id, draft: { version: 1, comments } })
    await card.getByText(`${limits.commentsMax} comments go with your answer.`).waitFor()
    await commentOn(card, `line ${limits.commentsMax + 1} of the command`).click()
    await page.getByText(`An answer can have at most ${limits.commentsMax} comments.`).waitFor()
  })

  it('hostile characters of a line stay visible while a person comments on the line', async () => {
    const { card } = await openRequest(asks.command('echo a\u202E\u200Bb # ⟨CR⟩\nrm -rf build'))
    await button(card, 'Comment…').click()
    const shown = await visibleText(card.getByRole('group', { name: 'Lines to comment on' }))
    expect(shown).toContain('\\u{202e}')
    expect(shown).toContain('\\u{200b}')
    expect(shown).not.toContain('\u202E')
  })

  it('an agent that cannot read comments with an allow gets them only with a denial, and the card says so', async () => {
    const runner = await announceLocalRunner(fixture.gateway, ['approvals', 'messages'])
    try {
      const agent = await runner.openAgent('/srv')
      const request = await agent.ask(asks.edit())
      const page = await fixture.openPage()
      const card = await openCard(page, request)
      await button(card, 'Comment…').click()
      await commentOn(card, 'line 1 of the new text').click()
      await card.locator('textarea').fill('No.')
      await card.getByText('they are sent only with “Deny”').waitFor()
      expect(await button(card, 'Ask back…').count()).toBe(0)
      await click(page, button(card, 'Allow without your comments'))
      expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
    } finally {
      runner.close()
    }
  })

  it('if a person asks back, the receipt shows the question and no denial, and the next request shows the discussion', async () => {
    const { page, agent, request, card } = await openRequest(asks.command())
    await button(card, 'Ask back…').click()
    await expect.poll(() => button(card, 'Ask the agent').isDisabled()).toBe(true)
    await card.getByLabel('What do you want to know').fill('Why staging?')
    await click(page, button(card, 'Ask the agent'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'deny', reason: 'Why staging?', askBack: true })
    const line = receipt(page, 'asked back by you: Why staging?')
    await line.waitFor()
    expect(await line.locator('.receipt-icon.asked').count()).toBe(1)
    const { id } = agent.session
    const items = [{ type: 'message.added' as const, block: 'b1', text: 'Because it is broken there.' }]
    await fixture.gateway.call('appendEvents', { id, items })
    const next = await agent.ask(asks.command('npm run migrate -- --env test'))
    expect(next.follows).toBe(request.id)
    const followed = (await openCard(page, next)).locator('.followed-request')
    await followed.getByText('You asked back:').waitFor()
    expect(await visibleText(followed)).toContain('Why staging?')
    expect(await visibleText(followed)).toContain('Because it is broken there.')
  })

  it('the discussion before a request contains an answer that is many events old, or says where to read the answer', async () => {
    const agent = await fixture.openAsker()
    const { id } = agent.session
    const asked = await agent.ask(asks.command())
    await fixture.answer(asked, { kind: 'deny', reason: 'Why staging?', askBack: true })
    const say = (items: Input<'appendEvents'>['items']) => fixture.gateway.call('appendEvents', { id, items })
    await say([{ type: 'message.added', block: 'b1', text: 'Because it is broken there.' }])
    const noise = (count: number) =>
      Array.from({ length: count }, () => ({ type: 'error.raised' as const, message: 'Noise' }))
    await say(noise(150))
    const next = await agent.ask(asks.command('npm run migrate -- --env test'))
    const page = await fixture.openPage()
    const followed = (await openCard(page, next)).locator('.followed-request')
    await followed.getByText('Because it is broken there.').waitFor()
    for (let rest = limits.pageMax * 10; rest > 0; rest -= 200) await say(noise(Math.min(200, rest)))
    await page.reload()
    await followed.getByRole('link', { name: 'Open the session to read the answer.' }).waitFor()
    expect(await visibleText(followed)).not.toContain('wrote nothing')
  })

  it('a person can ask back instead of answering questions, but not instead of filling in a form', async () => {
    const { page, agent, request, card } = await openRequest(asks.questions())
    await button(card, 'Ask back…').click()
    await card.getByLabel('What do you want to know').fill('Who reads the output?')
    await click(page, button(card, 'Ask the agent'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({
      kind: 'decline',
      reason: 'Who reads the output?',
      askBack: true,
    })
    const form = await openCard(page, await agent.ask(asks.form()))
    await button(form, 'Decline…').waitFor()
    expect(await button(form, 'Ask back…').count()).toBe(0)
  })
})
