/** Renders the app icons from favicon.svg with Chromium. Run `node scripts/draw-icons.mjs` after changing the SVG; the PNG files are committed. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot read this package's list of exports
import { chromium } from 'playwright-core'

const publicFolder = new URL('../packages/web/public/', import.meta.url)
const favicon = readFileSync(new URL('favicon.svg', publicFolder), 'utf8')
/** The icon without rounded corners. The platform crops this icon to its own shape, so the background must reach every edge. */
const maskable = favicon.replace(' rx="8"', '')

const icons = [
  { name: 'icon-192.png', size: 192, svg: favicon },
  { name: 'icon-512.png', size: 512, svg: favicon },
  { name: 'icon-maskable-512.png', size: 512, svg: maskable },
]

const executablePath = process.env.CHROMIUM ?? execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  for (const { name, size, svg } of icons) {
    const page = await browser.newPage({ viewport: { width: size, height: size } })
    await page.setContent(`<style>body{margin:0}svg{display:block;width:100vw;height:100vh}</style>${svg}`)
    writeFileSync(new URL(name, publicFolder), await page.screenshot({ omitBackground: true }))
    await page.close()
  }
} finally {
  await browser.close()
}
