/** Attacks the gateway from pages of other origins in a real Chromium: from a server on another loopback port, which an agent can start, and through a host name that was rebound to this machine. */
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apiRoot, type Request } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot resolve the exports of playwright-core
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasNoBrowser, openPage } from '../support/browser.ts'
import { launchLight } from '../support/chromium.mjs'
import { closeGateways, type GatewayProcess, startGateway } from '../support/gateway.ts'
import { asks, openTestAgent } from '../support/request-samples.ts'
import { visibleText } from './page-fixture.ts'

/** The host name that the attacker's DNS server resolves to this machine. */
const reboundHost = 'evil.test'
/** An attack that has had no effect after this time counts as failed. */
const attackMaxMs = 3000

/** The requests that reached the attacker's server. */
const received: IncomingHttpHeaders[] = []
const attacker = createServer((req, res) => {
  received.push(req.headers)
  res.setHeader('content-type', 'text/html').end('<!doctype html><title>Preview</title><p>A preview of the work.</p>')
})
let attackerPort: number
let gateway: GatewayProcess
let browser: Browser
/** The tab in which the person is signed in. */
let signedIn: Page | undefined
/** The tab that shows the attacker's page, in the same browser. */
let page: Page
let request: Request

const isMissing = hasNoBrowser()
beforeAll(async () => {
  if (isMissing) return
  gateway = await startGateway({ runner: 'none' })
  browser = await launchLight([`--host-resolver-rules=MAP ${reboundHost} 127.0.0.1`])
  // Without a host, the server listens on all addresses of this machine, so it answers for localhost, 127.0.0.1 and [::1].
  await new Promise<void>(resolve => attacker.listen(0, resolve))
  attackerPort = (attacker.address() as AddressInfo).port // a server that listens on TCP has an address of this type
})
afterAll(async () => {
  attacker.closeAllConnections()
  attacker.close()
  await browser?.close()
  await closeGateways()
})
beforeEach(async () => {
  received.length = 0
  request = await (await openTestAgent(gateway)).ask(asks.command())
  // Attacks leave the signed-in tab as it is, so the tests of a group share it.
  if (signedIn === undefined || signedIn.isClosed()) signedIn = (await openPage(browser, gateway)).page
  page = await signedIn.context().newPage()
})
afterEach(async () => {
  for (const opened of page.context().pages()) if (opened !== signedIn) await opened.close()
})

async function isPending(): Promise<boolean> {
  return (await gateway.call('getRequest', { id: request.id })).status === 'pending'
}
const answerPath = () => `${apiRoot}/requests/${request.id}/answer`
const answerBody = () => JSON.stringify({ digest: request.digest, answer: { kind: 'allow' } })
const portOf = (url: string) => Number(new URL(url).port)

/** Sends a request as a program would, with any headers. */
function send(method: string, path: string, headers: Record<string, string>, body = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: portOf(gateway.url), method, path, headers, agent: false }
    httpRequest(options, reply => resolve(reply.resume().statusCode ?? 0))
      .on('error', reject)
      .end(body)
  })
}

/** The attacks that a page can try. Each runs in the attacker's page and returns what the page could observe. */
interface Target {
  readonly url: string
  readonly answerPath: string
  readonly body: string
  readonly maxMs: number
}
const attacks = {
  'a fetch without CORS': ({ url, answerPath, body }: Target) =>
    fetch(url + answerPath, { method: 'POST', mode: 'no-cors', credentials: 'include', body }).then(
      reply => reply.type,
      () => 'failed',
    ),
  'a fetch with JSON and our headers': ({ url, answerPath, body }: Target) =>
    fetch(url + answerPath, {
      method: 'POST',
      credentials: 'include',
      headers: { 'content-type': 'application/json', 'x-holdpoint-page': 'guess', 'x-holdpoint': '1' },
      body,
    }).then(
      reply => `status ${reply.status}`,
      () => 'failed',
    ),
  'a beacon': ({ url, answerPath, body }: Target) => String(navigator.sendBeacon(url + answerPath, body)),
  'a read of the requests': ({ url }: Target) =>
    fetch(`${url}/api/v1/requests`, { credentials: 'include' }).then(
      reply => `status ${reply.status}`,
      () => 'failed',
    ),
  'a WebSocket': ({ url, maxMs }: Target) =>
    new Promise<string>(resolve => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/socket`, ['holdpoint.page.guess'])
      socket.onopen = () => resolve('opened')
      socket.onerror = () => resolve('failed')
      setTimeout(() => resolve('nothing happened'), maxMs)
    }),
  'an EventSource': ({ url, maxMs }: Target) =>
    new Promise<string>(resolve => {
      const source = new EventSource(`${url}/api/v1/events`, { withCredentials: true })
      source.onmessage = () => resolve('received an event')
      source.onerror = () => resolve('failed')
      setTimeout(() => resolve('nothing happened'), maxMs)
    }),
  'an iframe': ({ url, maxMs }: Target) =>
    new Promise<string>(resolve => {
      const frame = document.createElement('iframe')
      frame.src = url
      frame.onload = () => {
        try {
          resolve(frame.contentDocument?.title ?? 'no document')
        } catch {
          resolve('not readable')
        }
      }
      document.body.append(frame)
      setTimeout(() => resolve('nothing happened'), maxMs)
    }),
  'an image and a script': ({ url, maxMs }: Target) =>
    new Promise<string>(resolve => {
      const image = new Image()
      image.onload = () => resolve('the image loaded')
      image.src = `${url}/favicon.svg`
      const script = document.createElement('script')
      script.src = `${url}/api/v1/requests`
      script.onload = () => resolve('the script loaded')
      document.body.append(script)
      setTimeout(() => resolve('failed'), maxMs / 3)
    }),
} as const

/** The observations that each attack may make. A no-cors fetch and a beacon never tell a page whether the server accepted them. */
const harmless: Readonly<Record<keyof typeof attacks, RegExp>> = {
  'a fetch without CORS': /^(opaque|failed)$/,
  'a fetch with JSON and our headers': /^failed$/,
  'a beacon': /^(true|false)$/,
  'a read of the requests': /^failed$/,
  'a WebSocket': /^failed$/,
  'an EventSource': /^failed$/,
  'an iframe': /^(no document|not readable|nothing happened)$/,
  'an image and a script': /^failed$/,
}

describe.skipIf(isMissing)('a page of another origin', () => {
  describe.each(['localhost', '127.0.0.1'])('a page from another port of %s', host => {
    afterAll(() => signedIn?.context().close())

    it.each(Object.keys(attacks) as (keyof typeof attacks)[])(
      'B1–B4, B10: a page of another origin gets no data by %s',
      async name => {
        await page.goto(`http://${host}:${attackerPort}/`)
        for (const gatewayHost of ['localhost', '127.0.0.1']) {
          const url = `http://${gatewayHost}:${portOf(gateway.url)}`
          const target: Target = { url, answerPath: answerPath(), body: answerBody(), maxMs: attackMaxMs }
          expect(await page.evaluate(attacks[name] as (target: Target) => Promise<string>, target)).toMatch(
            harmless[name],
          )
        }
        // A frame that may not show the page shows Chromium's own error page instead.
        for (const frame of page.frames().slice(1)) expect(frame.url()).toMatch(/^chrome-error:/)
        expect(await isPending()).toBe(true)
      },
    )

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
      'B11: a page of another origin cannot answer by a form of type %s',
      async enctype => {
        await page.goto(`http://${host}:${attackerPort}/`)
        const target = { action: gateway.url + answerPath(), enctype, body: answerBody() }
        const [reply] = await Promise.all([
          page.waitForResponse(response => response.url() === target.action),
          page.evaluate(({ action, enctype, body }) => {
            const form = document.createElement('form')
            Object.assign(form, { method: 'POST', action, enctype })
            const field = document.createElement('input')
            // With text/plain the browser sends `name=value`, which is valid JSON if the name opens a string.
            field.name = body.replace(/}$/, ',"x":"')
            field.value = '"}'
            form.append(field)
            document.body.append(form)
            form.submit()
          }, target),
        ])
        expect([401, 403, 415]).toContain(reply.status())
        expect(await isPending()).toBe(true)
      },
    )

    it('B12: a page of another origin cannot access a popup with Holdpoint’s page, which has no opener', async () => {
      await page.goto(`http://${host}:${attackerPort}/`)
      const [popup, seen] = await Promise.all([
        page.context().waitForEvent('page'),
        page.evaluate(
          url =>
            new Promise<string>(resolve => {
              const opened = window.open(url, 'gateway')
              const timer = setInterval(() => {
                try {
                  // A severed popup looks closed; a popup of another origin throws.
                  if (opened?.closed) resolve('severed')
                  else if (opened?.document.title.includes('Holdpoint')) resolve('readable')
                } catch {
                  resolve('not readable')
                }
              }, 50)
              setTimeout(() => clearInterval(timer), 5000)
            }),
          gateway.url,
        ),
      ])
      expect(seen).toMatch(/^(severed|not readable)$/)
      await popup.waitForLoadState()
      expect(await popup.evaluate(() => window.opener)).toBeNull()
    })

    it('B10: a page of another origin cannot read the cookie or the page secret, and a planted cookie signs nobody in', async () => {
      await page.goto(`http://${host}:${attackerPort}/`)
      const name = `holdpoint_${portOf(gateway.url)}`
      const seen = await page.evaluate(cookie => {
        const before = document.cookie
        // biome-ignore lint/suspicious/noDocumentCookie: the attacker plants a cookie in this way
        document.cookie = `${cookie}=planted; path=/`
        return { before, storage: { ...localStorage } }
      }, name)
      expect(seen.before).not.toContain(name)
      expect(JSON.stringify(seen.storage)).not.toContain('pageSecret')
      expect(await isPending()).toBe(true)
    })
  })

  it('F2: a clicked link sends the cookie to the agent’s server, which cannot use it', async () => {
    const id = request.session
    const text = `[Open the preview](http://localhost:${attackerPort}/preview)`
    await gateway.call('appendEvents', { id, items: [{ type: 'message.added', block: 'link', text }] })
    await signedIn?.goto(`${gateway.url}/#/sessions/${id}`)
    await signedIn?.getByText('Open the preview').click()
    await expect.poll(() => received.some(({ cookie }) => cookie?.includes('holdpoint_'))).toBe(true)
    const cookie = received.findLast(headers => headers.cookie)?.cookie ?? ''
    const own = {
      cookie,
      host: `localhost:${portOf(gateway.url)}`,
      origin: gateway.url,
      'sec-fetch-site': 'same-origin',
    }
    const json = { ...own, 'content-type': 'application/json', 'x-holdpoint': '1', 'x-holdpoint-page': 'guess' }
    expect(await send('POST', answerPath(), json, answerBody())).toBe(401)
    expect(await send('POST', `${apiRoot}/tokens`, json, '{"role":"person","name":"owner"}')).toBe(401)
    expect(await send('POST', `${apiRoot}/sessions`, json, '{"driver":"rehearsal"}')).toBe(401)
    expect(await send('GET', `${apiRoot}/requests`, json)).toBe(401)
    expect(await isPending()).toBe(true)
  })

  it('B5: a host name that was rebound to this machine reaches neither the page nor the API', async () => {
    const url = `http://${reboundHost}:${portOf(gateway.url)}`
    expect((await page.goto(url))?.status()).toBe(421)
    const statuses = await page.evaluate(
      async paths => Promise.all(paths.map(path => fetch(path).then(reply => reply.status))),
      ['/', '/healthz', `${apiRoot}/requests`, `${apiRoot}/events`],
    )
    expect(statuses).toEqual([421, 421, 421, 421])
    expect(await isPending()).toBe(true)
  })
})

describe.skipIf(isMissing)('a sign-in link', () => {
  it('a sign-in link for another person replaces the signed-in person only after they agree', async () => {
    const { secret } = await gateway.call('addToken', { role: 'person', name: 'mallory' })
    const { code } = await gateway.callAs(secret)('makeLink', {})
    await page.goto(`${gateway.url}/#code=${code}`)
    await page.getByRole('heading', { name: 'Sign in as mallory?' }).waitFor()
    await page.getByRole('button', { name: 'Stay signed in as owner' }).click()
    await page.getByRole('navigation').first().waitFor()
    expect(await visibleText(page.locator('.user-menu-button'))).toBe('owner')
    await page.goto(`${gateway.url}/?again#code=${code}`)
    await page.getByRole('button', { name: 'Sign in as mallory' }).click()
    await page.getByRole('navigation').first().waitFor()
    expect(await visibleText(page.locator('.user-menu-button'))).toBe('mallory')
  })
})

describe.skipIf(isMissing)('B14: the URL of the page', () => {
  /** Names that other programs take a server or a credential from. */
  const names = ['gatewayUrl', 'gateway', 'server', 'url', 'api', 'host', 'redirect', 'next']

  it('B14: the URL of the page cannot name another server, and a signed-in person sees the page of this server', async () => {
    const requests: string[] = []
    page.on('request', sent => requests.push(new URL(sent.url()).origin))
    const evil = `http://localhost:${attackerPort}/`
    const fields = names.map(name => `${name}=${encodeURIComponent(evil)}`).join('&')
    for (const target of [`/?${fields}`, `/#${fields}`, `/#/inbox?${fields}`]) {
      await page.goto('about:blank')
      await page.goto(gateway.url + target)
      await page.getByRole('navigation').first().waitFor()
    }
    expect(new Set(requests)).toEqual(new Set([gateway.url]))
    expect(received).toEqual([])
    expect(await isPending()).toBe(true)
  })

  it('B14: the URL of the page cannot carry a token, which signs nobody in and is not kept', async () => {
    const context = await browser.newContext({ serviceWorkers: 'block' })
    const visitor = await context.newPage()
    const { token } = gateway
    expect((await visitor.goto(`${gateway.url}/?token=${token}`))?.status()).toBe(400)
    for (const hash of [`#token=${token}`, `#access_token=${token}`, `#/inbox?token=${token}`, `#code=${token}`]) {
      await visitor.goto('about:blank')
      await visitor.goto(`${gateway.url}/${hash}`)
      await visitor.locator('main.sign-in h1').waitFor()
      expect(JSON.stringify(await visitor.evaluate(() => ({ ...localStorage, ...sessionStorage })))).not.toContain(
        token,
      )
    }
    expect(await context.cookies()).toEqual([])
    await context.close()
  })

  it('B14: the URL of the page cannot carry a script or other content', async () => {
    const opened: string[] = []
    page.on('dialog', dialog => {
      opened.push(dialog.message())
      void dialog.dismiss()
    })
    await page.goto(gateway.url)
    await page.getByRole('navigation').first().waitFor()
    for (const hash of [
      '#javascript:alert(1)',
      '#/javascript:alert(1)',
      '#/inbox/javascript:alert(1)',
      '#/sessions/data:text/html,<script>alert(1)</script>',
      '#/<img src=x onerror=alert(1)>',
      '#/inbox/..%2f..%2fapi',
    ]) {
      await page.evaluate(next => {
        location.hash = next
      }, hash)
      await page.getByRole('navigation').first().waitFor()
      expect(page.url().startsWith(`${gateway.url}/#`), hash).toBe(true)
    }
    expect(opened).toEqual([])
    expect(await page.locator('img[src="x"], script:not([src])').count()).toBe(0)
  })
})
