import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Ask } from '@holdpoint/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { hasNoBrowser } from '../support/browser.ts'
import { announceLocalRunner } from '../support/local-agent.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, click, openCard, pressKey, rowOf, setUpPageFixture, visibleText } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('the risk of requests', () => {
  let runner: Awaited<ReturnType<typeof announceLocalRunner>> | undefined
  let project = ''
  const fixture = setUpPageFixture({}, 'light', async () => {
    project = join(fixture.gateway.folder, 'project')
    mkdirSync(project)
    await runner?.close()
    runner = await announceLocalRunner(fixture.gateway)
  })
  afterAll(() => runner?.close())

  const openAgent = () => {
    if (!runner) throw new Error('the runner is not announced')
    return runner.openAgent(project)
  }
  const command = (text: string): Ask => ({ ...asks.command(text), cwd: project }) as Ask // `asks.command()` returns an approval
  const dangerous = 'rm -rf build && git push --force'

  it('the risk of each approval is shown in words, and inbox and session list the nearest deadline first, then the highest risk', async () => {
    const agent = await openAgent()
    const low = await agent.ask(command('ls'))
    const notable = await agent.ask(command('curl https://example.com/x'))
    const danger = await agent.ask(command(dangerous))
    const question = await agent.ask(asks.questions(), { deadlineMs: 3600_000 })
    const page = await fixture.openPage()
    const tab = await fixture.openTab(page, `#/sessions/${agent.session.id}`)
    await rowOf(page, low).waitFor()
    const order = await page.locator('li.request-row').evaluateAll(items => items.map(item => item.dataset.request))
    expect(order).toEqual([question.id, danger.id, notable.id, low.id])
    await rowOf(tab, low).waitFor()
    const rows = () => tab.locator('.pending-rows > li').evaluateAll(items => items.map(item => item.dataset.request))
    const idsOf = (...requests: readonly (typeof low)[]) => requests.map(({ id }) => id)
    expect(await rows()).toEqual(idsOf(question, danger, notable, low))
    // The card on the screen is not replaced by a request that is more urgent.
    const urgent = await agent.ask(command('rm -rf other'), { deadlineMs: 1800_000 })
    await rowOf(tab, urgent).waitFor()
    expect((await rows()).slice(0, 1)).toEqual(idsOf(question))
    expect(await cardOf(tab, question).isVisible()).toBe(true)
    await tab.reload()
    await cardOf(tab, urgent).waitFor()
    expect(await rows()).toEqual(idsOf(urgent, question, danger, notable, low))
    await fixture.answer(urgent, { kind: 'deny' })
    await rowOf(tab, urgent).waitFor({ state: 'detached' })
    await cardOf(tab, question).waitFor()
    expect(await rows()).toEqual(idsOf(question, danger, notable, low))
    const risk = async (request: typeof low) => visibleText((await openCard(page, request)).locator('.risk-line'))
    expect(await visibleText(rowOf(page, low))).toContain('Low risk')
    expect(await visibleText(rowOf(page, danger))).toContain('Dangerous')
    expect(await risk(low)).toBe('Low risk')
    expect(await risk(notable)).toMatch(/^Notable\s+uses the network$/)
    const level = cardOf(page, notable).locator('.risk-badge')
    expect(await level.evaluate(it => getComputedStyle(it).color)).toBe(
      await level.locator('.risk-icon').evaluate(it => getComputedStyle(it).color),
    )
    // In a row, the icon has the level, and the words say what tells this request from other notable ones.
    expect(await visibleText(rowOf(page, notable))).toContain('uses the network')
    expect(await risk(danger)).toMatch(/^Dangerous\s.*rewrites history.*deletes files/)
    expect(await (await openCard(page, question)).locator('.risk-line').count()).toBe(0)
    await openCard(page, danger)
    expect(await cardOf(page, danger).locator('[role="note"]').getAttribute('aria-label')).toContain('Dangerous: ')
    await page
      .locator('.sidebar')
      .getByRole('link', { name: /local Dangerous/ })
      .waitFor()
    // The receipt keeps the risk.
    await fixture.answer(danger, { kind: 'deny' })
    await page.locator('details.receipt', { hasText: 'rm -rf build' }).locator('summary').click()
    await page.locator('.receipt-facts').getByText('Dangerous: ').waitFor()
  })

  it('no key and no batch allows a dangerous request, and its button asks for a confirmation', async () => {
    const agent = await openAgent()
    const request = await agent.ask(command(dangerous))
    const page = await fixture.openPage()
    const card = cardOf(page, request)
    await card.waitFor()
    await pressKey(page, 'j')
    await pressKey(page, 'a')
    await page.getByText('This request is dangerous, so no key allows it. Use the button on its card.').waitFor()
    await pressKey(page, 'x')
    await page.getByText('This request is dangerous. Review it on its own.').waitFor()
    expect(await rowOf(page, request).getByRole('checkbox').count()).toBe(0)
    await button(card, 'Allow anyway…').click()
    await card
      .getByText(/^Dangerous: .*deletes files/)
      .last()
      .waitFor()
    expect(await fixture.isPending(request)).toBe(true)
    await click(page, button(card, 'Allow anyway'))
    expect(await fixture.answerGivenOnPage(request)).toEqual({ kind: 'allow' })
  })

  it('the risk shown with an edited command is the risk of the edited text, which needs a confirmation if it is dangerous', async () => {
    const agent = await openAgent()
    const harmless = await agent.ask(command('ls'))
    const danger = await agent.ask(command('rm -rf build'))
    const page = await fixture.openPage()
    const card = await openCard(page, harmless)
    await click(page, button(card, 'Edit…'))
    const field = card.getByLabel('Edit command (this is what will run)')
    await field.fill('rm -rf build')
    const risk = card.locator('.edited-risk')
    await expect.poll(() => visibleText(risk)).toMatch(/What it does with your changes:\s+Dangerous\s+deletes files/)
    await button(card, 'Allow with edits anyway…').press('Enter')
    await card.getByText('Dangerous: deletes files').waitFor()
    // Another text needs another confirmation.
    await field.fill('rm -rf dist')
    await button(card, 'Allow with edits anyway…').waitFor()
    await button(card, 'Allow with edits anyway…').press('Enter')
    expect(await fixture.isPending(harmless)).toBe(true)
    await click(page, button(card, 'Allow with edits anyway'))
    const input = { command: 'rm -rf dist', description: 'Migrate the staging database' }
    expect(await fixture.answerGivenOnPage(harmless)).toEqual({ kind: 'allow', input })
    expect((await fixture.waitUntilResolved(harmless)).resolution?.editedRisk).toMatchObject({ level: 'dangerous' })
    await page.locator('details.receipt', { hasText: 'rm -rf dist' }).locator('summary').click()
    await page.locator('.receipt-facts').getByText('Risk as edited').waitFor()
    const other = await openCard(page, danger)
    await click(page, button(other, 'Edit…'))
    await other.getByLabel('Edit command (this is what will run)').fill('ls')
    await expect
      .poll(() => visibleText(other.locator('.edited-risk')))
      .toMatch(/What it does with your changes:\s+Low risk/)
    await click(page, button(other, 'Allow with edits'))
    expect(await fixture.answerGivenOnPage(danger)).toMatchObject({ kind: 'allow', input: { command: 'ls' } })
  })

  it('edited text needs the same confirmation as dangerous text if the gateway cannot return its risk', async () => {
    const agent = await openAgent()
    const request = await agent.ask(command('ls'))
    const page = await fixture.openPage({ expectedErrors: /503/ })
    await page.route('**/requests/*/risk', route => route.fulfill({ status: 503, body: '{}' }))
    const card = cardOf(page, request)
    await click(page, button(card, 'Edit…'))
    await card.getByLabel('Edit command (this is what will run)').fill('ls -l')
    await button(card, 'Allow with edits anyway…').waitFor({ timeout: 60_000 })
    expect(await visibleText(card.locator('.edited-risk'))).toContain('has unknown effects')
  })

  it('an urgent new request moves nothing on the screen, and the button “1 new” moves the request to the top', async () => {
    const agent = await openAgent()
    const shown = []
    for (let at = 0; at < 7; at++) shown.push(await agent.ask(command(`ls -${'a'.repeat(at + 1)}`)))
    const page = await fixture.openPage()
    const ids = () => page.locator('li.request-row').evaluateAll(items => items.map(item => item.dataset.request))
    await expect.poll(ids).toEqual(shown.map(({ id }) => id))
    const [first] = shown
    if (!first) throw new Error('no request was opened')
    await cardOf(page, first).waitFor()
    const top = () => rowOf(page, first).evaluate(row => row.getBoundingClientRect().top)
    const before = await top()
    const urgent = await agent.ask(command(dangerous), { deadlineMs: 3600_000 })
    const more = page.getByRole('button', { name: '1 new' })
    await more.waitFor()
    expect(await top()).toBe(before)
    const order = await ids()
    expect(order[0]).toBe(first.id)
    expect(order.indexOf(urgent.id)).toBeGreaterThan(0)
    await more.click()
    await expect.poll(async () => (await ids())[0]).toBe(urgent.id)
  })
})
