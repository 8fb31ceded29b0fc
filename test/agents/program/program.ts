/**
 * Tests an agent with the whole program: `holdpoint run` and the page start the agent by its name, and the person allows a command there.
 * An agent that speaks the Agent Client Protocol is also started by its command line in a config file.
 * `npm run pictures:agents -- FOLDER` runs these tests and saves what a person sees: pictures of the page, and the screen of the terminal as text.
 */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AcpProfile, acpProfiles, executableVariable } from '@holdpoint/drivers'
import type { Answer, SessionId } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../../../packages/cli/test/support/cli-process.ts'
import { Terminal } from '../../../packages/cli/test/support/terminal.ts'
import { button, click, recordPageChanges } from '../../page/page-fixture.ts'
import { desktop, launchBrowser, openPage, phone } from '../../support/browser.ts'
import { EventRecorder, isEvent } from '../../support/event-recorder.ts'
import { closeGateways, type GatewayProcess, startGateway } from '../../support/gateway.ts'
import { waitUntilStable } from '../../support/stable-page.mjs'
import { say, shell, writeFile } from '../model/script.ts'
import { ModelServer } from '../model/server.ts'
import { expectNoProcessLeft } from '../process-check.ts'
import { type AgentRecipe, agentRecipe, createAgentHome } from '../recipes.ts'

export function describeProgram(name: string): void {
  const profile = acpProfiles.find(known => known.name === name)
  describe(`${name} in the whole program`, () => {
    const { home, cwd, remove } = createAgentHome()
    let model: ModelServer
    let gateway: GatewayProcess
    beforeAll(async () => {
      model = await ModelServer.start()
      const recipe = agentRecipe(name, { model: model.url, home, cwd })
      recipe.prepare()
      gateway = await startGateway({
        config: profile ? { agents: { mine: [recipe.command, ...recipe.args] } } : {},
        env: {
          ...definedOf(recipe.env),
          ...(profile && { [executableVariable(name)]: writeWrapper(profile, recipe, home) }),
        },
      })
    })
    afterAll(async () => {
      // Some agents survive when their runner is killed, so their sessions are ended first.
      for (const { id } of (await gateway.call('listSessions', {})).items) await gateway.call('endSession', { id })
      await expectNoProcessLeft(cwd)
      await closeGateways()
      await expectNoProcessLeft(home)
      await model.close()
      remove()
    })

    it('holdpoint run starts the agent by its name', async () => {
      model.script('hello there', say('Hello to you.'))
      const words = ['run', name, 'hello there', '--cwd', cwd, '--home', gateway.home.path]
      const { code, out } = await runCli(words, { cwd: gateway.folder })
      expect([code, out]).toEqual([0, expect.stringContaining('Hello to you.')])
      const driver = (await gateway.call('listDrivers', {})).items.find(item => item.name === name)
      expect(driver).toMatchObject({ ready: true })
    })

    it('holdpoint run shows in a terminal what the agent asks, and the agent runs what the person allows', async () => {
      const notes = join(cwd, 'terminal-notes.md')
      model.script(
        'make a file',
        [say('I start with a command.'), shell('echo ran >> terminal.txt', 'call_terminal')],
        writeFile(notes, '# Notes\n\nThe file is there.\n', 'call_terminal_notes'),
        say('The file and its notes are **there**.'),
      )
      const words = ['run', name, 'make a file', '--cwd', cwd, '--home', gateway.home.path]
      const terminal = new Terminal(words, { cwd: gateway.folder })
      for (const [asked, picture] of [
        ['echo ran >> terminal.txt', 'command'],
        ['terminal-notes.md', 'file'],
      ] as const) {
        await terminal.waitFor(asked)
        await terminal.waitFor('[a] Allow')
        saveText(`${name}-terminal-${picture}.txt`, terminal.text())
        await terminal.pause()
        terminal.press('a')
        await terminal.waitForGone('[a] Allow')
      }
      await terminal.waitFor('The file and its notes are')
      saveText(`${name}-terminal-done.txt`, terminal.all())
      expect([join(cwd, 'terminal.txt'), notes].map(path => existsSync(path))).toEqual([true, true])
      terminal.close()
    })

    it('a session that is started on the page shows what the agent asks, the agent runs what the person allows, and every call has one row and one result', async () => {
      // The runner offers the agent only after it has found the agent's program.
      const findDriver = async () =>
        (await gateway.call('listDrivers', {})).items.find(item => item.name === name && item.ready)
      await expect.poll(findDriver).toBeDefined()
      const { title = name } = (await findDriver()) ?? {}
      const notes = join(cwd, 'page-notes.md')
      model.script(
        'make a page',
        [say('I look at the folder and add a line.'), shell('ls -a; echo ran >> page.txt', 'call_page')],
        writeFile(notes, '# Notes\n\nThe page is there.\n', 'call_page_notes'),
        [say('One folder is no longer needed.'), shell('rm -rf build', 'call_page_rm')],
        say('The page is there. I kept the folder `build`.'),
      )
      const browser = await launchBrowser.fast()
      const { page, problems } = await openPage(browser, gateway, { ...desktop, before: recordPageChanges })
      await button(page, 'New session').click()
      const dialog = page.getByRole('dialog', { name: 'New session' })
      await dialog.getByRole('radio', { name: title, exact: true }).check()
      await dialog.getByLabel('Folder').fill(cwd)
      await dialog.getByLabel('First message').fill('make a page')
      await savePictures(page, gateway, `${name}-page-start`)
      await button(dialog, 'Start session').click()
      const card = page.locator('article', { hasText: 'echo ran >> page.txt' })
      await card.waitFor()
      await savePictures(page, gateway, `${name}-page-command`)
      await click(page, button(card, 'Allow once'))
      await page.locator('article', { hasText: 'page-notes.md' }).waitFor()
      await savePictures(page, gateway, `${name}-page-file`)
      const [session] = (await gateway.call('listSessions', { limit: 1 })).items
      const id = session?.id as SessionId // the session was started above
      await answerPending(gateway, id, { kind: 'allow' })
      await page.locator('article', { hasText: 'rm -rf build' }).waitFor()
      await answerPending(gateway, id, { kind: 'deny', reason: 'The folder is still in use' })
      await expect.poll(async () => (await gateway.call('getSession', { id })).lastTurn).toBeDefined()
      await savePictures(page, gateway, `${name}-page-done`)
      expect([join(cwd, 'page.txt'), notes].map(path => existsSync(path))).toEqual([true, true])
      expect(await toolResults(gateway, id)).toEqual([true, true, false])
      expect(problems).toEqual([])
      await browser.close()
    })

    if (!profile) return
    it('an agent from the configuration asks, and runs the command that a person allows', async () => {
      const recorder = await EventRecorder.connect(gateway.url, gateway.token)
      model.script('run it', shell('echo ran >> mine.txt', 'call_mine'), say('It ran.'))
      const { id } = await gateway.call('startSession', { driver: 'mine', cwd, prompt: 'run it' })
      const { value: request } = await recorder.waitFor(isEvent(id, 'request.opened'))
      await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer: { kind: 'allow' } })
      await recorder.waitFor(isEvent(id, 'turn.finished'))
      expect(existsSync(join(cwd, 'mine.txt'))).toBe(true)
      await recorder.close()
    })
  })
}

async function answerPending(gateway: GatewayProcess, session: SessionId, answer: Answer): Promise<void> {
  const [request] = (await gateway.call('listRequests', { session, status: 'pending' })).items
  if (!request) throw new Error('the session has no pending request')
  await gateway.call('answerRequest', { id: request.id, digest: request.digest, answer })
}

/** Returns the result of every tool call of a session, in order. A call without a result has the result null. */
async function toolResults(gateway: GatewayProcess, id: SessionId): Promise<readonly (boolean | null)[]> {
  const { items } = await gateway.call('listEvents', { id, limit: 500 })
  const results = new Map<string, boolean | null>()
  for (const event of items) {
    if (event.type === 'tool.started') results.set(event.block, null)
    if (event.type === 'tool.finished') results.set(event.block, event.ok)
  }
  return [...results.values()]
}

const pictures = process.env.HOLDPOINT_PICTURES
/** Saves a picture of the page, and one of the same screen on a phone with dark colors. */
async function savePictures(page: Page, gateway: GatewayProcess, name: string): Promise<void> {
  const browser = page.context().browser()
  if (!pictures || !browser) return
  const save = async (shown: Page, variant: string) => {
    await waitUntilStable(shown)
    await shown.screenshot({ path: join(pictures, `${name}-${variant}.png`) })
  }
  await save(page, '1440-light')
  const { hash } = new URL(page.url())
  const { page: onPhone } = await openPage(browser, gateway, { ...phone, colorScheme: 'dark' })
  await onPhone.evaluate(to => {
    location.hash = to
  }, hash)
  await save(onPhone, '390-dark')
  await onPhone.context().close()
}
function saveText(name: string, text: string): void {
  if (!pictures) return
  mkdirSync(pictures, { recursive: true })
  writeFileSync(join(pictures, name), `${text}\n`)
}

/** Writes a script that adds the arguments that an agent needs for the scripted model. */
function writeWrapper({ name, args: own }: AcpProfile, { command, args }: AgentRecipe, home: string): string {
  const file = join(home, `${name}.sh`)
  writeFileSync(file, `#!/bin/sh\nexec '${command}' "$@" ${args.filter(word => !own.includes(word)).join(' ')}\n`)
  chmodSync(file, 0o755)
  return file
}

function definedOf(env: AgentRecipe['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}
