/**
 * Does what a new user does with their own Claude Code, measures how long each step takes, and takes the pictures of docs/own-terminal.md:
 * installs the packed program, starts it, adds the hooks, runs the real Claude Code in a pseudo-terminal against a scripted model, and answers on a phone.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { scriptedEnvironment, startScriptedModel } from '../../packages/drivers/dist/claude/setup/scripted-model.js'
import { launch } from '../../test/support/chromium.mjs'
import { waitUntilStable } from '../../test/support/stable-page.mjs'
import { pageOf, TerminalScreen } from './terminal-screen.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pictures = join(root, 'docs/pictures')
const size = { columns: 92, rows: 24 }
const phone = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }
const key = { enter: '\r' }

/** The name of this folder is in the pictures. */
const home = join(realpathSync(tmpdir()), 'you')
if (existsSync(home)) throw new Error(`${home} exists; another run uses it, or remove it`)
const bin = join(home, 'bin')
const project = join(home, 'shop')
const claudeFolder = join(home, '.claude')
const dataFolder = join(home, '.holdpoint')
const steps = []
const model = await startScriptedModel(replyTo)
const browser = await launch()
let screen = null
try {
  prepareHome()
  await timed('npm install -g holdpoint', install)
  screen = openShell()
  await screen.waitFor('$ ')
  await timed('holdpoint up --detach', () => type('holdpoint up --detach', /#code=[\w-]{8}/))
  const page = await openPhone(linkOn(screen))
  await timed('holdpoint hook install', () => type('holdpoint hook install', 'In terminals that are already open'))
  await save(screen, 'own-terminal-install')
  // In its mode “auto”, Claude Code would run the tests without asking.
  await timed('claude starts', () => type('clear; claude --permission-mode default', 'manual mode on'))
  await typePrompt('run the tests')
  await timed('from the prompt to the question in the terminal', async () => {
    screen.press(key.enter)
    await screen.waitFor('Do you want to proceed?')
  })
  const row = page.getByText('npm test').first()
  await timed('from there to the question on the phone', () => row.waitFor())
  await save(screen, 'own-terminal-asks')
  await row.tap()
  const allow = page.getByRole('button', { name: 'Allow once', exact: true })
  await allow.waitFor()
  await waitUntilStable(page)
  await page.screenshot({ path: join(pictures, 'own-terminal-phone.png') })
  // The page ignores a tap on a button that has just appeared.
  await new Promise(done => setTimeout(done, 1500))
  await timed('from the tap on the phone to the result in the terminal', async () => {
    await allow.tap()
    await screen.waitFor('All tests pass.')
  })
  await screen.waitFor(/^(?![\s\S]*esc to interrupt)/)
  await save(screen, 'own-terminal-continues')
} catch (error) {
  console.error(screen?.text())
  throw error
} finally {
  screen?.close()
  if (existsSync(join(bin, 'holdpoint'))) spawnSync(join(bin, 'holdpoint'), ['down'], { env: environment() })
  await browser.close()
  await model.close()
  rmSync(home, { recursive: true, force: true })
}
console.log(
  ['| step | seconds |', '|---|---|', ...steps.map(([name, ms]) => `| ${name} | ${(ms / 1000).toFixed(1)} |`)].join(
    '\n',
  ),
)

async function timed(name, run) {
  const startedAt = performance.now()
  await run()
  steps.push([name, performance.now() - startedAt])
}

/** The model first runs the tests, and then says that they pass. */
function replyTo({ messages, tools }) {
  if (!tools?.some(({ name }) => name === 'Bash')) return [{ type: 'text', text: 'Run the tests' }]
  if (JSON.stringify(messages).includes('"tool_result"')) return [{ type: 'text', text: 'All tests pass.' }]
  const input = { command: 'npm test', description: 'Run the tests' }
  return [
    { type: 'text', text: 'I run the tests first.' },
    { type: 'tool_use', id: 'toolu_first', name: 'Bash', input },
  ]
}

/** Claude Code shows no welcome screen and does not ask about the folder or the key if these settings exist. */
function prepareHome() {
  for (const folder of [bin, project, claudeFolder, dataFolder]) mkdirSync(folder, { recursive: true })
  const settings = {
    hasCompletedOnboarding: true,
    projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    customApiKeyResponses: { approved: ['scripted'], rejected: [] },
  }
  writeFileSync(join(claudeFolder, '.claude.json'), JSON.stringify(settings))
  writeFileSync(join(dataFolder, 'holdpoint.config.json'), JSON.stringify({ port: 0 }))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'shop', scripts: { test: 'node --test' } }))
  writeFileSync(join(project, 'cart.test.js'), "require('node:test')('the cart is empty at first', () => {})\n")
  const require = createRequire(import.meta.url)
  const claude = require.resolve(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`)
  symlinkSync(claude, join(bin, 'claude'))
}

/** Packs the program as it is published, and installs it with the libraries that it needs. */
function install() {
  const packed = npm([
    'pack',
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    home,
    './packages/cli',
    './packages/web',
  ])
  const files = JSON.parse(packed).map(({ filename }) => join(home, filename))
  npm(['install', '--global', '--prefix', home, '--no-audit', '--no-fund', ...files])
}
function npm(words) {
  const { status, stdout, stderr } = spawnSync('npm', words, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${words[0]} failed: ${stderr}`)
  return stdout
}

function environment() {
  const { PATH, ...env } = scriptedEnvironment(model.url, home)
  const shell = { PS1: '$ ', TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8' }
  return { ...env, ...shell, PATH: `${bin}:${PATH}`, CLAUDE_CONFIG_DIR: claudeFolder }
}
function openShell() {
  return new TerminalScreen({
    words: ['/bin/bash', '--norc', '--noprofile'],
    ...size,
    env: environment(),
    cwd: project,
  })
}
async function type(command, shown) {
  screen.press(command, key.enter)
  await screen.waitFor(shown)
}
async function typePrompt(text) {
  screen.press(text)
  await screen.waitFor(text)
}

/** The link may be wrapped. */
function linkOn(terminal) {
  const [link] = /http:\/\/localhost:\d+\/#code=[\w-]+/.exec(terminal.text().replaceAll('\n', '')) ?? []
  if (!link) throw new Error(`no link on the screen:\n${terminal.text()}`)
  return link
}
async function openPhone(link) {
  const context = await browser.newContext({ ...phone, reducedMotion: 'reduce', colorScheme: 'light' })
  await context.addInitScript(() => localStorage.setItem('holdpoint.notifications', 'off'))
  const page = await context.newPage()
  await page.goto(link)
  await page.getByRole('navigation').first().waitFor()
  return page
}

/** Saves what the terminal shows. */
async function save(terminal, name) {
  const page = await browser.newPage()
  await page.setContent(pageOf(terminal.html(), { ...size, rows: 1 }))
  await page.locator('body').screenshot({ path: join(pictures, `${name}.png`) })
  await page.close()
  const bytes = readFileSync(join(pictures, `${name}.png`)).length
  if (bytes > 200_000) throw new Error(`${name}.png has ${bytes} bytes, more than 200 KB`)
}
