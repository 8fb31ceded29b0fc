/** The fixture of the page tests: one gateway per test file, and one Chromium per worker. It opens signed-in pages, and fails a test if one of its pages reported an error. */
import { letterPauseMs, typingPauseMs } from '@holdpoint/client'
import { type Answer, limits, type Request, type RequestId, type Session } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { cooldownMs } from '../../packages/web/src/ui/input-cooldown.ts'
import { desktop, launchBrowser, type OpenedPage, type OpenOptions, openPage } from '../support/browser.ts'
import { closeGateways, type GatewayOptions, type GatewayProcess, startGateway } from '../support/gateway.ts'
import { openTestAgent, type TestAgent } from '../support/request-samples.ts'

export class PageFixture {
  readonly #options: GatewayOptions
  readonly #browserKind: keyof typeof launchBrowser
  readonly #prepare: () => Promise<void>
  #gateway: GatewayProcess | undefined
  #browser: Browser | undefined
  #openedPages: OpenedPage[] = []

  constructor(options: GatewayOptions, browserKind: keyof typeof launchBrowser, prepare: () => Promise<void>) {
    this.#options = options
    this.#browserKind = browserKind
    this.#prepare = prepare
  }

  get gateway(): GatewayProcess {
    if (!this.#gateway) throw new Error('the page fixture is not started')
    return this.#gateway
  }
  get browser(): Browser {
    if (!this.#browser) throw new Error('the page fixture is not started')
    return this.#browser
  }

  /** Opens the page, signed in, in a new browser context. */
  async openPage(options: OpenOptions = {}): Promise<Page> {
    const before = async (page: Page) => {
      await recordPageChanges(page)
      await options.before?.(page)
    }
    const opened = await openPage(this.browser, this.gateway, { ...desktop, ...options, before })
    this.#openedPages.push(opened)
    return opened.page
  }
  /** Opens another tab in the browser context of a signed-in page. */
  async openTab(page: Page, hash = '#/'): Promise<Page> {
    const tab = await page.context().newPage()
    await tab.goto(`${this.gateway.url}/${hash}`)
    await tab.getByRole('navigation').first().waitFor()
    return tab
  }
  openAsker(title?: string, cwd?: string): Promise<TestAgent> {
    return openTestAgent(this.gateway, title, cwd)
  }

  /** Waits until the gateway has resolved the request, and returns it. */
  waitUntilResolved({ id }: { readonly id: RequestId }): Promise<Request> {
    return this.gateway.call('getRequest', { id, wait: limits.waitMaxMs })
  }
  /** Waits for the answer, and checks that a person gave it on the page. */
  async answerGivenOnPage(request: Request): Promise<Answer> {
    const { status, resolution } = await this.waitUntilResolved(request)
    expect(status).toBe('resolved')
    expect(resolution).toMatchObject({ by: 'person', via: 'page' })
    if (!resolution?.answer) throw new Error('The request was resolved without an answer.')
    return resolution.answer
  }
  async isPending({ id }: Request): Promise<boolean> {
    return (await this.gateway.call('getRequest', { id })).status === 'pending'
  }
  answer({ id, digest }: Request, answer: Answer = { kind: 'allow' }): Promise<Request> {
    return this.gateway.call('answerRequest', { id, digest, answer })
  }
  /** Reports the answer as handed and taken, like an agent that has received it. */
  async reportTaken({ id }: Request): Promise<void> {
    await this.gateway.call('reportDelivery', { id, state: 'handed' })
    await this.gateway.call('reportDelivery', { id, state: 'taken' })
  }

  async start(): Promise<void> {
    const [gateway, browser] = await Promise.all([startGateway(this.#options), runningBrowser(this.#browserKind)])
    this.#gateway = gateway
    this.#browser = browser
    await this.#prepare()
  }
  /** Closes the test's pages, ends all sessions so that the next test has no pending requests, and fails if a page reported an error. A failed test gets a new gateway, so that it finds nothing of its first attempt if it is repeated. */
  async reset(hasFailed: boolean): Promise<void> {
    const opened = this.#openedPages
    this.#openedPages = []
    await Promise.all(opened.map(({ page }) => page.context().close()))
    const problems = opened.flatMap(page => page.problems)
    if (hasFailed || problems.length > 0) await this.#replaceGateway()
    else {
      const { items } = await this.gateway.call('listSessions', {})
      await Promise.all(items.filter(isOpen).map(({ id }) => this.gateway.call('endSession', { id })))
    }
    expect(problems).toEqual([])
  }
  async #replaceGateway(): Promise<void> {
    const { gateway } = this
    await this.start()
    await gateway.close()
  }
  async close(): Promise<void> {
    // Only one file runs in a worker at a time, so all contexts are those of this file.
    await Promise.all(this.#browser?.contexts().map(context => context.close()) ?? [])
    await closeGateways()
  }
}

const browsers = new Map<keyof typeof launchBrowser, Promise<Browser>>()
/** Returns the browser that all files in this worker share. Every page has a context of its own, so files do not notice each other. The browser ends with the worker. */
async function runningBrowser(kind: keyof typeof launchBrowser): Promise<Browser> {
  const known = await browsers.get(kind)
  if (known?.isConnected()) return known
  const launched = launchBrowser[kind]()
  browsers.set(kind, launched)
  return launched
}

function isOpen({ state }: Session): boolean {
  return state !== 'ended'
}

/** Call at the top of a test file or `describe`: starts the fixture before the first test, resets it after each test, and closes it after the last. `prepare` adds what every test needs on the gateway; it runs again for each new gateway. */
export function setUpPageFixture(
  options: GatewayOptions = {},
  browserKind: keyof typeof launchBrowser = 'light',
  prepare: () => Promise<void> = async () => {},
): PageFixture {
  const fixture = new PageFixture({ runner: 'none', ...options }, browserKind, prepare)
  beforeAll(() => fixture.start())
  afterEach(({ task }) => fixture.reset(task.result?.state === 'fail'))
  afterAll(() => fixture.close())
  return fixture
}

export function cardOf(page: Page, { id }: Request): Locator {
  return page.locator(`article[id$="${id}"]`)
}
/** The row of a request in the list of the inbox. */
export function rowOf(page: Page, { id }: Request): Locator {
  return page.locator(`li[data-request="${id}"]`)
}
/** Opens the card of a request from its row in the inbox, and returns the card. */
export async function openCard(page: Page, request: Request): Promise<Locator> {
  await rowOf(page, request).getByRole('link').click()
  const card = cardOf(page, request)
  await card.waitFor()
  return card
}
/** Selects a request in the list of the inbox. */
export async function select(page: Page, request: Request): Promise<void> {
  await rowOf(page, request).getByRole('checkbox').check()
}
/** Finds the receipt that contains all these texts. */
export function receipt(page: Page, ...texts: readonly string[]): Locator {
  const all = page.locator('details.receipt')
  return texts.reduce((found, hasText) => found.filter({ hasText }), all)
}

/** Returns the text as displayed, without hidden elements. */
export function visibleText(element: Locator): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: textContent would include hidden elements
  return element.innerText()
}

export function button(scope: Page | Locator, name: string): Locator {
  return scope.getByRole('button', { name, exact: true })
}

interface ChangeTimes {
  changedAt?: number
  /** The number of changes that are drawn but not yet handled by the page's effects. */
  changing?: number
  /** The time after which the page again accepts a key that decides. */
  keyAcceptedAt?: number
}

/** Runs in the page. Records when a card or the connection banner last changed and when a key was pressed, because the page ignores clicks and keys for a moment after such a change, and keys that decide for a moment after another key. */
/** Makes `click` and `waitForCooldown` work on a page. Call it before the page is loaded. */
export async function recordPageChanges(page: Page): Promise<void> {
  await page.context().addInitScript(recordChanges, { letterMs: letterPauseMs, textMs: typingPauseMs })
}

function recordChanges({ letterMs, textMs }: { readonly letterMs: number; readonly textMs: number }): void {
  const times = globalThis as ChangeTimes // all properties of `ChangeTimes` are optional, and only this file sets them
  const isCard = (node: Node) =>
    node instanceof Element && (node.matches('article, li, details') || node.querySelector('article') !== null)
  // The session screen keeps cards that were opened before, and only shows them again.
  const isShownOrHidden = ({ type, target }: MutationRecord) =>
    type === 'attributes' && target instanceof Element && target.matches('article')
  const recordAfterPaint = () => {
    times.changing = (times.changing ?? 0) + 1
    // The page handles a change after it is drawn, which can take until the second frame, for example while a font is loading.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        setTimeout(() => {
          times.changing = (times.changing ?? 1) - 1
          times.changedAt = performance.now()
        }, 0),
      ),
    )
  }
  new MutationObserver(records => {
    const isRelevant = records.some(
      record =>
        isShownOrHidden(record) ||
        (record.target instanceof Element ? record.target : record.target.parentElement)?.closest('.connection') ||
        [...record.addedNodes, ...record.removedNodes].some(isCard),
    )
    if (isRelevant) recordAfterPaint()
  }).observe(document, {
    childList: true,
    characterData: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['style', 'hidden'],
  })
  // Only Chromium reports these, so the page itself detects them in another way.
  new PerformanceObserver(list => {
    for (const { startTime } of list.getEntries()) times.changedAt = Math.max(times.changedAt ?? 0, startTime)
  }).observe({ type: 'layout-shift', buffered: true })
  const onKey = ({ target, timeStamp }: KeyboardEvent) => {
    const isText = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
    times.keyAcceptedAt = timeStamp + (isText ? textMs : letterMs)
  }
  addEventListener('keydown', onKey, true)
}

/** Waits until the page accepts clicks and keys again after its last change. */
export async function waitForCooldown(page: Page): Promise<void> {
  await page.evaluate(async stillMs => {
    const times = globalThis as ChangeTimes // all properties of `ChangeTimes` are optional, and only this file sets them
    const remainingMs = () =>
      times.changing ? stillMs : (times.changedAt ?? performance.now()) + stillMs - performance.now()
    while (remainingMs() > 0) await new Promise(done => setTimeout(done, remainingMs()))
  }, cooldownMs + 30)
}

/** Records a change that `recordChanges` does not notice, such as an update of a draft from another device, which neither adds nor removes a card. */
export async function markChanged(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.assign(globalThis, { changedAt: performance.now() } satisfies ChangeTimes)
  })
}

/** Stops the clock of the page, so that a busy machine cannot disturb a test of short times. Times of events follow the same clock. */
export async function holdClock(page: Page): Promise<(ms: number) => Promise<void>> {
  await page.evaluate(() => {
    Object.defineProperty(Event.prototype, 'timeStamp', { get: () => performance.now() })
  })
  await page.clock.pauseAt(Date.now() + 1000)
  return ms => page.clock.runFor(ms)
}
/** Waits for an element while the clock is stopped, and moves the clock only as far as the page needs to draw. Returns how far. */
export async function waitWithClock(page: Page, target: Locator): Promise<number> {
  let spentMs = 0
  await expect
    .poll(
      async () => {
        await page.clock.runFor(5)
        spentMs += 5
        return target.count()
      },
      { interval: 100 },
    )
    .toBeGreaterThan(0)
  return spentMs
}
/** Pass this function as the `before` option of `openPage` if the test calls `holdClock`. */
export async function installClock(page: Page): Promise<void> {
  await page.clock.install()
}

/** Clicks after the cooldown, so that the page accepts the click. */
export async function click(page: Page, target: Locator): Promise<void> {
  // Scroll first, as a person would, so that the content above the target has been on screen.
  await target.scrollIntoViewIfNeeded()
  // The page ignores a click on a button that has just changed, for example after the gateway checked an edit, or after the whole request was on the screen.
  const wasEnabled = await target.isEnabled()
  await target.click({ trial: true })
  if (!wasEnabled) await markChanged(page)
  await waitForCooldown(page)
  await target.click()
}
/** Waits as long as a person who is not typing a text, so that the page accepts a key that decides. */
export async function waitForKeyPause(page: Page): Promise<void> {
  await waitForCooldown(page)
  await page.evaluate(async () => {
    const { keyAcceptedAt = 0 } = globalThis as ChangeTimes // all properties of `ChangeTimes` are optional, and only this file sets them
    const remainingMs = keyAcceptedAt + 30 - performance.now()
    if (remainingMs > 0) await new Promise(done => setTimeout(done, remainingMs))
  })
}
/** Presses a key after a pause, so that the page accepts the key. */
export async function pressKey(page: Page, key: string): Promise<void> {
  await waitForKeyPause(page)
  await page.keyboard.press(key)
}
