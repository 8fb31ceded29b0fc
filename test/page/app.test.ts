import { describe, expect, it } from 'vitest'
import { connectionErrors, desktop, hasNoBrowser, openPage, withWorker } from '../support/browser.ts'
import { asks } from '../support/request-samples.ts'
import { button, setUpPageFixture } from './page-fixture.ts'

describe.skipIf(hasNoBrowser())('the page', () => {
  const fixture = setUpPageFixture({}, 'full')

  it('the page can be installed as an app: its manifest is complete, and the files in it exist', async () => {
    const page = await fixture.openPage(withWorker)
    const address = await page.locator('link[rel="manifest"]').getAttribute('href')
    const reply = await page.request.get(`${fixture.gateway.url}${address}`)
    expect(reply.headers()['content-type']).toContain('application/manifest+json')
    const manifest = (await reply.json()) as { icons: { src: string; sizes: string; type: string }[] } // the fields are checked below
    expect(manifest).toMatchObject({ name: 'Holdpoint', start_url: '/', display: 'standalone' })
    const sizes = manifest.icons.map(icon => icon.sizes)
    expect(sizes).toEqual(expect.arrayContaining(['192x192', '512x512']))
    for (const { src, type } of manifest.icons) {
      const icon = await page.request.get(`${fixture.gateway.url}${src}`)
      expect(icon.headers()['content-type']).toContain(type)
    }
    const wire = await page.context().newCDPSession(page)
    await wire.send('Page.enable')
    const { errors } = await wire.send('Page.getAppManifest')
    expect(errors).toEqual([])
    const { installabilityErrors } = await wire.send('Page.getInstallabilityErrors')
    expect(installabilityErrors.filter(error => error.errorId !== 'in-incognito')).toEqual([])
  })

  it('the page has a service worker that caches only the offline page, and shows that page while the gateway is unreachable', async () => {
    const page = await fixture.openPage({ ...withWorker, expectedErrors: connectionErrors })
    const asker = await fixture.openAsker()
    await asker.ask(asks.command('secret-looking command'))
    await page.getByText('secret-looking command').first().waitFor()
    await page.evaluate(() => navigator.serviceWorker.ready)
    await page.reload()
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null)
    await page.getByText('secret-looking command').first().waitFor()
    const kept = await page.evaluate(async () => {
      const names = await caches.keys()
      const caught = await Promise.all(
        names.map(async name => (await (await caches.open(name)).keys()).map(it => it.url)),
      )
      return caught.flat().map(url => new URL(url).pathname)
    })
    expect(kept.sort()).toEqual(['/favicon.svg', '/offline.css', '/offline.html'])
    await fixture.gateway.kill()
    await page.reload()
    expect(await page.locator('body').textContent()).toMatch(/reach|away|running/i)
    expect(await page.locator('body').textContent()).not.toContain('secret-looking')
    await fixture.gateway.start()
    await page.goto(fixture.gateway.url)
    await page.getByText('secret-looking command').first().waitFor()
  })

  it('the page is served with headers that block inline scripts and other origins', async () => {
    // Open the page without the fixture, which would report the blocked script and image as errors.
    const { page } = await openPage(fixture.browser, fixture.gateway)
    const ran = await page.evaluate(async () => {
      const script = document.createElement('script')
      try {
        script.textContent = 'globalThis.ran = true'
        document.body.append(script)
      } catch {
        // Trusted Types may block the script even earlier.
      }
      const image = new Image()
      const loaded = new Promise(done => {
        image.onload = () => done('loaded')
        image.onerror = () => done('refused')
      })
      image.src = 'https://elsewhere.example/x.png'
      return { ran: 'ran' in globalThis, image: await loaded }
    })
    expect(ran).toEqual({ ran: false, image: 'refused' })
    await page.context().close()
  })

  it('the page accepts a sign-in code only once, and removes the code from the URL', async () => {
    const { code } = await fixture.gateway.call('makeLink', {})
    const context = await fixture.browser.newContext(desktop)
    const page = await context.newPage()
    await page.goto(`${fixture.gateway.url}/#code=${code}`)
    await page.getByRole('navigation').first().waitFor()
    expect(page.url()).not.toContain(code)
    const second = await (await fixture.browser.newContext(desktop)).newPage()
    await second.goto(`${fixture.gateway.url}/#code=${code}`)
    await second.getByText('This browser is not signed in').waitFor()
    await second.context().close()
    await context.close()
  })

  describe('the page fixture', () => {
    it('the page fixture reports console errors and requests to other origins', async () => {
      const { page, problems } = await openPage(fixture.browser, fixture.gateway)
      await page.evaluate(() => console.error('planted'))
      await page.evaluate(() => setTimeout(() => Promise.reject(new Error('thrown')), 0))
      await page.evaluate(() => fetch('http://127.0.0.1:1/').catch(() => {}))
      await expect.poll(() => problems.join('\n')).toMatch(/planted[\s\S]*thrown|thrown[\s\S]*planted/)
      expect(problems.some(line => line.includes('127.0.0.1:1'))).toBe(true)
      await page.context().close()
    })
  })

  describe('the New session dialog', () => {
    it('the New session dialog offers an agent as soon as its runner connects, and lists agents that are not installed behind a summary', async () => {
      const page = await fixture.openPage(withWorker)
      await page.keyboard.press('n')
      const dialog = page.getByRole('dialog', { name: 'New session' })
      await dialog.getByText('No agents are available').waitFor()
      await dialog.getByLabel('First message').fill('Hello')
      const { gateway } = fixture
      const driver = { name: 'late', title: 'A late one', capabilities: [], modes: ['default'], ready: true }
      const notInstalled = {
        ...driver,
        name: 'goose',
        title: 'Goose',
        ready: false,
        installed: false,
        missing: 'Get it.',
      }
      const { id } = await gateway.callAs(gateway.home.runnerToken())('announceRunner', {
        id: gateway.home.runnerId(),
        name: 'late',
        drivers: [driver, notInstalled],
      })
      await dialog.getByRole('radio', { name: 'A late one' }).check()
      await dialog.getByText('No agents are available').waitFor({ state: 'detached' })
      await expect.poll(() => dialog.getByLabel('First message').inputValue()).toBe('Hello')
      await expect.poll(() => button(dialog, 'Start session').isEnabled()).toBe(true)
      expect(id).toBe(gateway.home.runnerId())
      expect(await dialog.getByText('Get it.').isVisible()).toBe(false)
      await dialog.getByText('1 agent isn’t installed').click()
      await dialog.getByText('Get it.').waitFor()
      expect(await dialog.getByRole('radio', { name: 'Goose' }).isDisabled()).toBe(true)
    })
  })
})
