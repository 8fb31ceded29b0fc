/** What a test of the page stands on: one gateway and one Chromium per file, as many browsers in it as a test wants, and the promise that none of them saw anything wrong. */
import type { Answer, Request, RequestId, Session } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: it exports them by a way that the linter does not follow
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { cooldownMs } from '../../packages/web/src/shortcuts/input-cooldown.ts'
import { desktop, launchBrowser, type OpenOptions, openPage, type Seen } from '../support/browser.ts'
import { closeGateways, type GatewayOptions, type GatewayProcess, startGateway } from '../support/gateway.ts'
import { type Asker, openAsker } from '../support/request-samples.ts'

export class Stage {
  readonly #options: GatewayOptions
  readonly #kind: keyof typeof launchBrowser
  #gateway: GatewayProcess | undefined
  #browser: Browser | undefined
  #seen: Seen[] = []

  constructor(options: GatewayOptions, kind: keyof typeof launchBrowser) {
    this.#options = options
    this.#kind = kind
  }

  get gateway(): GatewayProcess {
    if (!this.#gateway) throw new Error('the stage is not open')
    return this.#gateway
  }
  get browser(): Browser {
    if (!this.#browser) throw new Error('the stage is not open')
    return this.#browser
  }

  /** A browser of its own, signed in. */
  async open(options: OpenOptions = {}): Promise<Page> {
    const before = async (page: Page) => {
      await page.context().addInitScript(noteChanges)
      await options.before?.(page)
    }
    const seen = await openPage(this.browser, this.gateway, { ...desktop, ...options, before })
    this.#seen.push(seen)
    return seen.page
  }
  /** Another tab of a browser that is signed in. */
  async tab(page: Page, hash = '#/'): Promise<Page> {
    const tab = await page.context().newPage()
    await tab.goto(`${this.gateway.url}/${hash}`)
    await tab.getByRole('navigation').first().waitFor()
    return tab
  }
  asker(title?: string, cwd?: string): Promise<Asker> {
    return openAsker(this.gateway, title, cwd)
  }

  /** What the gateway has, once it is resolved. */
  resolved({ id }: { readonly id: RequestId }): Promise<Request> {
    return this.gateway.call('getRequest', { id, wait: 10_000 })
  }
  /** The answer that arrived, which a person gave on the page. */
  async answerTo(request: Request): Promise<Answer> {
    const { status, resolution } = await this.resolved(request)
    expect(status).toBe('resolved')
    expect(resolution).toMatchObject({ by: 'person', via: 'page' })
    if (!resolution?.answer) throw new Error('it was resolved without an answer')
    return resolution.answer
  }
  async isPending({ id }: Request): Promise<boolean> {
    return (await this.gateway.call('getRequest', { id })).status === 'pending'
  }
  answer({ id, digest }: Request, answer: Answer = { kind: 'allow' }): Promise<Request> {
    return this.gateway.call('answerRequest', { id, digest, answer })
  }
  /** As the agent does when it has gone on with the answer. */
  async deliver({ id }: Request): Promise<void> {
    await this.gateway.call('reportDelivery', { id, state: 'handed' })
    await this.gateway.call('reportDelivery', { id, state: 'taken' })
  }

  async begin(): Promise<void> {
    const begun = await Promise.all([startGateway(this.#options), launchBrowser[this.#kind]()])
    this.#gateway = begun[0]
    this.#browser = begun[1]
  }
  /** The next test finds nothing that waits, and nothing of this one was wrong. */
  async rest(): Promise<void> {
    const seen = this.#seen
    this.#seen = []
    await Promise.all(seen.map(({ page }) => page.context().close()))
    const { items } = await this.gateway.call('listSessions', {})
    await Promise.all(items.filter(isOpen).map(({ id }) => this.gateway.call('endSession', { id })))
    expect(seen.flatMap(({ wrong }) => wrong)).toEqual([])
  }
  async end(): Promise<void> {
    await this.#browser?.close()
    await closeGateways()
  }
}

function isOpen({ state }: Session): boolean {
  return state !== 'ended'
}

/** For the top of a file of tests. */
export function openStage(options: GatewayOptions = {}, kind: keyof typeof launchBrowser = 'light'): Stage {
  const stage = new Stage({ runner: 'none', ...options }, kind)
  beforeAll(() => stage.begin())
  afterEach(() => stage.rest())
  afterAll(() => stage.end())
  return stage
}

export function cardOf(page: Page, { id }: Request): Locator {
  return page.locator(`article[id$="${id}"]`)
}
/** The line to which a resolved request folds, by what it says. */
export function receipt(page: Page, ...words: readonly string[]): Locator {
  const all = page.locator('details.receipt')
  return words.reduce((left, hasText) => left.filter({ hasText }), all)
}

/** As it is read: without what is hidden. */
export function textOf(place: Locator): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: what is on the screen is what is asked for
  return place.innerText()
}

export function button(place: Page | Locator, name: string): Locator {
  return place.getByRole('button', { name, exact: true })
}

interface Notes {
  changedAt?: number
  /** Changes that the page has drawn and not yet thought about. */
  changing?: number
}

/** Notes when a card or the gateway has come or gone last: from then on the page lets no press count for a while. */
function noteChanges(): void {
  const notes = globalThis as Notes // notes of ours, beside what a page has
  const isCard = (node: Node) =>
    node instanceof Element && (node.matches('article, li, details') || node.querySelector('article') !== null)
  const noteAfterPaint = () => {
    notes.changing = (notes.changing ?? 0) + 1
    requestAnimationFrame(() =>
      setTimeout(() => {
        notes.changing = (notes.changing ?? 1) - 1
        notes.changedAt = performance.now()
      }, 0),
    )
  }
  new MutationObserver(records => {
    const touched = records.some(
      ({ target, addedNodes, removedNodes }) =>
        (target instanceof Element ? target : target.parentElement)?.closest('.connection') ||
        [...addedNodes, ...removedNodes].some(isCard),
    )
    if (touched) noteAfterPaint()
  }).observe(document, { childList: true, characterData: true, subtree: true })
}

/** Until a press counts. */
export async function calm(page: Page): Promise<void> {
  await page.evaluate(async stillMs => {
    const notes = globalThis as Notes // notes of ours, beside what a page has
    const leftMs = () =>
      notes.changing ? stillMs : (notes.changedAt ?? performance.now()) + stillMs - performance.now()
    while (leftMs() > 0) await new Promise(done => setTimeout(done, leftMs()))
  }, cooldownMs + 30)
}

/** What has just been followed from another device is a change, too, though no card has come or gone. */
export async function noteFollowed(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.assign(globalThis, { changedAt: performance.now() } satisfies Notes)
  })
}

/** A press that counts. */
export async function press(page: Page, target: Locator): Promise<void> {
  // As whoever presses it: what is above it comes into sight, too.
  await target.scrollIntoViewIfNeeded()
  await calm(page)
  await target.click()
}
/** A key that counts. */
export async function strike(page: Page, key: string): Promise<void> {
  await calm(page)
  await page.keyboard.press(key)
}
