/** Takes screenshots of the page. With a folder: all screens in light and dark, on desktop and phone. Without a folder: the three pictures of the README. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from '../../test/support/chromium.mjs'
import { waitUntilStable } from '../../test/support/stable-page.mjs'
import { openDemoGateway } from './demo-gateway.mjs'
import { addLoad } from './load.mjs'
import { asks, ran, reviewed, sessionEvents } from './sample.mjs'

const wide = { viewport: { width: 1440, height: 900 } }
const narrow = { viewport: { width: 1024, height: 768 } }
const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }

const [named, only = ''] = process.argv.slice(2)
if (named?.startsWith('-')) {
  console.log(
    'npm run pictures [-- FOLDER [NAME]]\nTakes screenshots of every screen into FOLDER, or only those with NAME in their names. Without FOLDER, takes the three pictures of the README.',
  )
  process.exit()
}
const folder = named ?? fileURLToPath(new URL('../../docs/pictures', import.meta.url))
mkdirSync(folder, { recursive: true })
const browser = await launch()
try {
  if (named) await takeAllPictures()
  else await takeReadmePictures()
} finally {
  await browser.close()
}

async function takeReadmePictures() {
  const demo = await openDemoGateway(64)
  const { shown } = await addBusyAgents(demo)
  await take(demo, 'inbox', { ...wide, colorScheme: 'light' }, '#/')
  await take(demo, 'session', { ...wide, colorScheme: 'dark' }, `#/sessions/${shown}`)
  await take(demo, 'phone', { ...phone, colorScheme: 'light' }, '#/')
  await demo.close()
}

async function takeAllPictures() {
  await inAllVariants(async demo => {
    await addQuietAgents(demo)
    return { 'inbox-empty': '#/' }
  })
  await inAllVariants(async demo => {
    const { billing } = await addQuietAgents(demo)
    await billing.ask(asks.plan)
    return { 'inbox-one': '#/' }
  })
  await inAllVariants(async demo => {
    const { shown } = await addBusyAgents(demo)
    return { inbox: '#/', session: `#/sessions/${shown}`, sessions: '#/sessions' }
  })
  await inAllVariants(async demo => {
    await addBusyAgents(demo, true)
    return { 'inbox-twelve': '#/' }
  })
  await takeAwayPictures()
  await takeAuditPictures()
  await takeLoadPictures()
  await takePanelPictures()
  await takeRulePictures()
  for (const [variant, options] of variants()) {
    const demo = await openDemoGateway(64)
    await addBusyAgents(demo)
    await take(demo, `reconnecting-${variant}`, options, '#/', async page => {
      await demo.disconnect()
      await page.getByText('Reconnecting…').waitFor()
    })
    await demo.close()
  }
}

/** Takes pictures of the first screen of an empty gateway, and of what people see after an absence: the summary, unread marks and failed agents. */
async function takeAwayPictures() {
  await inAllVariants(async () => ({ 'first-use': '#/', 'sessions-none': '#/sessions', 'audit-none': '#/audit' }))
  const startLate = async page => {
    await page.keyboard.press('n')
    await page.getByLabel('Folder').fill('src/api')
    await page.getByText('Enter an absolute path').waitFor()
  }
  const leave = page =>
    page.evaluate(() => {
      const at = Date.now() - 55 * 60_000
      for (const key of Object.keys(localStorage)) {
        if (key.startsWith('holdpoint.visit.')) localStorage.setItem(key, JSON.stringify({ at, away: null }))
        if (key.startsWith('holdpoint.read.')) localStorage.setItem(key, JSON.stringify({ since: at, sessions: {} }))
      }
    })
  const comeBack = async page => {
    await leave(page)
    await page.reload()
    await page.getByRole('region', { name: 'While you were away' }).waitFor()
  }
  const open = async page => {
    await comeBack(page)
    const toggle = page.getByRole('button', { name: /While you were away/ })
    if ((await toggle.getAttribute('aria-expanded')) === 'false') await toggle.click()
  }
  const returnTo = async page => {
    await leave(page)
    await page.reload()
    await page.locator('.unread-mark').first().waitFor({ state: 'attached' })
  }
  for (const isBusy of [true, false]) {
    const demo = await openDemoGateway(64)
    if (isBusy) await addBusyAgents(demo)
    else await addQuietAgents(demo)
    await addTrouble(demo)
    for (const [variant, options] of variants()) {
      if (isBusy) {
        await take(demo, `away-closed-${variant}`, options, '#/', comeBack)
        await take(demo, `away-sessions-${variant}`, options, '#/sessions', returnTo)
        await take(demo, `new-session-${variant}`, options, '#/', startLate)
      }
      await take(demo, `away-${isBusy ? 'open' : 'caught-up'}-${variant}`, options, '#/', open)
    }
    await demo.close()
  }
}

/** Takes pictures of the audit log, and of the details of an entry. Each sign-in is an entry too, so each variant has its own gateway. */
async function takeAuditPictures() {
  const openEntry = page => page.locator('.audit-row summary', { hasText: 'retry.ts' }).first().click()
  for (const [variant, options] of variants()) {
    const demo = await openDemoGateway(64)
    await addBusyAgents(demo)
    await addTrouble(demo)
    await take(demo, `audit-${variant}`, options, '#/audit')
    await take(demo, `audit-entry-${variant}`, options, '#/audit', openEntry)
    await demo.close()
  }
}

/** Adds agents that failed or were lost, a request that nobody answered, and answers of a rule and of another person. */
async function addTrouble(demo) {
  const guest = await demo.person('Bob')
  await demo.call('addRule', { effect: 'allow', command: 'npm run lint', scope: { cwd: '/home/you/src/web' } })
  const web = await demo.agent({ title: 'web', cwd: '/home/you/src/web', prompt: 'Replace the date picker' })
  const lint = { ...asks.test, cwd: '/home/you/src/web', input: { command: 'npm run lint' } }
  for (let at = 0; at < 3; at++) await web.ask(lint)
  const others = await web.ask({ ...lint, input: { command: 'npm run build -- --mode production' } })
  await guest.call('answerRequest', { id: others.id, digest: others.digest, answer: { kind: 'allow' } })
  await web.say(
    { type: 'message.added', block: 'm1', text: 'The picker is replaced, and all stories render again.' },
    { type: 'turn.finished', ending: 'done', cost: 1.12 },
  )
  const broken = await demo.agent({
    title: 'A session with a title that is much too long for the narrow list in which it is shown beside other things',
    cwd: '/home/you/src/search',
    prompt: 'Index the archive',
  })
  await broken.say(
    { type: 'error.raised', code: 'x', message: 'API error 529: the model is overloaded. Try again later.' },
    { type: 'turn.finished', ending: 'failed' },
  )
  const lost = await demo.agent({ title: 'מסמכים docs', cwd: '/home/you/src/docs', prompt: 'Translate the guide' })
  await lost.say(
    { type: 'message.added', block: 'm1', text: 'I start with the first chapter.' },
    { type: 'turn.finished', ending: 'done' },
    { type: 'session.changed', process: { state: 'lost', note: 'The process was killed (SIGKILL)' } },
  )
  await lost.ask(asks.push, { deadlineMs: 60_000 })
  await demo.advance(60 * 24)
  await new Promise(done => setTimeout(done, 1500))
}

/** Takes pictures of the inbox with 24 requests: the list, cards with texts that are hard to show, and a review of similar requests. */
async function takeLoadPictures() {
  const open = text => page => page.locator('.request-row', { hasText: text }).first().getByRole('link').click()
  const review = async page => {
    await open('npm test')(page)
    await page.getByRole('button', { name: /more like this/ }).click()
  }
  const group = page => page.getByLabel('Group requests').selectOption('session')
  const shots = {
    list: async () => {},
    grouped: group,
    review,
    question: open('Should the old guide'),
    'long-command': open('curl -s'),
    'right-to-left': open('cp locales'),
    diff: open('tokens.css'),
    form: open('Release 4.2'),
  }
  const demo = await openDemoGateway(90)
  await addLoad(demo)
  for (const [name, before] of Object.entries(shots))
    for (const [variant, options] of variants()) await take(demo, `inbox-24-${name}-${variant}`, options, '#/', before)
  await demo.close()
}

/** Takes pictures of what people open: panels of cards, dialogs, menus, and the settings. */
async function takePanelPictures() {
  const card = page => page.locator('article.card').filter({ visible: true }).first()
  const open = text => page => page.locator('.request-row', { hasText: text }).first().getByRole('link').click()
  const press = (page, name) => card(page).getByRole('button', { name, exact: true }).click()
  const panel = (text, name, words) => async page => {
    await open(text)(page)
    await press(page, name)
    await card(page).locator('textarea').first().fill(words)
  }
  const comment = async page => {
    await open('tokens.css')(page)
    await press(page, 'Comment…')
    await card(page).locator('.comment-button').nth(1).click()
    await card(page).locator('textarea').fill('Does this work in the dark theme too?')
    await press(page, 'Done')
    await card(page).locator('.comment-button').nth(4).click()
    await card(page).locator('textarea').fill('Please keep the old name.')
  }
  const select = async page => {
    const rows = page.locator('.request-row', { hasText: 'npm run e2e' })
    for (const at of [0, 1]) await rows.nth(at).getByRole('checkbox').check()
  }
  const shots = {
    deny: panel('npm test', 'Deny…', 'Run only the tests of this folder.'),
    'ask-back': panel('npm run lint', 'Ask back…', 'Why not only the changed files?'),
    note: panel('npm run build', 'Note…', 'Watch the slow one.'),
    comment,
    selected: select,
    palette: async page => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Go to' }).fill('se')
    },
    help: page => page.keyboard.press('?'),
    menu: page => page.locator('.user-menu-button').click(),
  }
  const device = async page => {
    await page.getByRole('button', { name: /link/i }).first().click()
    await page.locator('.device-link').waitFor()
  }
  for (const [variant, options] of variants()) {
    // The texts of a panel stay as drafts, so each variant has its own gateway.
    const demo = await openDemoGateway(90)
    await addLoad(demo)
    for (const [name, before] of Object.entries(shots))
      await take(demo, `panel-${name}-${variant}`, options, '#/', before)
    await take(demo, `settings-${variant}`, options, '#/settings', device)
    await demo.close()
  }
}

/** Takes pictures of the Rules screen, of its form, and of cards from which rules are made or whose command is edited. */
async function takeRulePictures() {
  const openForm = async page => {
    await page.getByRole('button', { name: 'New rule' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Command', { exact: true }).fill('npm run lint')
    await dialog.getByText('More limits').click()
    await dialog.getByText('More limits').scrollIntoViewIfNeeded()
  }
  const openRow = page => page.locator('.rule-row summary').nth(1).click()
  const card = page => page.locator('article', { hasText: 'npm test' }).first()
  const openRowOf = page => page.locator('.request-row', { hasText: 'npm test' }).first().getByRole('link').click()
  const openAlways = async page => {
    await openRowOf(page)
    await card(page).getByRole('button', { name: 'Always…' }).click()
    await card(page).getByText('It would have matched').waitFor()
    await card(page).getByText('New rule:').scrollIntoViewIfNeeded()
  }
  const edit = async page => {
    await openRowOf(page)
    await card(page).getByRole('button', { name: 'Edit…' }).click()
    await card(page).getByRole('textbox').first().fill('npm test && rm -rf dist ~/cache')
    await page.getByText('deletes files').last().waitFor()
    await page.getByText('deletes files').last().scrollIntoViewIfNeeded()
  }
  for (const [variant, options] of variants()) {
    // The edit of the last picture stays as a draft, so each variant has its own gateway.
    const demo = await openDemoGateway(64)
    const guest = await addRules(demo)
    await take(demo, `rules-${variant}`, options, '#/rules', openRow)
    await take(demo, `rules-guest-${variant}`, options, '#/rules', openRow, guest)
    await take(demo, `rules-form-${variant}`, options, '#/rules', openForm)
    await take(demo, `always-${variant}`, options, '#/', openAlways)
    await take(demo, `edited-${variant}`, options, '#/', edit)
    await demo.close()
  }
}

/** Adds rules, a history, and a pending request. Returns the id of a person who is not the owner. */
async function addRules(demo) {
  const cwd = '/home/you/src/api'
  const guest = await demo.person('Bob')
  const agent = await demo.agent({ title: 'api-server', cwd, prompt: 'Fix the failing test' })
  const ask = { ...asks.test, cwd, input: { command: 'npm test' } }
  for (let at = 0; at < 4; at++) await agent.resolve(await agent.ask(ask), { kind: 'allow' })
  const others = await agent.ask(ask)
  await guest.call('answerRequest', { id: others.id, digest: others.digest, answer: { kind: 'allow' } })
  const scope = { cwd }
  await demo.call('addRule', { effect: 'allow', group: 'only-reads', scope })
  await demo.call('addRule', { effect: 'allow', command: 'npm run build', scope, usesLeft: 5 })
  await demo.call('addRule', { effect: 'deny', command: 'git push', message: 'Open a pull request instead.' })
  await guest.call('addRule', { effect: 'ask', command: 'npm publish', note: 'Agreed in the team on Monday.' })
  await demo.call('addRule', { effect: 'allow', host: 'docs.example.com', scope: { driver: 'claude' }, paused: true })
  await demo.advance(30)
  await agent.ask(ask)
  await demo.advance(60 * 24)
  return guest.id
}

function variants() {
  return ['light', 'dark'].flatMap(colorScheme => [
    [`1440-${colorScheme}`, { ...wide, colorScheme }],
    [`1024-${colorScheme}`, { ...narrow, colorScheme }],
    [`phone-${colorScheme}`, { ...phone, colorScheme }],
  ])
}

async function inAllVariants(prepare) {
  const demo = await openDemoGateway(64)
  const screens = await prepare(demo)
  await demo.advance(60 * 24)
  for (const [name, hash] of Object.entries(screens))
    for (const [variant, options] of variants()) await take(demo, `${name}-${variant}`, options, hash)
  await demo.close()
}

async function take(demo, name, options, hash, before = async () => {}, person = undefined) {
  if (!name.includes(only)) return
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  await context.addInitScript(() => localStorage.setItem('holdpoint.notifications', 'off'))
  const page = await context.newPage()
  await page.goto(await demo.link(person))
  await page.getByRole('navigation').first().waitFor()
  await page.evaluate(to => {
    location.hash = to
  }, hash)
  await waitUntilStable(page)
  await before(page)
  await page.mouse.move(0, 0)
  await waitUntilStable(page)
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await context.close()
}

/** Adds working agents without a pending request. */
async function addQuietAgents(demo) {
  const infra = await demo.agent({
    title: 'infra',
    cwd: '/home/you/src/infra',
    mode: 'default',
    prompt: 'Why is the registry full?',
  })
  await infra.say({ type: 'message.added', block: 'm1', text: 'The cache holds 41 GB of layers that nobody pulls.' })
  await demo.advance(9)
  const billing = await demo.agent({
    title: 'billing',
    cwd: '/home/you/src/billing',
    mode: 'plan',
    prompt: 'Plan the move to the new ledger',
  })
  await billing.say({ type: 'message.added', block: 'm1', text: 'I compare the two schemas.' })
  await demo.advance(6)
  return { infra, billing }
}

/** Adds several agents with a history, three of them with a pending request. With `everything`, adds pending requests of every kind. */
async function addBusyAgents(demo, everything = false) {
  const { infra, billing } = await addQuietAgents(demo)
  const api = await demo.agent({
    title: 'api-server',
    cwd: '/home/you/src/api',
    mode: 'default',
    model: 'opus',
    prompt: 'Retries give up too early when the database restarts. Fix it, with a test.',
  })
  const docs = await demo.agent({
    title: 'docs',
    cwd: '/home/you/src/docs',
    mode: 'acceptEdits',
    prompt: 'Write the changelog of 2.4',
  })
  await api.say(...sessionEvents)
  await demo.advance(12)
  await api.resolve(await api.ask(asks.retry), { kind: 'allow', note: 'give the pauses a name, please' })
  await api.say(...reviewed)
  await docs.resolve(await docs.ask(asks.push), { kind: 'deny', reason: 'Open a pull request instead.' })
  await demo.advance(8)
  await api.resolve(await api.ask(asks.test), { kind: 'allow' })
  await api.say(...ran)
  const nightly = await demo.agent({ title: 'nightly', cwd: '/home/you/src/nightly', prompt: 'Run the long tests' })
  await nightly.say(
    { type: 'message.added', block: 'm1', text: 'All 4,210 passed.' },
    { type: 'turn.finished', ending: 'done', cost: 0.38 },
  )
  await demo.advance(11)
  await api.ask(asks.migrate, { agentPath: everything ? ['test-writer'] : [] })
  await demo.advance(3)
  await docs.ask(asks.questions)
  await demo.advance(2)
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
      const agent = { '/home/you/src/api': api, '/home/you/src/docs': docs }[ask.cwd] ?? infra
      await agent.ask(ask, ask === asks.test ? { deadlineMs: 15 * 60_000 } : {})
      await demo.advance(1)
    }
  await demo.advance(2)
  await docs.say({ type: 'message.added', block: 'm9', text: 'I have read the 41 merges since 2.3.' })
  await demo.advance(60 * 24)
  return { shown: api.id }
}
