/** Measures the page in a real Chromium: the size of the scripts of the first screen, the time until the page is usable, and the cost of long lists. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { launch } from '../../test/support/chromium.mjs'
import { startGateway } from '../kit/gateway.mjs'
import { openHttpClient } from '../kit/http-client.mjs'
import { median } from '../kit/numbers.mjs'
import { startActor } from '../kit/spawn-actor.mjs'

const opens = 5
const scrollMs = 5000
const slowFrameMs = 50

export async function measure({ folder, quick }) {
  const events = quick ? 5000 : 100_000
  const seeder = startActor('seeder')
  const home = name => ({ home: join(folder, name), file: join(folder, name, 'holdpoint.db') })
  const [few, many, short, long] = ['few', 'many', 'short', 'long'].map(home)
  for (const folder of [few, many, short, long]) mkdirSync(folder.home)
  await seeder.call('pending', { file: few.file, sessions: 1, each: 10 })
  await seeder.call('pending', { file: many.file, sessions: 4, each: quick ? 50 : 250 })
  const shortSession = await seeder.call('conversation', { file: short.file, events: 100 })
  const longSession = await seeder.call('conversation', { file: long.file, events })
  await seeder.stop()

  const browser = await launch()
  try {
    const first = await measureScreen(browser, few, inboxShown)
    const full = await measureScreen(browser, many, inboxShown)
    const brief = await measureScreen(browser, short, conversationShown(shortSession), scrollUp)
    const lengthy = await measureScreen(browser, long, conversationShown(longSession), scrollUp)
    return {
      page_script_kb: { measured: first.scriptKb, bare: allScriptKb() },
      page_interactive_ms: { measured: first.ms, bare: first.blankMs },
      page_inbox_1000_ms: { measured: full.ms, bare: first.ms },
      page_talk_ms: { measured: lengthy.ms, bare: brief.ms },
      page_talk_heap_mb: { measured: lengthy.afterScroll.heapMb, bare: brief.heapMb },
      page_frames_quick: { measured: lengthy.afterScroll.quickFrames, bare: brief.afterScroll.quickFrames },
    }
  } finally {
    await browser.close()
  }
}

const inboxShown = {
  hash: '#/',
  ready: () =>
    document.querySelector('[data-request]') !== null && document.querySelector('article button:enabled') !== null,
}
const conversationShown = id => ({
  hash: `#/sessions/${id}`,
  ready: () => [...document.querySelectorAll('main p')].some(line => line.textContent === 'The newest line.'),
})

/** Opens a screen several times on a warm gateway, each time in a new tab of a signed-in browser. */
async function measureScreen(browser, { home }, { hash, ready }, afterLast) {
  const gateway = await startGateway({ home })
  const http = await openHttpClient(gateway.url)
  const { code } = await http.post('/links', gateway.token, {})
  http.close()
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const signIn = await context.newPage()
  await signIn.goto(`${gateway.url}/#code=${code}`)
  await signIn.getByRole('navigation').first().waitFor()
  const scriptKb = await signIn.evaluate(scriptLoaded)
  await signIn.close()
  const times = []
  const blankTimes = []
  let heapMb = 0
  let afterScroll = null
  for (let i = 0; i < opens; i++) {
    const page = await context.newPage()
    await page.goto(`${gateway.url}/favicon.svg`)
    blankTimes.push(await page.evaluate(() => performance.now()))
    await page.goto(`${gateway.url}/${hash}`, { waitUntil: 'commit' })
    await page.waitForFunction(ready, null, { polling: 'raf' })
    times.push(await page.evaluate(() => performance.now()))
    heapMb = await heapOf(page)
    if (afterLast && i === opens - 1) afterScroll = await afterLast(page)
    await page.close()
  }
  await context.close()
  await gateway.stop()
  return { ms: median(times), blankMs: median(blankTimes), scriptKb, heapMb, afterScroll }
}

/** Returns the transferred size, with the compression of the gateway. */
function scriptLoaded() {
  const scripts = performance.getEntriesByType('resource').filter(entry => entry.name.endsWith('.js'))
  return scripts.reduce((sum, entry) => sum + entry.encodedBodySize, 0) / 1000
}

function allScriptKb() {
  const folder = fileURLToPath(new URL('../../packages/web/dist/page/assets', import.meta.url))
  const scripts = readdirSync(folder).filter(name => name.endsWith('.js'))
  return scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0) / 1000
}

async function heapOf(page) {
  const http = await page.context().newCDPSession(page)
  await http.send('HeapProfiler.collectGarbage')
  const { usedSize } = await http.send('Runtime.getHeapUsage')
  await http.detach()
  return usedSize / 1e6
}

/** Scrolls up with the mouse wheel, so that older pages have to be loaded, and counts the frames. */
async function scrollUp(page) {
  await page.mouse.move(720, 450)
  await page.evaluate(() => {
    globalThis.frameTimes = []
    let last = performance.now()
    const tick = now => {
      globalThis.frameTimes.push(now - last)
      last = now
      requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
  })
  for (const endAt = Date.now() + scrollMs; Date.now() < endAt; ) await page.mouse.wheel(0, -900)
  const frames = (await page.evaluate(() => globalThis.frameTimes)).slice(1)
  const quickFrames = (100 * frames.filter(ms => ms < slowFrameMs).length) / frames.length
  return { quickFrames, heapMb: await heapOf(page) }
}
