import { describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions, phone } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, rowOf, setUpPageFixture } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('the command palette', () => {
  const fixture = setUpPageFixture()
  const open = async (options: OpenOptions = {}) => {
    const page = await fixture.openPage(options)
    const run = async (typed: string, name: RegExp) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Go to' }).fill(typed)
      await page.getByRole('option', { name }).first().waitFor()
      await page.keyboard.press('Enter')
    }
    return { page, run }
  }

  it('the command palette finds screens, themes and a pending request by its command', async () => {
    const asker = await fixture.openAsker('api')
    const request = await asker.ask(asks.command('npm run palette-probe'))
    const { page, run } = await open()
    await run('sett', /Settings/)
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await run('theme dark', /Theme: dark/)
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    await run('palette-probe', /palette-probe/)
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(`#/inbox/${request.id}`)
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('the command palette on a phone shortens the hint, not a short name of a session', async () => {
    const { session } = await fixture.openAsker('design-system', '/home/you/src/design-system')
    const { page } = await open(phone)
    await page.goto(`${fixture.gateway.url}/#/sessions/${session.id}`)
    await page.keyboard.press('Control+k')
    const name = page.getByRole('option', { name: /design-system/ }).locator('.nav-name')
    await name.waitFor()
    expect(await name.evaluate(it => [it, ...it.children].some(part => part.scrollWidth > part.clientWidth))).toBe(
      false,
    )
    const field = page.getByRole('combobox', { name: 'Go to' })
    const placeholderFits = await field.evaluate(it => {
      const { font, paddingLeft } = getComputedStyle(it)
      const context = document.createElement('canvas').getContext('2d')
      if (!context) throw new Error('The browser cannot measure texts.')
      context.font = font
      const { width } = context.measureText(it.getAttribute('placeholder') ?? '')
      return width + 2 * Number.parseFloat(paddingLeft) <= it.clientWidth
    })
    expect(placeholderFits, 'the hint of the field fits').toBe(true)
  })

  it('the command palette stops everything only after a confirmation', async () => {
    const asker = await fixture.openAsker('busy')
    const request = await asker.ask(asks.command('npm run long'))
    const { page, run } = await open()
    await run('stop every', /Stop everything…/)
    const dialog = page.getByRole('dialog', { name: 'Stop everything?' })
    await dialog.getByText('cancels 1 pending request').waitFor()
    // The Enter that chose the item must not confirm, also if it is pressed twice.
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await fixture.isPending(request)).toBe(true)
    await run('stop every', /Stop everything…/)
    await button(dialog, 'Stop everything').click()
    await dialog.waitFor({ state: 'detached' })
    const { items } = await fixture.gateway.call('listCommands', { id: request.session })
    expect(items.map(({ body }) => body.kind)).toContain('interrupt')
  })

  it('the command palette offers the actions of every screen, and the actions of a session or request only while it is open', async () => {
    const asker = await fixture.openAsker('api')
    const request = await asker.ask(asks.command())
    const { page } = await open()
    const offered = async (typed: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Go to' }).fill(typed)
      const options = page.getByRole('option')
      const names = await options.locator('.nav-name').allInnerTexts()
      await page.keyboard.press('Escape')
      return names
    }
    await rowOf(page, request).waitFor()
    for (const name of [
      'New session',
      'Start a rehearsal',
      'Mark all sessions as read',
      'New rule',
      'Create a link for another device',
      'Export the audit log as CSV',
      'Export the audit log as NDJSON',
      'Turn the sound on',
      'Inbox: do not group requests',
      'Inbox: group by project',
      'Inbox: group by session',
      'Review all requests of this session',
    ])
      expect(await offered(name)).toContain(name)
    const ofSession = ['Interrupt this session', 'End this session…', 'Rename this session', 'Mute this session']
    for (const name of ofSession) expect(await offered(name)).not.toContain(name)
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await page.locator('.session-actions').waitFor()
    for (const name of ofSession) expect(await offered(name)).toContain(name)
  })

  it('the command palette asks for confirmation before it ends a session or interrupts a session with a pending request, as the buttons do', async () => {
    const asker = await fixture.openAsker('api')
    const request = await asker.ask(asks.command())
    const { page, run } = await open()
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await page.locator('.session-actions').waitFor()
    for (const [typed, question] of [
      ['interrupt', 'Interrupt this turn?'],
      ['end this', 'End this session?'],
    ] as const) {
      await run(typed, new RegExp(typed, 'i'))
      const confirmation = page.getByRole('group', { name: question })
      await confirmation.getByText('cancels 1 pending request').waitFor()
      // The focus is on Cancel, so a second Enter decides nothing.
      await page.keyboard.press('Enter')
      await confirmation.waitFor({ state: 'detached' })
    }
    expect(await fixture.isPending(request)).toBe(true)
  })

  it('the command palette renames and mutes the open session, and opens a new rule, a device link and an export', async () => {
    const asker = await fixture.openAsker('api')
    const { page, run } = await open()
    await page.goto(`${fixture.gateway.url}/#/sessions/${asker.session.id}`)
    await run('rename', /Rename this session/)
    await page.getByLabel('Title').fill('renamed')
    await page.keyboard.press('Enter')
    await page.locator('.header-title', { hasText: 'renamed' }).waitFor()
    await run('mute', /Mute this session/)
    await expect.poll(() => page.evaluate(() => localStorage.getItem('holdpoint.muted'))).toContain(asker.session.id)
    await run('mute', /Unmute this session/)
    await expect.poll(() => page.evaluate(() => localStorage.getItem('holdpoint.muted'))).toBe('[]')
    await run('group by session', /group by session/)
    await expect.poll(() => page.evaluate(() => localStorage.getItem('holdpoint.grouping'))).toBe('session')
    await run('new rule', /New rule/)
    await page.getByRole('dialog', { name: 'New rule' }).waitFor()
    await page.keyboard.press('Escape')
    await run('link for', /Create a link for another device/)
    await page.getByText('Open this link in another browser on this computer.').waitFor()
    const download = page.waitForEvent('download')
    await run('csv', /Export the audit log as CSV/)
    expect((await download).suggestedFilename()).toBe('holdpoint-audit.csv')
  })

  it('the command palette signs this browser out', async () => {
    const { page, run } = await open({ expectedErrors: /401/ })
    await run('sign out', /Sign out/)
    await page
      .getByText(/sign in/i)
      .first()
      .waitFor()
  })
})
