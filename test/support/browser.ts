/** A real Chromium in front of a real gateway: signed in, watched for errors and for requests to anywhere else. */
// biome-ignore lint/correctness/noUnresolvedImports: it exports them by a way that the linter does not follow
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { executable, launch, launchLight, missing } from './chromium.mjs'
import type { GatewayProcess } from './gateway.ts'

/** For describe.skipIf: without a browser nothing of the page is tested, and CI must not pass for that. */
export function hasNoBrowser(): boolean {
  if (executable !== undefined) return false
  if (process.env.CI) throw new Error(missing)
  console.warn(`\n  THE PAGE IS NOT TESTED. ${missing}\n`)
  return true
}

/** The light one, where there is one; the whole, for what only that has. */
export const launchBrowser: Readonly<Record<'light' | 'whole', () => Promise<Browser>>> = {
  light: launchLight,
  whole: launch,
}

/** With the page's worker. Left out elsewhere: what it has looked at passes by a test that stands between page and gateway, and to begin it takes time. */
export const withWorker = { serviceWorkers: 'allow' } as const
/** What a browser reports while a test keeps the gateway away. */
export const away = /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_INTERNET|ERR_NETWORK|ERR_SOCKET/

/** Sooner than a test is given up, so that it says what it waited for. */
const waitMaxMs = 20_000

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const
export const desktop = { viewport: { width: 1440, height: 900 } } as const

export interface Seen {
  readonly page: Page
  /** Errors of the console and of scripts, and requests that went anywhere but to the gateway: none is fine. */
  readonly wrong: readonly string[]
}

export interface OpenOptions extends BrowserContextOptions {
  /** Whose browser it is; left out: the owner's. */
  readonly token?: string
  /** What the browser itself will report, where a test provokes it. */
  readonly provoked?: RegExp
  /** What is to be arranged before the page is there. */
  readonly before?: (page: Page) => Promise<unknown>
}

/** A browser of its own, signed in by a one-use link. */
export async function openPage(
  browser: Browser,
  gateway: GatewayProcess,
  { token = gateway.token, provoked, before, ...options }: OpenOptions = desktop,
): Promise<Seen> {
  const context = await browser.newContext({ reducedMotion: 'no-preference', serviceWorkers: 'block', ...options })
  context.setDefaultTimeout(waitMaxMs)
  const page = await context.newPage()
  const wrong: string[] = []
  page.on('pageerror', error => wrong.push(`error: ${error.message}`))
  page.on('console', message => {
    const text = message.text()
    // A draft on its way while its request ends is refused, and the browser reports every such reply.
    const crossed = text.includes('409') && message.location().url.endsWith('/draft')
    if (message.type() === 'error' && !crossed && !provoked?.test(text)) wrong.push(`console: ${text}`)
  })
  context.on('request', request => {
    const { protocol, origin } = new URL(request.url())
    if (/^(https?|wss?):$/.test(protocol) && origin !== gateway.url) wrong.push(`request to ${request.url()}`)
  })
  await before?.(page)
  const { code } = await gateway.callAs(token)('makeLink', {})
  await page.goto(`${gateway.url}/#code=${code}`)
  await page.getByRole('navigation').first().waitFor()
  return { page, wrong }
}
