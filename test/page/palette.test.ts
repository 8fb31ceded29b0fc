import { describe, expect, it } from 'vitest'
import { hasNoBrowser, type OpenOptions } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, setUpPageFixture } from './page-fixture.ts'

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

  it('the command palette signs this browser out', async () => {
    const { page, run } = await open({ expectedErrors: /401/ })
    await run('sign out', /Sign out/)
    await page
      .getByText(/sign in/i)
      .first()
      .waitFor()
  })
})
