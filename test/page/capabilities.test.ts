// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions, phone } from '../support/browser.ts'
import { announceLocalRunner } from '../support/local-agent.ts'
import { asks } from '../support/request-samples.ts'
import { button, cardOf, setUpPageFixture } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('the page of a session whose agent cannot do everything', () => {
  const fixture = setUpPageFixture()

  async function open(id: string, options: OpenOptions = {}): Promise<Page> {
    const page = await fixture.openPage(options)
    await page.goto(`${fixture.gateway.url}/#/sessions/${id}`)
    return page
  }

  it('the page of a session whose agent cannot do everything offers no note, no edit, no files, no interrupt and no “Deny and stop”, and says what rules see', async () => {
    const runner = await announceLocalRunner(fixture.gateway, ['approvals', 'messages'])
    try {
      const agent = await runner.openAgent('/srv')
      const request = await agent.ask(asks.edit())
      const page = await open(agent.session.id)
      const card = cardOf(page, request)
      await button(card, 'Deny…').waitFor()
      expect(await card.getByRole('button', { name: /Edit…|Note…/ }).count()).toBe(0)
      await page.keyboard.press('e')
      expect(await card.getByLabel('(this is what will run)').count()).toBe(0)
      await button(card, 'Deny…').click()
      await card.getByLabel('the agent stops its turn').waitFor()
      expect(await button(card, 'Deny and stop').count()).toBe(0)
      const header = page.locator('.session-header')
      await header.getByText('Rules see only what this agent asks.').waitFor()
      expect(await header.getByRole('button', { name: /Interrupt/ }).count()).toBe(0)
      expect(await button(page, 'Add files').count()).toBe(0)
    } finally {
      runner.close()
    }
  })

  it('the page of a session whose agent cannot do everything shows the command line that opens the session in the agent’s own terminal, while its process runs', async () => {
    const runner = await announceLocalRunner(fixture.gateway, ['approvals', 'checksEveryTool', 'sharedTerminal'])
    try {
      const agent = await runner.openAgent('/srv')
      const attach = 'codex resume --remote unix:///data/codex/ses_1/codex.sock 0198'
      await agent.say({ type: 'session.changed', process: { state: 'live', pid: 1, attach } })
      const page = await open(agent.session.id)
      const header = page.locator('.session-header')
      await header.getByText(attach).waitFor()
      expect(await header.getByText('Rules see only').count()).toBe(0)
      await agent.say({ type: 'session.changed', process: { state: 'idle' } })
      await header.getByText(attach).waitFor({ state: 'detached' })
    } finally {
      runner.close()
    }
  })

  it('on a phone, the page of a session with a long command line for the agent’s own terminal keeps the buttons of a request in view', async () => {
    const runner = await announceLocalRunner(fixture.gateway, [
      'approvals',
      'note',
      'denyAndContinue',
      'sharedTerminal',
    ])
    try {
      const agent = await runner.openAgent('/srv')
      const attach = `codex resume --remote unix:///${'data/'.repeat(30)}codex.sock 0198`
      await agent.say({ type: 'session.changed', process: { state: 'live', pid: 1, attach } })
      const request = await agent.ask(asks.edit())
      const page = await open(agent.session.id, phone)
      const allow = button(cardOf(page, request), 'Allow once')
      await allow.waitFor()
      const { y = 0, height = 0 } = (await allow.boundingBox()) ?? {}
      expect(y + height).toBeLessThanOrEqual(phone.viewport.height)
      expect(await page.getByText(attach).isVisible()).toBe(false)
    } finally {
      runner.close()
    }
  })
})
