/** Captures the views of the terminal in three sizes, as text and as pictures, with the load of a busy day. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from '../../test/support/chromium.mjs'
import { openDemoGateway } from './demo-gateway.mjs'
import { addLoad } from './load.mjs'
import { asks, failedTurn, sessionEvents, workEvents } from './sample.mjs'
import { pageOf, TerminalScreen } from './terminal-screen.mjs'

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 40, rows: 15 },
]
const program = fileURLToPath(new URL('../../packages/cli/bin/holdpoint.js', import.meta.url))
const key = {
  enter: '\r',
  escape: '\u001b',
  down: '\u001b[B',
  left: '\u001b[D',
  end: '\u001b[F',
  tab: '\t',
  ctrlO: '\u000f',
}

const markdown = `## Retries

The pause **doubles** after each failure, see [the guide](https://example.com/guide).

| attempt | pause |
|---|---|
| 1 | 100 ms |
| 2 | 200 ms |

1. \`npm test\`
   - unit
   - integration
2. Ask before the deploy

\`\`\`ts
const defaults = { attempts: 8, firstMs: 100, maxMs: 5000 }
\`\`\`

> 日本語のテキスト and emoji 🎉 in one line, long enough to be wrapped on every one of the screens that are captured here.`

const [folder] = process.argv.slice(2)
if (folder === undefined || folder.startsWith('-')) {
  console.log('npm run pictures:terminal -- FOLDER\nCaptures every view of the terminal into FOLDER, as .txt and .png.')
  process.exit(folder === undefined ? 2 : 0)
}
mkdirSync(folder, { recursive: true })
const home = mkdtempSync(join(tmpdir(), 'holdpoint-pictures-'))
const browser = await launch()
try {
  await Promise.all(sizes.map(captureSize))
} finally {
  await browser.close()
  rmSync(home, { recursive: true, force: true })
}

/** Each size has a gateway of its own, because one of the requests has a deadline. */
async function captureSize(size) {
  const demo = await openDemoGateway(64 + 60 * 24)
  const view = { size, env: { HOLDPOINT_URL: demo.url, HOLDPOINT_TOKEN: 'owner' } }
  const shown = await addTerminalLoad(demo)
  await captureCommands(view, shown)
  await captureDashboard(view, shown)
  await captureRun(view, shown)
  await captureRehearsal(view)
  await demo.close()
}

/** Adds what the page's load does not have: rules, answers, and a session with a transcript. */
async function addTerminalLoad(demo) {
  await demo.call('addRule', { effect: 'allow', command: 'npm run lint', scope: { cwd: '/home/you/src/web-shop' } })
  await demo.call('addRule', { effect: 'deny', command: 'npm publish', message: 'Only CI publishes.', scope: {} })
  const agent = await demo.agent({
    title: 'retries',
    cwd: '/home/you/src/api',
    mode: 'default',
    prompt: 'Fix the retry',
  })
  await agent.say(...sessionEvents)
  await agent.resolve(await agent.ask(asks.test), { kind: 'allow', note: 'go on' })
  await agent.resolve(await agent.ask(asks.push), { kind: 'deny', reason: 'Not on a Friday.' })
  await agent.say(...workEvents)
  await agent.say({ type: 'message.added', block: 'last', text: markdown })
  const failed = await demo.agent({ title: 'overloaded', cwd: '/home/you/src/api', prompt: 'Update the client' })
  await failed.say(...failedTurn)
  await addLoad(demo)
  const { items } = await demo.call('listRequests', { status: 'pending', limit: 100 })
  return { session: agent.id, requests: items }
}

function open(words, { size, env }) {
  const { HOME = '', PATH = '' } = process.env
  const all = { HOME, PATH, LANG: 'C.UTF-8', TERM: 'xterm-256color', HOLDPOINT_HOME: home, ...env }
  return new TerminalScreen({ words: [process.execPath, program, ...words], ...size, env: all, cwd: home })
}

async function capture(screen, name, size) {
  const file = join(folder, `${name}-${size.columns}x${size.rows}`)
  writeFileSync(`${file}.txt`, `${screen.text()}\n`)
  const page = await browser.newPage()
  await page.setContent(pageOf(screen.html(), size))
  await page.locator('body').screenshot({ path: `${file}.png` })
  await page.close()
}

async function captureCommands(view, { session, requests }) {
  const requestOf = tool => requests.find(({ ask }) => ask.tool === tool)?.id ?? ''
  const form = requests.find(({ ask }) => ask.kind === 'form')?.id ?? ''
  const question = requests.find(({ ask }) => ask.kind === 'questions')?.id ?? ''
  const commands = {
    inbox: ['inbox'],
    sessions: ['sessions'],
    'show-command': ['show', requestOf('Bash')],
    'show-plan': ['show', requestOf('ExitPlanMode')],
    'show-form': ['show', form],
    'show-question': ['show', question],
    'show-session': ['show', session],
    logs: ['logs', session],
    'rules-list': ['rules', 'list'],
    'audit-list': ['audit', 'list'],
    'token-list': ['token', 'list'],
    status: ['status'],
    help: ['--help'],
    'help-allow': ['allow', '--help'],
  }
  for (const [name, words] of Object.entries(commands)) {
    const screen = open(words, view)
    await screen.ended()
    await capture(screen, name, view.size)
    screen.close()
  }
}

/** Opens a view, presses keys one after the other, and captures what is shown after each. */
async function captureSteps(words, view, prefix, steps) {
  const screen = open(words, view)
  for (const { press = [], waitFor, name } of steps) {
    screen.press(...press)
    await screen.waitFor(waitFor)
    // The view accepts keys and shows its key hints only after a pause.
    await new Promise(done => setTimeout(done, 1200))
    if (name) await capture(screen, `${prefix}-${name}`, view.size)
  }
  screen.close()
}

async function captureDashboard(view, { requests }) {
  const filter = text => [
    { press: ['/'], waitFor: 'Filter' },
    { press: [text], waitFor: text },
    { press: [key.enter], waitFor: 'Filter: ' },
  ]
  await captureSteps(['tui'], view, 'tui', [
    { waitFor: 'Waiting for you', name: 'list' },
    { press: Array(12).fill(key.down), waitFor: '›', name: 'list-moved' },
    { press: [key.end], waitFor: '›', name: 'list-end' },
    { press: ['?'], waitFor: 'Keys', name: 'help' },
    { press: [key.escape], waitFor: '›' },
    { press: ['n'], waitFor: 'Start a session', name: 'start' },
    { press: [key.escape], waitFor: '›' },
  ])
  const opened = {
    edit: ['tokens', '● Change'],
    form: ['4.2.0', 'Form'],
    question: ['tests use', 'PostgreSQL'],
    plan: ['nightly', 'Split'],
    hebrew: ['עברית', '●'],
    dangerous: ['clean', '●'],
    long: ['curl', '●'],
  }
  for (const [name, [text, waitFor]] of Object.entries(opened))
    await captureSteps(['tui'], view, 'tui', [
      { waitFor: 'Waiting for you' },
      ...filter(text),
      { press: [key.enter], waitFor, name },
      ...(name === 'edit' ? [{ press: [key.end], waitFor: /not seen yet|space/, name: 'edit-end' }] : []),
      ...(name === 'edit' || name === 'plan' ? [{ press: ['z'], waitFor, name: `${name}-zoom` }] : []),
    ])
  await captureSteps(['tui'], view, 'tui', [
    { waitFor: 'Waiting for you' },
    ...filter('retries'),
    { press: [key.enter], waitFor: 'here.', name: 'session' },
    { press: ['o'], waitFor: 'Tool call', name: 'tool-output' },
  ])
  const similar = requests.filter(({ ask }) => /^npm run e2e/.test(ask.input?.command)).slice(0, 2)
  await captureSteps(['allow', ...similar.map(({ id }) => id)], view, 'allow', [
    { waitFor: /Allow these|more lines/, name: 'several' },
  ])
  await captureSteps(['next'], view, 'next', [{ waitFor: '[a] Allow', name: 'first' }])
  await captureSteps(['inbox', '--watch'], view, 'inbox', [{ waitFor: 'kubectl', name: 'watch' }])
}

async function captureRun(view, { session }) {
  await captureSteps(['run', '--session', session], view, 'run', [
    { waitFor: '▏', name: 'session' },
    { press: ['?'], waitFor: 'Keys', name: 'help' },
    { press: [key.escape], waitFor: '▏' },
    { press: [key.ctrlO], waitFor: 'Tool call', name: 'tool-output' },
    { press: [key.left], waitFor: 'Edit', name: 'tool-change' },
  ])
}

/** The rehearsal needs a real runner, so a gateway of its own runs it. */
async function captureRehearsal({ size }) {
  const env = { HOLDPOINT_HOME: join(home, `rehearsal-${size.columns}`) }
  await captureSteps(['run', 'rehearsal', 'Show me everything'], { size, env }, 'rehearsal', [
    { waitFor: '[r] Deny', name: 'command' },
    { press: ['r'], waitFor: 'denied' },
    { waitFor: /Edit[\s\S]*\[r\] Deny/, name: 'edit' },
    { press: ['R'], waitFor: 'Reason', name: 'reason' },
    { press: [key.escape], waitFor: '[r] Deny' },
    { press: [' '], waitFor: '[r] Deny' },
    { press: [' '], waitFor: '[r] Deny' },
    { press: ['s'], waitFor: /remember|rule/, name: 'always' },
  ])
}
