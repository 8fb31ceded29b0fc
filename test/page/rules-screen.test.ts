import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RuleDraft } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions, phone } from '../support/browser.ts'
import { announceLocalRunner } from '../support/local-agent.ts'
import { asks } from '../support/request-samples.ts'
import { button, setUpPageFixture, visibleText } from './page-fixture.ts'

function rulesFile(rule: RuleDraft): string {
  return JSON.stringify({ rules: [rule] })
}

describe.skipIf(hasNoBrowser())('the Rules screen', () => {
  const fixture = setUpPageFixture()
  const addedRules = async () =>
    (await fixture.gateway.call('listRules', {})).items.filter(({ madeAt, source }) => madeAt > 0 && !source)
  const add = (rule: RuleDraft) => fixture.gateway.call('addRule', rule)
  afterEach(async () => {
    for (const { id } of await addedRules()) await fixture.gateway.call('removeRule', { id })
  })
  const open = async (options: OpenOptions = {}) => {
    const page = await fixture.openPage(options)
    await page.getByRole('link', { name: 'Rules' }).filter({ visible: true }).click()
    await page.getByRole('heading', { name: 'Rules', level: 1 }).waitFor()
    const row = (text: string) => page.locator('li.rule-row', { hasText: text })
    return { page, row }
  }

  it('the Rules screen explains how to make a rule if there is none, marks the built-in rules, and turns a group on and off for a folder', async () => {
    const { page, row } = await open()
    await page.getByText('Choose “Always…” on a request to make a rule from it').waitFor()
    await page.getByRole('region', { name: 'Built in' }).locator('summary').first().click()
    await page.getByText('Every gateway has this rule, and nobody can change it.').waitFor()
    const group = page.getByRole('region', { name: 'Runs project code', exact: true })
    await group.getByText('can do anything that you can do').waitFor()
    const folder = group.getByLabel('Turn on “Runs project code” for the folder')
    await folder.fill('src')
    await button(group, 'Turn on').click()
    await group.getByText('Enter the absolute path of the folder.').waitFor()
    await folder.fill('/src/api')
    await button(group, 'Turn on').click()
    await group.getByText('On in /src/api').waitFor()
    await row('commands that test, check or build the project').waitFor()
    expect(await addedRules()).toMatchObject([{ effect: 'allow', group: 'project-code', scope: { cwd: '/src/api' } }])
    await button(group, 'Turn off “Runs project code” for this folder…').click()
    await button(group, 'Turn off').click()
    await group.getByText('Off', { exact: true }).waitFor()
    expect(await addedRules()).toEqual([])
  })

  it('the Rules screen lets a person write, test, change, pause, resume and revoke a rule, with the mouse and the keyboard', async () => {
    const asker = await fixture.openAsker()
    const denied = await asker.ask(asks.command('git push --force'))
    await fixture.answer(denied, { kind: 'deny', reason: 'no' })
    const { page, row } = await open()
    // The button is disabled until the rules are loaded, and a disabled button does not take the focus.
    await expect.poll(() => button(page, 'New rule').isEnabled()).toBe(true)
    await button(page, 'New rule').focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New rule' })
    await dialog.getByLabel('Deny').check()
    await button(dialog, 'Add rule').click()
    await dialog.getByText('Fill in what the rule applies to.').waitFor()
    await dialog.getByLabel('Command', { exact: true }).fill('git push')
    await dialog.getByLabel('Message for the agent').fill('Open a pull request.')
    await button(dialog, 'What would it have matched?').click()
    await dialog.getByText('It would have matched 1 request today: denied by you.').waitFor()
    await dialog.getByText('git push --force').waitFor()
    await button(dialog, 'Add rule').click()
    await dialog.waitFor({ state: 'detached' })
    await row('git push').waitFor()
    expect(await addedRules()).toMatchObject([{ effect: 'deny', command: 'git push', message: 'Open a pull request.' }])
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await row('git push').getByText('Open a pull request.').waitFor()
    await button(row('git push'), 'Pause').click()
    await button(row('git push'), 'Resume').waitFor()
    expect(await visibleText(row('git push').locator('summary'))).toContain('paused')
    await button(row('git push'), 'Resume').click()
    await button(row('git push'), 'Pause').waitFor()
    await button(row('git push'), 'Edit…').click()
    const edit = page.getByRole('dialog', { name: 'Edit rule' })
    await edit.getByLabel('Note (for people)').fill('Agreed in May')
    expect(await edit.getByLabel('Agent', { exact: true }).isVisible()).toBe(false)
    await edit.getByText('More limits').click()
    await edit.getByLabel('Agent', { exact: true }).selectOption('external')
    await edit.getByLabel('Subagent').fill('planner\ntester')
    await button(edit, 'Save').click()
    await row('git push').getByText('Agreed in May').waitFor()
    const limited = { driver: 'external', agentPath: ['planner', 'tester'] }
    expect(await addedRules()).toMatchObject([
      { version: 4, command: 'git push', note: 'Agreed in May', scope: limited },
    ])
    expect(await visibleText(row('git push'))).toContain('for the subagent planner › tester')
    await button(row('git push'), 'Edit…').click()
    // A rule that has such limits shows them at once.
    expect(await edit.getByLabel('Subagent').inputValue()).toBe('planner\ntester')
    await edit.getByLabel('Agent', { exact: true }).selectOption('All agents')
    await edit.getByLabel('Subagent').fill('')
    await button(edit, 'Save').click()
    await edit.waitFor({ state: 'detached' })
    expect((await addedRules())[0]).not.toHaveProperty('scope')
    await button(row('git push'), 'Revoke this rule…').click()
    expect(await addedRules()).toHaveLength(1)
    await button(row('git push'), 'Revoke').click()
    await row('git push').waitFor({ state: 'detached' })
    expect(await addedRules()).toEqual([])
  })

  it('the Rules screen shows changes that are made elsewhere, who added each rule, its limits and uses, and finds rules by words and effect', async () => {
    const { page, row } = await open()
    await page.getByText('No rules yet.').waitFor()
    const rule = await add({ effect: 'allow', command: 'make build', scope: { cwd: '/src/api' }, usesLeft: 3 })
    await add({
      effect: 'ask',
      host: 'example.com',
      scope: { driver: 'claude' },
      expiresAt: Date.now() + 3 * 86_400_000,
    })
    const asker = await fixture.openAsker('api', '/src/api')
    await row('make build').getByText('never used').waitFor()
    await asker.ask(asks.command('make build'))
    await row('make build').getByText('used once, last just now').waitFor()
    const text = await visibleText(row('make build'))
    expect(text).toMatch(/in[\s\S]*\/src\/api[\s\S]*2 uses left[\s\S]*added by you/)
    await row('example.com').getByText('expires in 3 days').waitFor()
    await row('example.com').getByText('for Claude Code').waitFor()
    await page.getByLabel('Search rules').fill('make api')
    await row('example.com').waitFor({ state: 'detached' })
    await page.getByLabel('Search rules').fill('')
    await page.locator('label.filter-choice').getByText('Always ask', { exact: true }).click()
    await row('make build').waitFor({ state: 'detached' })
    await page.locator('label.filter-choice').getByText('All', { exact: true }).click()
    await fixture.gateway.call('removeRule', { id: rule.id })
    await row('make build').waitFor({ state: 'detached' })
    expect(await row('example.com').count()).toBe(1)
  })

  it('the Rules screen keeps the buttons of the form visible, shows limits in full after the person opens them, and saves with Ctrl+Enter', async () => {
    const { page, row } = await open()
    await button(page, 'New rule').click()
    const dialog = page.getByRole('dialog', { name: 'New rule' })
    await dialog.getByLabel('Deny').check()
    await dialog.getByText('More limits').click()
    const hint = dialog.getByText('Write the name as the subagent')
    const bottomOf = (it: Locator) => it.evaluate(element => element.getBoundingClientRect().bottom)
    const actions = dialog.locator('.dialog-actions')
    const topOf = (it: Locator) => it.evaluate(element => element.getBoundingClientRect().top)
    await expect.poll(async () => (await bottomOf(hint)) <= (await topOf(actions))).toBe(true)
    expect(await bottomOf(actions)).toBeLessThanOrEqual(await bottomOf(dialog))
    await dialog.getByLabel('Command', { exact: true }).fill('npm publish')
    await dialog.getByLabel('Note', { exact: false }).press('Control+Enter')
    await row('npm publish').waitFor()
  })

  it('the Rules screen says whether a command would be allowed, and why', async () => {
    await add({ effect: 'deny', command: 'git push', message: 'Open a pull request.' })
    const { page } = await open()
    const form = page.getByRole('region', { name: 'Would a command be allowed?' })
    await form.getByLabel('Command').fill('sudo git push --force')
    await form.getByLabel('Folder').fill(fixture.gateway.folder)
    await button(form, 'Check').click()
    await form.getByText('Denied.').waitFor()
    await form.getByText('Open a pull request.').waitFor()
    await form.getByLabel('Command').fill('ls $(pwd)')
    await button(form, 'Check').click()
    await form.getByText('A person is asked.').waitFor()
  })

  it('a person who is not the owner gets buttons only for their own rules and for rules that deny or ask', async () => {
    const { secret } = await fixture.gateway.call('addToken', { role: 'person', name: 'Bob' })
    const asBob = fixture.gateway.callAs(secret)
    await add({ effect: 'allow', group: 'only-reads', scope: { cwd: '/src/api' } })
    await add({ effect: 'deny', command: 'git push' })
    await asBob('addRule', { effect: 'ask', command: 'npm publish' })
    const { page, row } = await open({ token: secret })
    // Parts that are laid out apart would be on lines of their own, with a gap before the comma.
    expect(await visibleText(row('git push'))).toMatch(/added by owner, \w+ \d+/)
    await page.getByText('Only the owner of this gateway can add rules that allow something.').waitFor()
    const groups = page.getByRole('region', { name: 'Groups of commands' })
    await groups.getByText('On in /src/api').waitFor()
    expect(await groups.getByRole('button').count()).toBe(0)
    expect(await groups.getByRole('combobox').count()).toBe(0)
    await row('git push').locator('summary').click()
    await row('git push').getByText('Only the owner of this gateway and the person who added the rule can').waitFor()
    expect(await row('git push').getByRole('button').allTextContents()).toEqual(['What would it have matched?'])
    await row('npm publish').locator('summary').click()
    await button(row('npm publish'), 'Pause').click()
    await button(row('npm publish'), 'Resume').click()
    await button(row('npm publish'), 'Pause').waitFor()
    await button(row('npm publish'), 'Edit…').click()
    const edit = page.getByRole('dialog', { name: 'Edit rule' })
    expect(await edit.getByRole('radio').count()).toBe(2)
    await edit.getByLabel('Deny').check()
    await button(edit, 'Save').click()
    await edit.waitFor({ state: 'detached' })
    await button(page, 'New rule').click()
    const dialog = page.getByRole('dialog', { name: 'New rule' })
    expect(await dialog.getByLabel('Allow without asking').count()).toBe(0)
    await dialog.getByLabel('Command', { exact: true }).fill('make deploy')
    await button(dialog, 'Add rule').click()
    await row('make deploy').waitFor()
    expect(await asBob('listRules', {})).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ effect: 'ask', command: 'make deploy', madeBy: 'Bob' }),
        expect.objectContaining({ effect: 'deny', command: 'npm publish' }),
      ]),
    })
  })

  it('the Rules screen escapes hostile content, shows rules from files as read-only with the state of the file, and fits a phone', async () => {
    const long = `/very/${'long/'.repeat(60)}`
    await add({ effect: 'deny', command: `echo ${'x'.repeat(2000)} \u202eevil\u200b`, scope: { cwd: long } })
    await add({ effect: 'deny', command: 'cat ./locales/\u0430dmin \u2600\ufe0f', note: '<b>bold</b>\nsecond' })
    const own: RuleDraft = { effect: 'allow', command: 'make own', scope: { cwd: '/src' } }
    writeFileSync(join(fixture.gateway.home.path, 'holdpoint.rules.json'), rulesFile(own))
    const project = join(fixture.gateway.folder, 'project')
    mkdirSync(project)
    writeFileSync(join(project, 'holdpoint.rules.json'), rulesFile({ effect: 'allow', command: 'make project' }))
    const runner = await announceLocalRunner(fixture.gateway)
    // The gateway reads the file of a project when an agent asks there.
    await (await runner.openAgent(project)).ask(asks.command('ls'))
    const { page, row } = await open(phone)
    await row('dmin').locator('.marker.look-alike').waitFor()
    expect(await visibleText(row('dmin'))).toContain('\u2600\ufe0f')
    await row('dmin').locator('summary').click()
    await row('dmin').getByText('Some letters look like others').waitFor()
    await row('dmin').getByText('<b>bold</b>').waitFor()
    await row('evil').locator('summary').click()
    expect(await visibleText(page.locator('main'))).not.toMatch(/[\u202e\u200b]/)
    await row('make own').locator('summary').click()
    await row('make own').getByText('Your own file, which needs no trust.').waitFor()
    await row('make project').locator('summary').click()
    await row('make project').getByText('Not trusted, so its allow rules have no effect.').waitFor()
    expect(await row('make project').getByRole('button').count()).toBe(0)
    runner.close()
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(overflow).toBeLessThanOrEqual(0)
    expect(await page.locator('main').evaluate(main => main.scrollWidth - main.clientWidth)).toBeLessThanOrEqual(0)
  })
})
