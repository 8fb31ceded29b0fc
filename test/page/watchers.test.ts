/** Watchers and variables on the page: the session screen, the card of a request, and the Rules screen. */
import { writeFileSync } from 'node:fs'
import type { SessionId } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, openCard, setUpPageFixture, visibleText } from './page-fixture.ts'

const file = {
  vars: { green: false, edited: 0, task: { default: '', setBy: 'agent', note: 'The issue of this work' } },
  watch: [
    {
      name: 'tests-first',
      on: 'before',
      command: 'git commit',
      when: '!vars.green',
      do: { deny: 'Run npm test first.' },
      note: 'Every commit is tested',
    },
    { name: 'pushes', on: 'before', command: 'git push', do: { ask: 'A push is always asked.' } },
    { name: 'count', on: 'after', tool: 'Edit', do: { set: { edited: 'vars.edited + 1' } } },
  ],
}

describe.skipIf(hasNoBrowser())('watchers on the page', () => {
  const fixture = setUpPageFixture()
  const writeFile = () => writeFileSync(fixture.gateway.home.rulesFile, JSON.stringify(file))

  async function openSession(id: SessionId, title: string) {
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/sessions/${id}`)
    await page.getByRole('heading', { name: title }).first().waitFor()
    await page
      .getByRole('button', { name: 'Overview' })
      .or(page.getByRole('tab', { name: 'Overview' }))
      .first()
      .click()
    return page
  }

  it('the session screen lists variables and watchers, and a person changes a variable', async () => {
    writeFile()
    const asker = await fixture.openAsker('watched session')
    const denied = await asker.ask(asks.command('git commit -m x'))
    expect(await fixture.gateway.call('getRequest', { id: denied.id })).toMatchObject({
      status: 'resolved',
      resolution: { by: 'rule', watcher: { name: 'tests-first' }, answer: { kind: 'deny' } },
    })
    const page = await openSession(denied.session, 'watched session')
    await page.getByText('denies').first().waitFor()
    const green = page.locator('li.variable', { hasText: 'green' })
    expect(await visibleText(green)).toContain('false')
    await button(green, 'Change green').click()
    await page.getByLabel('New value of green').fill('yes')
    await button(green, 'Save').click()
    await green.getByText('Enter true or false.').waitFor()
    await page.getByLabel('New value of green').fill('true')
    await page.keyboard.press('Enter')
    await green.getByText('set by').waitFor()
    const { items } = await fixture.gateway.call('listVariables', { id: denied.session })
    expect(items.find(({ name }) => name === 'green')).toMatchObject({ value: true, changedBy: 'owner' })
    const allowed = await asker.ask(asks.command('git commit -m y'))
    expect((await fixture.gateway.call('getRequest', { id: allowed.id })).status).toBe('pending')
  })

  it('the card of a request says which watcher asks and why, and the Rules screen lists the watchers', async () => {
    writeFile()
    const asker = await fixture.openAsker('watched push')
    const request = await asker.ask(asks.command('git push'))
    const page = await fixture.openPage()
    const card = await openCard(page, request)
    expect(await visibleText(card.locator('.watcher-note'))).toBe('Watcher pushes: A push is always asked.')
    await page.getByRole('link', { name: 'Rules' }).filter({ visible: true }).click()
    const watchers = page.getByRole('region', { name: 'Watchers' })
    await watchers.getByText('before git commit: denies').waitFor()
    expect(await visibleText(watchers)).toContain('Every commit is tested')
  })
})
