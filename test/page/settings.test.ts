// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { hasNoBrowser, phone } from '../support/browser.ts'
import { button, setUpPageFixture } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('the Settings screen', () => {
  const fixture = setUpPageFixture()
  const open = async (page?: Page) => {
    const opened = page ?? (await fixture.openPage())
    await opened.goto(`${fixture.gateway.url}/#/settings`)
    await opened.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    return opened
  }
  const section = (page: Page, name: string) => page.getByRole('region', { name })

  it('the Settings screen changes the theme, and the header shows the same theme', async () => {
    const page = await open()
    await section(page, 'Appearance').locator('label.filter-choice').getByText('Dark', { exact: true }).click()
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    await page.getByRole('button', { name: 'Theme: dark. Switch to system' }).waitFor()
  })

  it('the Settings screen creates a link that signs in another browser once, and no QR code for an address that a phone cannot reach', async () => {
    const page = await open()
    const device = section(page, 'Another device')
    const browsers = section(page, 'Browsers and tokens').getByText('Browser', { exact: true })
    await browsers.first().waitFor()
    const before = await browsers.count()
    await device.getByText(/^Only this computer can open .* so there is no QR code for a phone/).waitFor()
    await button(device, 'Create a link').click()
    await device.getByText('Open this link in another browser on this computer.').waitFor()
    expect(await device.getByRole('img').count()).toBe(0)
    const url = await device.locator('.device-link-url').textContent()
    expect(url).toMatch(/^http:\/\/[^/]+\/#code=\S+$/)
    const other = await (await fixture.browser.newContext()).newPage()
    await other.goto(url ?? '')
    await other.getByRole('navigation').first().waitFor()
    await expect.poll(() => browsers.count()).toBe(before + 1)
    const again = await (await fixture.browser.newContext()).newPage()
    await again.goto(url ?? '')
    await again
      .getByText(/has been used|expired|no longer/i)
      .first()
      .waitFor()
    await again.context().close()
    await other.context().close()
  })

  it('the Settings screen lists tokens with their last use, and revokes a token after a confirmation', async () => {
    const { id, secret } = await fixture.gateway.call('addToken', { role: 'person', name: 'Ana’s script' })
    const page = await open()
    const row = section(page, 'Browsers and tokens').locator('.access-row', { hasText: 'Ana’s script' })
    await row.getByText('never used').waitFor()
    await row.getByRole('button', { name: 'Revoke the access of Ana’s script…' }).click()
    await row.getByText('This also revokes everything that was created with it.').waitFor()
    await row.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByText('Revoked.').waitFor()
    await row.waitFor({ state: 'detached' })
    const { items } = await fixture.gateway.call('listTokens', {})
    expect(items.map(token => token.id)).not.toContain(id)
    const reply = await fetch(`${fixture.gateway.url}/api/v1/me`, { headers: { authorization: `Bearer ${secret}` } })
    expect(reply.status).toBe(401)
  })

  it('the Settings screen marks this browser, and revoking it leads to the sign-in screen', async () => {
    const page = await open(await fixture.openPage({ expectedErrors: /401/ }))
    const row = section(page, 'Browsers and tokens').locator('.access-row', { hasText: 'this browser' })
    await row.getByRole('button', { name: /^Revoke the access/ }).click()
    await row.getByText('This signs this browser out').waitFor()
    await row.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page
      .getByText(/sign in/i)
      .first()
      .waitFor()
  })

  it('the Settings screen opens with the keys g t, from the sidebar, and on a phone from the user menu', async () => {
    const page = await fixture.openPage()
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await section(page, 'About')
      .getByText(/^Holdpoint \d/)
      .waitFor()
    const small = await fixture.openPage(phone)
    await small.locator('.user-menu-button').click()
    await small.locator('#user-menu').getByRole('link', { name: 'Settings' }).click()
    await small.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  })
})

describe.skipIf(hasNoBrowser())('an unknown address', () => {
  const fixture = setUpPageFixture()
  it('an unknown address says that the page does not exist, and leads to the inbox', async () => {
    const page = await fixture.openPage()
    await page.goto(`${fixture.gateway.url}/#/nonsense`)
    await page.getByRole('heading', { name: 'This page doesn’t exist' }).waitFor()
    await page.getByRole('link', { name: 'Go to the inbox' }).click()
    await page.getByRole('heading', { name: 'This page doesn’t exist' }).waitFor({ state: 'detached' })
  })
})
