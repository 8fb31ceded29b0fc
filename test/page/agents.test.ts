import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// biome-ignore lint/correctness/noUnresolvedImports: the linter cannot follow how playwright-core exports these
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bash,
  claudeEnvironment,
  type ModelScript,
  say,
  TestModel,
  toolUse,
} from '../../packages/drivers/test/claude/model.ts'
import { hasNoBrowser } from '../support/browser.ts'
import { button, click, markChanged, receipt, setUpPageFixture, visibleText } from './page-fixture.ts'

/** Finds the card with this accessible name among the pending requests of the session screen. */
function card(page: Page, name: string): Locator {
  return page.getByRole('region', { name: 'Waiting for you' }).getByRole('article', { name })
}
function transcript(page: Page): Locator {
  return page.getByRole('log', { name: 'Transcript' })
}

describe.skipIf(hasNoBrowser())('the rehearsal agent on the page', () => {
  const fixture = setUpPageFixture({ runner: 'process' })

  it('the rehearsal agent on the page can be started and answered with clicks until it ends, and repeats the answers it received', async () => {
    const page = await fixture.openPage()
    await fixture.gateway.runnerStarted()
    await button(page, 'Start a rehearsal').click()

    await click(page, button(card(page, 'Run a command'), 'Allow once'))
    await receipt(page, 'echo "Hello from the rehearsal"', 'allowed by you', 'delivered').waitFor()

    const edit = card(page, 'Change a file')
    // The panel for edits covers the end of the request, which must have been on the screen before.
    await click(page, button(edit, 'Edit…'))
    await edit.getByLabel('(this is what will run)').fill('a day for tests')
    await click(page, button(edit, 'Allow with edits'))

    const plan = card(page, 'Approve a plan')
    await plan.getByLabel('After approval').selectOption('acceptEdits')
    await click(page, button(plan, 'Approve plan'))

    const questions = card(page, '2 questions')
    await questions.getByRole('radio', { name: 'French' }).check()
    await questions.getByRole('checkbox', { name: 'Tone' }).check()
    await click(page, button(questions, 'Send answers'))

    const own = card(page, 'A question')
    await own.getByLabel('Your answer').fill('Salut')
    await click(page, button(own, 'Send answer'))

    const form = card(page, 'Fill in a form')
    await form.getByLabel('To', { exact: true }).fill('Ada')
    // The button works once the whole form has been on the screen.
    await form.getByLabel('photo').scrollIntoViewIfNeeded()
    await button(form, 'Submit').click({ trial: true })
    await markChanged(page)
    await click(page, button(form, 'Submit'))

    // Two subagents ask at once. The riskier request comes first.
    await page.locator('li[data-request]', { hasText: 'Read the whole greeting' }).getByRole('button').click()
    await click(page, button(card(page, 'Read a file'), 'Allow once'))
    const lint = card(page, 'Use “Lint”')
    await button(lint, 'Deny…').click()
    await page.keyboard.type('it is spelt well')
    await click(page, button(lint, 'Deny'))

    await transcript(page).getByText('Turn done').waitFor()
    const told = (await transcript(page).getByRole('listitem').allInnerTexts()).join('\n')
    expect(told).toContain('The command was allowed, and it ran.')
    expect(told).toContain('The edit was allowed, and I made it.')
    expect(told).toContain('The plan was approved in mode acceptEdits.')
    expect(told).toContain('Language: French. Checks: Tone.')
    expect(told).toContain('The greeting is called “Salut”.')
    expect(told).toContain('to = "Ada"')
    expect(told).toContain('The reviewer was allowed; its linter was not allowed (it is spelt well).')
    await page.locator('.session-header').getByText('idle').waitFor()
  })
})

describe.skipIf(hasNoBrowser())('Claude Code with a scripted model, on the page', () => {
  const home = mkdtempSync(join(tmpdir(), 'holdpoint-page-claude-'))
  const work = join(home, 'work')
  let model: TestModel
  const env: Record<string, string> = {}
  beforeAll(async () => {
    mkdirSync(work)
    model = await TestModel.open(play)
    for (const [name, value] of Object.entries(claudeEnvironment(model, home)))
      if (value !== undefined) env[name] = value
  })
  const fixture = setUpPageFixture({ runner: 'process', env })
  afterAll(async () => {
    await model.server.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  })

  it('Claude Code on the page asks a question, proposes a plan and runs a command, and acts on each answer given in the browser', async () => {
    const page = await fixture.openPage()
    await fixture.gateway.runnerStarted()
    await button(page, 'New session').click()
    const start = page.getByRole('dialog', { name: 'New session' })
    await start.getByRole('radio', { name: 'Claude Code' }).check()
    await start.getByLabel('Folder').fill(work)
    await start.getByLabel('Mode', { exact: true }).selectOption('plan')
    await start.getByLabel('First message').fill('Greet the world')
    await button(start, 'Start session').click()
    await transcript(page).getByText('Greet the world').waitFor()

    const question = card(page, 'A question')
    await click(page, question.getByRole('button', { name: 'Hello' }))

    const plan = card(page, 'Approve a plan')
    await plan.getByText('First this, then that').waitFor()
    await plan.getByLabel('After approval').selectOption('default')
    await click(page, button(plan, 'Approve plan'))

    const command = card(page, 'Run a command')
    expect(await visibleText(command)).toContain('echo hello | tee out.txt')
    expect(existsSync(join(work, 'out.txt'))).toBe(false)
    await click(page, button(command, 'Allow once'))

    await transcript(page).getByText('I have greeted the world.').waitFor()
    expect(readFileSync(join(work, 'out.txt'), 'utf8')).toBe('hello\n')
    expect(model.toolResult('toolu_ask')).toContain('"Which greeting?"="Hello"')
    expect(model.toolResult('toolu_bash')).toContain('hello')
    await receipt(page, 'echo hello | tee out.txt', 'allowed by you', 'delivered').waitFor()
    await transcript(page).getByRole('button', { name: /Bash/ }).click()
    await transcript(page).getByText('Result').waitFor()
  })
})

const greetings = ['Hello', 'Good morning'].map(label => ({ label, description: `say ${label}` }))
const question = { question: 'Which greeting?', header: 'Greeting', multiSelect: false, options: greetings }

const play: ModelScript = ({ results, conversation }) => {
  const plan = /\/[^"\\ `]*\/plans\/[\w-]+\.md/.exec(conversation)?.[0] ?? 'no-plan-file'
  switch (results.length) {
    case 0:
      return [toolUse('Write', { file_path: plan, content: '# First this, then that' }, 'toolu_plan')]
    case 1:
      return [toolUse('AskUserQuestion', { questions: [question] }, 'toolu_ask')]
    case 2:
      return [toolUse('ExitPlanMode', {}, 'toolu_exit')]
    case 3:
      return [bash('echo hello | tee out.txt', 'toolu_bash')]
    default:
      return [say('I have greeted the world.')]
  }
}
