/** Draws the app's icons from our own favicon with a Chromium: `node scripts/draw-icons.mjs`, after the drawing has changed. The files are committed. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot read this package's list of exports
import { chromium } from 'playwright-core'

const place = new URL('../packages/web/public/', import.meta.url)
const drawing = readFileSync(new URL('favicon.svg', place), 'utf8')
/** A mask may cut a fifth off every side: the ground goes to the edge, the drawing stays within. */
const maskable = drawing.replace(' rx="8"', '')

const icons = [
  { name: 'icon-192.png', size: 192, svg: drawing },
  { name: 'icon-512.png', size: 512, svg: drawing },
  { name: 'icon-maskable-512.png', size: 512, svg: maskable },
]

const executablePath = process.env.CHROMIUM ?? execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  for (const { name, size, svg } of icons) {
    const page = await browser.newPage({ viewport: { width: size, height: size } })
    await page.setContent(`<style>body{margin:0}svg{display:block;width:100vw;height:100vh}</style>${svg}`)
    writeFileSync(new URL(name, place), await page.screenshot({ omitBackground: true }))
    await page.close()
  }
} finally {
  await browser.close()
}
