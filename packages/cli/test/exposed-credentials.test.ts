/** Tests that a token that an agent has read appears nowhere in what a real gateway and runner write, and that people are told. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { EventRecorder, isEvent, withTimeout } from '../../../test/support/event-recorder.ts'
import { closeGateways, shortPause, startGateway } from '../../../test/support/gateway.ts'
import { log } from '../src/log.ts'
import { runCliAgainst } from './support/cli-process.ts'

let folder: string | undefined
afterEach(async () => {
  await closeGateways()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** Returns the files of a folder that contain the text. */
function filesWith(text: string, where: string): string[] {
  return readdirSync(where, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text))
    .map(({ name }) => name)
}

it.each(['process', 'inline'] as const)(
  'L1: the owner’s token in the output of an agent (%s) is stored in no file but its own, and raises an alarm',
  async runner => {
    folder = mkdtempSync(join(tmpdir(), 'holdpoint-exposed-'))
    const file = join(folder, 'leak.mjs')
    const agent = `import { readFileSync } from 'node:fs'
      import { approval, defineAgent, say } from '@holdpoint/drivers'
      export default defineAgent({ name: 'leak', title: 'leak', async *run(turn) {
        const token = readFileSync(turn.text, 'utf8').trim()
        console.log('the token is', token)
        yield say('I found ' + token)
        const { allowed, reason } = yield* approval('Use it?', { tool: 'Bash', input: { command: 'echo ' + token } })
        yield say(allowed ? 'allowed' : 'denied: ' + reason)
      } })`
    writeFileSync(file, agent)
    const gateway = await startGateway({ runner, config: { agents: { leak: file } } })
    const recorder = await EventRecorder.connect(gateway.url, gateway.token)
    while (!(await gateway.call('listDrivers', {})).items.some(({ name }) => name === 'leak')) await shortPause()
    const { id } = await gateway.call('startSession', { driver: 'leak', prompt: gateway.home.tokenFile })
    await withTimeout(recorder.waitFor(isEvent(id, 'turn.finished')))
    const texts = recorder.eventsOf(id).flatMap(event => (event.type === 'message.added' ? event.text : []))
    expect(texts.join('\n')).toMatch(/I found hp_•{43}/)
    expect(texts.join('\n')).toMatch(/denied: .*Built-in: Holdpoint’s own credentials/)
    const alarm = recorder.eventsOf(id).find(event => event.type === 'error.raised')
    expect(alarm).toMatchObject({ message: expect.stringMatching(/credential of “owner”.*Replace it now/) })
    await recorder.close()
    const { out } = await runCliAgainst(gateway, ['sessions'])
    expect((out + gateway.stderr).includes(gateway.token)).toBe(false)
    await gateway.stop()
    expect(filesWith(gateway.token, gateway.folder)).toEqual(['token'])
  },
)

it('L3: a log entry is one line, with credentials masked and invisible characters escaped', () => {
  const written: string[] = []
  const write = process.stderr.write
  process.stderr.write = ((text: string) => written.push(text)) as unknown as typeof write // `log` passes one string
  try {
    log({ event: 'x', message: 'a\n{"event":"forged"}\u001b[2J hp_Abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG' })
  } finally {
    process.stderr.write = write
  }
  expect(written).toHaveLength(1)
  expect(written[0]?.match(/\n/g)).toHaveLength(1)
  expect(JSON.parse(written[0] ?? '')).toMatchObject({
    event: 'x',
    message: `a\\u{a}{"event":"forged"}\\u{1b}[2J hp_${'•'.repeat(43)}`,
  })
})
