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
 * by keyboard after the browser has laid it out, so axe starts after two frames. Without `preload: false`, axe would load
 * all stylesheets between reading the page and checking it, and the page could change meanwhile.
 */
export async function violationsOn(page: Page, rules: object = {}): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  const { violations } = await page.evaluate(async options => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<Findings> } } // the `axe` script evaluated above defines this property
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
    return axe.run({ resultTypes: ['violations'], preload: false, ...options })
  }, rules)
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(node => `${id}: ${help} at ${JSON.stringify(node.target)} ${node.failureSummary ?? ''}`),
  )
}
