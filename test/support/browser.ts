/** Opens the page of a real gateway in a real Chromium, signed in, and records errors and requests to other hosts. */
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot resolve the exports of playwright-core
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { executable, launch, launchLight, missing } from './chromium.mjs'
import type { GatewayProcess } from './gateway.ts'

/** Returns the condition for describe.skipIf. Without a browser, the page tests are skipped locally and fail in CI. */
export function hasNoBrowser(): boolean {
  if (executable !== undefined) return false
  if (process.env.CI) throw new Error(missing)
  console.warn(`\n  THE PAGE IS NOT TESTED. ${missing}\n`)
  return true
}

/** `light` is the headless shell if installed, without compilation to machine code, which costs more than it saves on pages that are open for seconds only. `fast` compiles, for pages that compute much. `full` is the full browser, which some features need. */
export const launchBrowser: Readonly<Record<'light' | 'fast' | 'full', () => Promise<Browser>>> = {
  light: () => launchLight(['--js-flags=--jitless']),
  fast: launchLight,
  full: launch,
}

/** Enables the service worker. It is off by default because it takes time to start, and its requests bypass Playwright routes. */
export const withWorker = { serviceWorkers: 'allow' } as const
/** Errors that the browser reports while a test makes the gateway unreachable. */
export const connectionErrors = /ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_INTERNET|ERR_NETWORK|ERR_SOCKET/

/** This time is shorter than the test timeout, so that the error of a failed test says what the test waited for. */
const waitMaxMs = 60_000

export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const
export const desktop = { viewport: { width: 1440, height: 900 } } as const

export interface OpenedPage {
  readonly page: Page
  /** Console errors, script errors, and requests to other hosts. The list must stay empty. */
  readonly problems: readonly string[]
}

export interface OpenOptions extends BrowserContextOptions {
  /** The person's token. The default is the owner's token. */
  readonly token?: string
  /** Console errors that the test causes on purpose. */
  readonly expectedErrors?: RegExp
  /** Called before the page is loaded. */
  readonly before?: (page: Page) => Promise<unknown>
}

/** Opens a new browser context and signs in with a one-time link. */
export async function openPage(
  browser: Browser,
  gateway: GatewayProcess,
  { token = gateway.token, expectedErrors, before, ...options }: OpenOptions = desktop,
): Promise<OpenedPage> {
  const context = await browser.newContext({ reducedMotion: 'no-preference', serviceWorkers: 'block', ...options })
  context.setDefaultTimeout(waitMaxMs)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', error => problems.push(`error: ${error.message}`))
  page.on('console', message => {
    const text = message.text()
    // A draft that is saved while its request is resolved gets a 409, which the browser logs as an error.
    const lateDraft = text.includes('409') && message.location().url.endsWith('/draft')
    if (message.type() === 'error' && !lateDraft && !expectedErrors?.test(text)) problems.push(`console: ${text}`)
  })
  context.on('request', request => {
    const { protocol, origin } = new URL(request.url())
    if (/^(https?|wss?):$/.test(protocol) && origin !== gateway.url) problems.push(`request to ${request.url()}`)
  })
  await before?.(page)
  const { code } = await gateway.callAs(token)('makeLink', {})
  await page.goto(`${gateway.url}/#code=${code}`)
  await page.getByRole('navigation').first().waitFor()
  return { page, problems }
}
