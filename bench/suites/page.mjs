/** The page in a real Chromium: how much script the first screen loads, how soon it can be used, and what long lists cost. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { launch } from '../../test/support/chromium.mjs'
import { startGateway } from '../kit/gateway.mjs'
import { median } from '../kit/numbers.mjs'
import { enter } from '../kit/spawn-actor.mjs'
import { openWire } from '../kit/wire.mjs'

const opens = 5
const scrollMs = 5000
const slowFrameMs = 50

export async function measure({ folder, quick }) {
  const events = quick ? 5000 : 100_000
  const seeder = enter('seeder')
  const home = name => ({ home: join(folder, name), file: join(folder, name, 'holdpoint.db') })
  const [few, many, short, long] = ['few', 'many', 'short', 'long'].map(home)
  for (const place of [few, many, short, long]) mkdirSync(place.home)
  await seeder.call('pending', { file: few.file, sessions: 1, each: 10 })
  await seeder.call('pending', { file: many.file, sessions: 4, each: quick ? 50 : 250 })
  const shortTalk = await seeder.call('talk', { file: short.file, events: 100 })
  const longTalk = await seeder.call('talk', { file: long.file, events })
  await seeder.leave()

  const browser = await launch()
  try {
    const first = await opened(browser, few, inboxShown)
    const crowded = await opened(browser, many, inboxShown)
    const brief = await opened(browser, short, talkShown(shortTalk), scrollUp)
    const lengthy = await opened(browser, long, talkShown(longTalk), scrollUp)
    return {
      page_script_kb: { measured: first.scriptKb, bare: allScriptKb() },
      page_interactive_ms: { measured: first.ms, bare: first.blankMs },
      page_inbox_1000_ms: { measured: crowded.ms, bare: first.ms },
      page_talk_ms: { measured: lengthy.ms, bare: brief.ms },
      page_talk_heap_mb: { measured: lengthy.more.heapMb, bare: brief.heapMb },
      page_frames_quick: { measured: lengthy.more.quickFrames, bare: brief.more.quickFrames },
    }
  } finally {
    await browser.close()
  }
}

const inboxShown = { hash: '#/', ready: () => document.querySelector('[data-request] button:enabled') !== null }
const talkShown = id => ({
  hash: `#/sessions/${id}`,
  ready: () => [...document.querySelectorAll('main p')].some(line => line.textContent === 'The newest line.'),
})

/** Opens a screen a few times on a gateway that is warm, each time in a new tab of one signed-in browser. */
async function opened(browser, { home }, { hash, ready }, then) {
  const gateway = await startGateway({ home })
  const wire = await openWire(gateway.url)
  const { code } = await wire.post('/links', gateway.token, {})
  wire.close()
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const signIn = await context.newPage()
  await signIn.goto(`${gateway.url}/#code=${code}`)
  await signIn.getByRole('navigation').first().waitFor()
  const scriptKb = await signIn.evaluate(scriptLoaded)
  await signIn.close()
  const times = []
  const blankTimes = []
  let heapMb = 0
  let more = null
  for (let i = 0; i < opens; i++) {
    const page = await context.newPage()
    await page.goto(`${gateway.url}/favicon.svg`)
    blankTimes.push(await page.evaluate(() => performance.now()))
    await page.goto(`${gateway.url}/${hash}`, { waitUntil: 'commit' })
    await page.waitForFunction(ready, null, { polling: 'raf' })
    times.push(await page.evaluate(() => performance.now()))
    heapMb = await heapOf(page)
    if (then && i === opens - 1) more = await then(page)
    await page.close()
  }
  await context.close()
  await gateway.stop()
  return { ms: median(times), blankMs: median(blankTimes), scriptKb, heapMb, more }
}

/** What went over the wire, compressed as the gateway sends it. */
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
  const wire = await page.context().newCDPSession(page)
  await wire.send('HeapProfiler.collectGarbage')
  const { usedSize } = await wire.send('Runtime.getHeapUsage')
  await wire.detach()
  return usedSize / 1e6
}

/** Turns the wheel upwards, through pages that have to be fetched, and counts the frames. */
async function scrollUp(page) {
  await page.mouse.move(720, 450)
  await page.evaluate(() => {
    globalThis.frames50 = []
    let last = performance.now()
    const tick = now => {
      globalThis.frames50.push(now - last)
      last = now
      requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
  })
  for (const endAt = Date.now() + scrollMs; Date.now() < endAt; ) await page.mouse.wheel(0, -900)
  const frames = (await page.evaluate(() => globalThis.frames50)).slice(1)
  const quickFrames = (100 * frames.filter(ms => ms < slowFrameMs).length) / frames.length
  return { quickFrames, heapMb: await heapOf(page) }
}
