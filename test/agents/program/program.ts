/**
 * Tests an agent with the whole program: `holdpoint run` and the page start the agent by its name, and the person allows a command there.
 * An agent that speaks the Agent Client Protocol is also started by its command line in a config file.
 * With HOLDPOINT_PICTURES=FOLDER, the tests take pictures of the page and write the screen of the terminal to files.
 */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AcpProfile, acpProfiles, executableVariable } from '@holdpoint/drivers'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../../../packages/cli/test/support/cli-process.ts'
import { Terminal } from '../../../packages/cli/test/support/terminal.ts'
import { button, click, recordPageChanges } from '../../page/page-fixture.ts'
import { desktop, launchBrowser, openPage } from '../../support/browser.ts'
import { EventRecorder, isEvent } from '../../support/event-recorder.ts'
import { closeGateways, type GatewayProcess, startGateway } from '../../support/gateway.ts'
import { say, shell } from '../model/script.ts'
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
      // Some agents survive a runner that is killed, so that the next one finds them.
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

    it('holdpoint run shows in a terminal what the agent asks, and the agent runs the command that the person allows', async () => {
      model.script('make a file', shell('echo ran >> terminal.txt', 'call_terminal'), say('The file is there.'))
      const words = ['run', name, 'make a file', '--cwd', cwd, '--home', gateway.home.path]
      const terminal = new Terminal(words, { columns: 100, rows: 30, cwd: gateway.folder })
      await terminal.waitFor('echo ran >> terminal.txt')
      await terminal.waitFor('[a] Allow')
      saveText(`${name}-terminal-request.txt`, terminal.text())
      await terminal.pause()
      terminal.press('a')
      await terminal.waitFor('The file is there.')
      saveText(`${name}-terminal-done.txt`, terminal.text())
      expect(existsSync(join(cwd, 'terminal.txt'))).toBe(true)
      await terminal.close()
    })

    it('a session that is started on the page shows what the agent asks, and the agent runs the command that the person allows', async () => {
      // The runner offers the agent once it has looked for it.
      const findDriver = async () =>
        (await gateway.call('listDrivers', {})).items.find(item => item.name === name && item.ready)
      await expect.poll(findDriver).toBeDefined()
      const { title = name } = (await findDriver()) ?? {}
      model.script('make a page', shell('echo ran >> page.txt', 'call_page'), say('The page is there.'))
      const browser = await launchBrowser.fast()
      const { page, problems } = await openPage(browser, gateway, { ...desktop, before: recordPageChanges })
      await button(page, 'New session').click()
      const dialog = page.getByRole('dialog', { name: 'New session' })
      await dialog.getByRole('radio', { name: title, exact: true }).check()
      await savePicture(page, `${name}-page-start`)
      await dialog.getByLabel('Folder').fill(cwd)
      await dialog.getByLabel('First message').fill('make a page')
      await button(dialog, 'Start session').click()
      const card = page.locator('article', { hasText: 'echo ran >> page.txt' })
      await card.waitFor()
      await savePicture(page, `${name}-page-request`)
      await click(page, button(card, 'Allow once'))
      await page.getByText('The page is there.').first().waitFor()
      await savePicture(page, `${name}-page-done`)
      expect(existsSync(join(cwd, 'page.txt'))).toBe(true)
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

const pictures = process.env.HOLDPOINT_PICTURES
async function savePicture(page: Page, name: string): Promise<void> {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`) })
}
function saveText(name: string, text: string): void {
  if (!pictures) return
  mkdirSync(pictures, { recursive: true })
  writeFileSync(join(pictures, name), text)
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
