/** Takes pictures of the page: every screen, light and dark, wide and on a phone, into the folder that is named; without one, the three of the README. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from '../../test/support/chromium.mjs'
import { openHouse } from './demo-gateway.mjs'
import { asks, ran, reviewed, talk } from './sample.mjs'

const wide = { viewport: { width: 1440, height: 900 } }
const narrow = { viewport: { width: 1024, height: 768 } }
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }

const [named] = process.argv.slice(2)
if (named?.startsWith('-')) {
  console.log('npm run pictures [-- FOLDER]: every screen into that folder; without one, the three of the README')
  process.exit()
}
const folder = named ?? fileURLToPath(new URL('../../docs/pictures', import.meta.url))
mkdirSync(folder, { recursive: true })
const browser = await launch()
try {
  if (named) await takeAll()
  else await takeThree()
} finally {
  await browser.close()
}

async function takeThree() {
  const house = await openHouse(64)
  const { shown } = await furnish(house)
  await take(house, 'inbox', { ...wide, colorScheme: 'light' }, '#/')
  await take(house, 'session', { ...wide, colorScheme: 'dark' }, `#/sessions/${shown}`)
  await take(house, 'phone', { ...phone, colorScheme: 'light' }, '#/')
  await house.close()
}

async function takeAll() {
  await inLooks(async house => {
    await quiet(house)
    return { 'inbox-empty': '#/' }
  })
  await inLooks(async house => {
    const { billing } = await quiet(house)
    await billing.ask(asks.plan)
    return { 'inbox-one': '#/' }
  })
  await inLooks(async house => {
    const { shown } = await furnish(house)
    return { inbox: '#/', session: `#/sessions/${shown}`, sessions: '#/sessions', record: '#/record' }
  })
  await inLooks(async house => {
    await furnish(house, true)
    return { 'inbox-twelve': '#/' }
  })
  for (const [look, options] of looks()) {
    const house = await openHouse(64)
    await furnish(house)
    await take(house, `reconnecting-${look}`, options, '#/', async page => {
      await house.vanish()
      await page.getByText('Reconnecting…').waitFor()
    })
    await house.close()
  }
}

function looks() {
  return ['light', 'dark'].flatMap(colorScheme => [
    [`1440-${colorScheme}`, { ...wide, colorScheme }],
    [`1024-${colorScheme}`, { ...narrow, colorScheme }],
    [`phone-${colorScheme}`, { ...phone, colorScheme }],
  ])
}

async function inLooks(scene) {
  const house = await openHouse(64)
  const screens = await scene(house)
  await house.pass(60 * 24)
  for (const [name, hash] of Object.entries(screens))
    for (const [look, options] of looks()) await take(house, `${name}-${look}`, options, hash)
  await house.close()
}

async function take(house, name, options, hash, before = async () => {}) {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  await context.addInitScript(() => localStorage.setItem('holdpoint.notifications', 'off'))
  const page = await context.newPage()
  await page.goto(await house.link())
  await page.getByRole('navigation').first().waitFor()
  await page.evaluate(to => {
    location.hash = to
  }, hash)
  await settled(page)
  await before(page)
  await page.mouse.move(0, 0)
  await settled(page)
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await context.close()
}

/** Until nothing has changed for a while: what is fetched late has come, and what moves has moved. */
function settled(page) {
  return page.evaluate(
    () =>
      new Promise(done => {
        let timer = setTimeout(done, 400)
        new MutationObserver(() => {
          clearTimeout(timer)
          timer = setTimeout(done, 400)
        }).observe(document.body, { childList: true, subtree: true, attributes: true })
      }),
  )
}

/** Agents at work of whom none asks. */
async function quiet(house) {
  const infra = await house.agent({
    title: 'infra',
    cwd: '~/src/infra',
    mode: 'default',
    prompt: 'Why is the registry full?',
  })
  await infra.say({ type: 'message.added', block: 'm1', text: 'The cache holds 41 GB of layers that nobody pulls.' })
  await house.pass(9)
  const billing = await house.agent({
    title: 'billing',
    cwd: '~/src/billing',
    mode: 'plan',
    prompt: 'Plan the move to the new ledger',
  })
  await billing.say({ type: 'message.added', block: 'm1', text: 'I compare the two schemas.' })
  await house.pass(6)
  return { infra, billing }
}

/** A day on which a few wait, in places that look like work; or all of them, one of each kind. */
async function furnish(house, everything = false) {
  const { infra, billing } = await quiet(house)
  const api = await house.agent({
    title: 'api-server',
    cwd: '~/src/api',
    mode: 'default',
    model: 'opus',
    prompt: 'Retries give up too early when the database restarts. Fix it, with a test.',
  })
  const docs = await house.agent({
    title: 'docs',
    cwd: '~/src/docs',
    mode: 'acceptEdits',
    prompt: 'Write the changelog of 2.4',
  })
  await api.say(...talk)
  await house.pass(12)
  await api.settle(await api.ask(asks.retry), { kind: 'allow', note: 'name the pace, please' })
  await api.say(...reviewed)
  await docs.settle(await docs.ask(asks.push), { kind: 'deny', reason: 'Open a pull request instead.' })
  await house.pass(8)
  await api.settle(await api.ask(asks.test), { kind: 'allow' })
  await api.say(...ran)
  const nightly = await house.agent({ title: 'nightly', cwd: '~/src/nightly', prompt: 'Run the long tests' })
  await nightly.say(
    { type: 'message.added', block: 'm1', text: 'All 4,210 passed.' },
    { type: 'turn.finished', ending: 'done', cost: 0.38 },
  )
  await house.pass(11)
  await api.ask(asks.migrate, { agentPath: everything ? ['test-writer'] : [] })
  await house.pass(3)
  await docs.ask(asks.questions)
  await house.pass(2)
  await billing.ask(asks.plan)
  if (everything)
    for (const ask of [
      asks.issue,
      asks.clean,
      asks.retry,
      asks.release,
      asks.secret,
      asks.link,
      asks.write,
      asks.test,
      asks.push,
    ]) {
      await infra.ask(ask, ask === asks.test ? { deadlineMs: 15 * 60_000 } : {})
      await house.pass(1)
    }
  await house.pass(2)
  await docs.say({ type: 'message.added', block: 'm9', text: 'I have read the 41 merges since 2.3.' })
  await house.pass(60 * 24)
  return { shown: api.id }
}
