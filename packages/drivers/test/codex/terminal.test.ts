/** Tests that a person’s own terminal with the real Codex shares a session of Holdpoint. */
import { afterEach, expect, it } from 'vitest'
import { say, shell } from '../../../../test/agents/model/script.ts'
import { keys, Terminal } from '../../../cli/test/support/terminal.ts'
import { CodexFixture } from './codex-fixture.ts'

let codex: CodexFixture
let terminal: Terminal
afterEach(async () => {
  // The terminal starts Codex through a launcher, and the launcher does not end Codex, so kill the whole group.
  process.kill(-terminal.pid, 'SIGKILL')
  await terminal.exit
  await codex.close()
})

it('the terminal of Codex and Holdpoint show the same question, and an answer in one appears in the other', async () => {
  codex = await CodexFixture.create()
  codex.model.script('hello', say('Hello.'))
  codex.model.script('answered in Holdpoint', shell('echo ran >> here.txt'), say('Thanks, Holdpoint.'))
  codex.model.script('answered in the terminal', shell('echo ran >> there.txt'), say('Thanks, terminal.'))
  codex.startRunner()
  const session = await codex.start('hello')
  await codex.waitForTurnEnd()
  const { conversationId } = await codex.asPerson('getSession', { id: session })
  const env = Object.fromEntries(Object.entries(codex.env).flatMap(([name, value]) => (value ? [[name, value]] : [])))
  const words = ['resume', '--remote', `unix://${codex.socketOf(session)}`, conversationId ?? '']
  terminal = new Terminal(words, {
    program: env.HOLDPOINT_CODEX ?? '',
    cwd: codex.cwd,
    env,
    columns: 100,
    rows: 40,
  })
  await terminal.waitFor('Hello.')

  await codex.asPerson('sendMessage', { id: session, text: 'answered in Holdpoint' })
  await terminal.waitFor('echo ran >> here.txt')
  await codex.answer(await codex.nthRequest(1), { kind: 'allow' })
  await codex.waitForTurnEnd(2)
  expect(codex.readFile('here.txt')).toBe('ran\n')
  await terminal.waitFor('Thanks, Holdpoint.')

  await codex.asPerson('sendMessage', { id: session, text: 'answered in the terminal' })
  const request = await codex.nthRequest(2)
  await terminal.waitFor(/Would you like to run[\s\S]*there\.txt/)
  await confirmInTerminal()
  await codex.waitForTurnEnd(3)
  expect(codex.readFile('there.txt')).toBe('ran\n')
  expect((await codex.getRequest(request)).resolution).toMatchObject({ by: 'agent', reason: 'withdrawn' })
  await terminal.waitFor('Thanks, terminal.')
})

/** Presses Enter until Codex closes its question. Codex ignores keys for a moment after a question appears. */
async function confirmInTerminal(): Promise<void> {
  const isOpen = () => {
    const open = terminal.text().includes('Would you like to run')
    if (open) terminal.press(keys.enter)
    return open
  }
  await expect.poll(isOpen, { interval: 500 }).toBe(false)
}
