import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ask, Request } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { hasNoBrowser } from '../support/browser.ts'
import { announceLocalRunner } from '../support/local-agent.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, click, openCard, setUpPageFixture, visibleText } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('rules made from requests', () => {
  let runner: Awaited<ReturnType<typeof announceLocalRunner>> | undefined
  let project = ''
  const fixture = setUpPageFixture({}, 'light', async () => {
    project = join(fixture.gateway.folder, 'project')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), JSON.stringify({ scripts: { test: 'vitest', lint: 'x' } }))
    await runner?.close()
    runner = await announceLocalRunner(fixture.gateway)
  })
  afterAll(() => runner?.close())

  const addedRules = async () => (await fixture.gateway.call('listRules', {})).items.filter(({ madeAt }) => madeAt > 0)
  afterEach(async () => {
    for (const { id } of await addedRules()) await fixture.gateway.call('removeRule', { id })
  })

  const openAgent = () => {
    if (!runner) throw new Error('the runner is not announced')
    return runner.openAgent(project)
  }
  const command = (text: string, more: object = {}): Ask => ({ ...asks.command(text), cwd: project, ...more }) as Ask // `asks.command()` returns an approval
  const openPanel = async (page: Page, request: Request) => {
    const card = await openCard(page, request)
    await click(page, button(card, 'Always…'))
    return card
  }

  it('“Always…” explains the proposed rules, shows what they would have matched, and adds the chosen rule with its limits', async () => {
    const agent = await openAgent()
    await fixture.answer(await agent.ask(command('npm test')))
    await fixture.answer(await agent.ask(command('npm test -- denied.test.ts')), { kind: 'deny', reason: 'no' })
    const request = await agent.ask(command('npm test'))
    const other = await agent.ask(command('npm test -- other.test.ts'))
    const suggestions = [{ id: 's1', label: 'npm test:*', scope: 'session' }]
    const suggested = await agent.ask(command('npm test -- suggested.test.ts', { suggestions }))
    const page = await fixture.openPage()
    const card = await openPanel(page, request)
    const exact = card.getByRole('radio', { name: 'Only this command, with exactly these arguments' })
    expect(await exact.isChecked()).toBe(true)
    await card.getByText('It would have matched 1 request today: allowed by you.').waitFor()
    // The wider rule also covers a denied command, and says so.
    await card.getByRole('radio', { name: 'with any arguments that Holdpoint knows to be harmless' }).check()
    await card.getByText('It also answers 2 other pending requests now.').waitFor()
    expect(await visibleText(card.locator('.rule-preview'))).toMatch(/1 allowed by you[\s\S]*1 denied by you/)
    await card.getByText('Runs project code, which agents can change.').first().waitFor()
    await card.getByLabel('For how long').selectOption('Until this session ends')
    await expect.poll(() => card.getByLabel('Where').isDisabled()).toBe(true)
    await card.getByLabel('For how long').selectOption('1 hour')
    await card.getByLabel('Where').selectOption('Only in this session')
    await card.getByLabel('Number of uses').fill('none')
    await card.getByText('Enter a whole number above 0').waitFor()
    expect(await button(card, 'Allow and add rule').isDisabled()).toBe(true)
    await card.getByLabel('Number of uses').fill('1')
    await click(page, button(card, 'Allow and add rule'))
    expect(await fixture.answerGivenOnPage(request)).toMatchObject({ kind: 'allow' })
    const [rule] = await addedRules()
    expect(rule).toMatchObject({
      effect: 'allow',
      command: 'npm test',
      args: 'grammar',
      scope: { cwd: project, session: agent.session.id },
    })
    expect((rule?.expiresAt ?? 0) - (rule?.madeAt ?? 0)).toBeGreaterThan(59 * 60_000)
    expect((await fixture.waitUntilResolved(other)).resolution).toMatchObject({ by: 'rule', rule: rule?.id })
    expect(await fixture.isPending(suggested)).toBe(true)
    await openPanel(page, suggested)
    await cardOf(page, suggested).getByText('Suggested and stored by Test agent, not by Holdpoint:').waitFor()
  })

  it('“Always…” says why no rule can be proposed, and shows the agent’s text escaped', async () => {
    const agent = await openAgent()
    const several = await agent.ask(command('npm test && npm run x'))
    const hostile = await agent.ask(command('make "a\u200b <b>b</b>"'))
    const page = await fixture.openPage()
    const first = await openPanel(page, several)
    await first.getByText('Holdpoint proposes no rule for this.').waitFor()
    await first.getByText('this one has several parts').waitFor()
    expect(await button(first, 'Allow and add rule').count()).toBe(0)
    const second = await openPanel(page, hostile)
    await second
      .locator('.always-panel')
      .getByText(/A rule needs a command that Holdpoint can read completely|\\u\{200b\}/)
      .first()
      .waitFor()
    expect(await second.locator('.always-panel b', { hasText: /^b$/ }).count()).toBe(0)
  })

  it('a person who is not the owner gets “Always…” only for suggestions that end with the session', async () => {
    const { secret } = await fixture.gateway.call('addToken', { role: 'person', name: 'Bob' })
    const agent = await openAgent()
    const plain = await agent.ask(command('npm test'))
    const suggestions = [
      { id: 's1', label: 'npm run check:*', scope: 'session' },
      { id: 's2', label: 'npm run build:*', scope: 'userSettings' },
      { id: 's3', label: 'accept all edits', scope: 'session', mode: 'acceptEdits' },
    ]
    const suggested = await agent.ask(command('npm run check', { suggestions }))
    const stored = await agent.ask(command('npm run build', { suggestions: suggestions.slice(1) }))
    const page = await fixture.openPage({ token: secret })
    for (const request of [plain, stored]) {
      const card = await openCard(page, request)
      await button(card, 'Allow once').waitFor()
      expect(await button(card, 'Always…').count()).toBe(0)
    }
    const card = await openPanel(page, suggested)
    await card.getByText('Only the owner of this gateway can add a rule that allows something.').waitFor()
    expect(await card.getByRole('radio').count()).toBe(1)
    await click(page, button(card, 'Allow and remember'))
    expect(await fixture.answerGivenOnPage(suggested)).toEqual({ kind: 'allow', suggestion: 's1' })
  })

  it('the inbox offers a rule once for a command that this person allowed five times and nobody denied', async () => {
    const agent = await openAgent()
    const { secret } = await fixture.gateway.call('addToken', { role: 'person', name: 'Bob' })
    for (let at = 0; at < 3; at++) {
      const { id, digest } = await agent.ask(command('npm run lint'))
      await fixture.gateway.callAs(secret)('answerRequest', { id, digest, answer: { kind: 'allow' } })
    }
    for (let at = 0; at < 4; at++) await fixture.answer(await agent.ask(command('npm run lint')))
    const page = await fixture.openPage()
    const allow = async () => {
      const request = await agent.ask(command('npm run lint'))
      await click(page, button(await openCard(page, request), 'Allow once'))
      await fixture.answerGivenOnPage(request)
    }
    const offer = page.getByRole('region', { name: 'A rule from your history' })
    await allow()
    await offer.getByText('5 times and never denied it. Make it a rule?').waitFor()
    expect(await visibleText(offer)).toContain('You allowed npm run lint in')
    await button(offer, 'No, thanks').click()
    await offer.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor()
    await allow()
    const other = await agent.ask(command('npm run build'))
    await cardOf(page, other).waitFor()
    expect(await offer.count()).toBe(0)
    await page.evaluate(() => localStorage.removeItem('holdpoint.declined-rules'))
    await page.reload()
    await cardOf(page, other).waitFor()
    await allow()
    await click(page, button(offer, 'Make it a rule'))
    await page.getByText('The rule was added.').waitFor()
    expect(await addedRules()).toMatchObject([{ effect: 'allow', command: 'npm run lint', scope: { cwd: project } }])
  })
})
