/** Runs axe, which finds violations of accessibility rules, on a page. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Findings {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly target: unknown; readonly failureSummary?: string }[]
  }[]
}

/**
 * Runs axe on the current screen and returns its violations, one line each. The page makes a box that scrolls reachable
 * by keyboard after the browser has laid it out, so axe starts once that is done. Without `preload: false`, axe would load
 * all stylesheets between reading the page and checking it, and the page could change meanwhile.
 */
export async function violationsOn(page: Page, rules: object = {}): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  await page.evaluate(waitForScrollBoxes)
  const { violations } = await page.evaluate(async options => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<Findings> } } // the `axe` script evaluated above defines this property
    return axe.run({ resultTypes: ['violations'], preload: false, ...options })
  }, rules)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(node => `${id}: ${help} at ${JSON.stringify(node.target)} ${node.failureSummary ?? ''}`),
  )
}

/** Waits until the boxes that scroll keep their sizes for three frames and each of them can be reached by keyboard, at most a second. axe reports a box that cannot be reached by then. Runs in the page. */
async function waitForScrollBoxes(): Promise<void> {
  const until = performance.now() + 1000
  let last = ''
  let sameFrames = 0
  while (sameFrames < 3 && performance.now() < until) {
    await new Promise(requestAnimationFrame)
    const boxes = [...document.querySelectorAll<HTMLElement>('body *')].filter(it => {
      const { overflowX, overflowY } = getComputedStyle(it)
      const [scrollsX, scrollsY] = [overflowX, overflowY].map(value => value === 'auto' || value === 'scroll')
      return (scrollsX && it.scrollWidth > it.clientWidth) || (scrollsY && it.scrollHeight > it.clientHeight + 1)
    })
    const isReachable = (it: HTMLElement) =>
      it.tabIndex >= 0 || it.querySelector('a[href], button, input, select, textarea, summary, [tabindex="0"]') !== null
    const sizes = JSON.stringify(boxes.map(it => [it.className, it.scrollHeight, it.clientHeight, isReachable(it)]))
    sameFrames = sizes === last && boxes.every(isReachable) ? sameFrames + 1 : 0
    last = sizes
  }
}
