/** Tests how sessions of agents that speak the Agent Client Protocol survive agents that fail. The agent is a small program that fails on command; the gateway is real. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { sessionSample } from '../../../../test/support/session-sample.ts'
import { AcpConnection } from '../../src/acp/connection.ts'
import type { AcpProfile } from '../../src/acp/profiles.ts'
import { type AgentOutput, acpDriver, customProfile } from '../../src/index.ts'
import { processStartTime } from '../../src/process-start-time.ts'
import { ManualClock, RunnerFixture, type RunnerFixtureOptions } from '../runner-fixture.ts'

const program = fileURLToPath(new URL('fake-agent.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'holdpoint-acp-'))
let fixture: RunnerFixture
afterEach(async () => {
  await fixture?.close()
  rmSync(folder, { recursive: true, force: true })
})

interface StartOptions extends RunnerFixtureOptions {
  readonly profile?: Partial<AcpProfile>
  readonly mode?: string
}

function startRunner(flags: readonly string[], { clock, profile }: StartOptions = {}) {
  const known = customProfile('fake', [process.execPath, program, ...flags])
  return fixture.startRunner([acpDriver({ ...known, ...profile }, { folder, ...(clock ? { clock } : {}) })])
}
async function start(prompt: string, flags: readonly string[] = [], options: StartOptions = {}) {
  fixture = await RunnerFixture.open(options)
  const runner = startRunner(flags, options)
  const { mode } = options
  const more = { prompt, cwd: tmpdir(), ...(mode === undefined ? {} : { mode }) }
  return { id: await fixture.startSession('fake', more), runner }
}

/** Resolves with the pid of the process that the agent started. */
const serverPid = () =>
  fixture.waitFor(() => {
    const [pid] = fixture.agentTexts().flatMap(text => /^server (\d+)$/.exec(text)?.[1] ?? [])
    return pid === undefined ? undefined : Number(pid)
  })

describe('an agent of the Agent Client Protocol that can allow a call only permanently', () => {
  it('a call that an agent can allow only permanently waits for a person, even if a rule allows its command', async () => {
    const { id } = await start('hello', ['always-only'])
    await fixture.asPerson('addRule', { effect: 'allow', command: 'touch x', scope: { session: id } })
    await fixture.asPerson('sendMessage', { id, text: 'ask' })
    const { value: request } = await fixture.waitForEvent('request.opened')
    expect(request).toMatchObject({ status: 'pending', ask: { caution: { permanent: true } } })
    await fixture.answer(request, { kind: 'allow' })
    await fixture.waitForTurnEnd(2)
    expect(fixture.agentTexts().join()).toContain('answered yes')
  })
})

describe('the mode of an agent of the Agent Client Protocol', () => {
  it('the mode of an agent from the configuration can be changed to every mode that it lists', async () => {
    await start('hello', [], { mode: 'never asks' })
    await fixture.waitForTurnEnd()
    expect(fixture.agentTexts()).toEqual(['in mode never asks got text: hello'])
  })

  it('the mode of an agent without modes that ask is never changed, neither at the start nor later', async () => {
    const profile = { modes: [] }
    await start('hello', [], { profile, mode: 'never asks' })
    const { value } = await fixture.waitForEvent('session.ended')
    expect(value.ending).toMatchObject({ reason: 'failed', detail: 'The mode of fake cannot be changed in Holdpoint' })
    const id = await fixture.startSession('fake', { prompt: 'first', cwd: tmpdir() })
    await fixture.waitForTurnEnd()
    await fixture.asPerson('patchSession', { id, mode: 'never asks' })
    const { outcome } = await fixture.waitForEvent('command.done', event => event.session === id && !event.outcome.ok)
    expect(outcome.reason).toContain('cannot be changed')
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    await fixture.waitForTurnEnd(2)
    expect(fixture.agentTexts()).toEqual(['in mode asks got text: first', 'in mode asks got text: second'])
  })
})

describe('an agent of the Agent Client Protocol that cannot load conversations', () => {
  it('an agent that cannot load conversations keeps its process while the session is idle', async () => {
    const clock = new ManualClock()
    const { id } = await start('first', ['no-load'], { clock })
    await fixture.waitForEvent('command.done')
    await clock.advance(16 * 60_000, 60_000)
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    await fixture.waitForTurnEnd(2)
    expect(fixture.eventsOf('session.changed').filter(({ value }) => value.state === 'parked')).toEqual([])
    expect(fixture.eventsOf('error.raised')).toEqual([])
  })

  it('an agent that cannot load conversations starts a new conversation after its process was lost, and the log says so', async () => {
    const { id, runner } = await start('first', ['no-load'])
    await fixture.waitForEvent('command.done')
    await runner.stop()
    startRunner(['no-load'])
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    expect(await fixture.waitForTurnEnd(2)).toMatchObject({ ending: 'done' })
    expect((await fixture.waitForEvent('error.raised')).message).toContain('so this is a new one')
  })
})

describe('an agent of the Agent Client Protocol that has not stored its conversation', () => {
  it('an agent that has not stored its conversation before its process was lost starts a new one with the next message, and the log says so', async () => {
    const { id, runner } = await start('first')
    await fixture.waitForEvent('command.done')
    await runner.stop()
    startRunner(['forget'])
    await fixture.asPerson('sendMessage', { id, text: 'second' })
    expect(await fixture.waitForTurnEnd(2)).toMatchObject({ ending: 'done' })
    expect((await fixture.waitForEvent('error.raised')).message).toContain('so this is a new one')
  })
})

describe('the connection to an agent of the Agent Client Protocol', () => {
  /** Connects, sends a message with a picture, and resolves with the outputs when the process has ended. `refuses` names an output that cannot be written. */
  async function outputsOf(flags: readonly string[], refuses?: AgentOutput['type']): Promise<readonly AgentOutput[]> {
    const outputs: AgentOutput[] = []
    const profile = customProfile('fake', [process.execPath, program, ...flags])
    const processOptions = { executable: profile.command, args: profile.args, env: process.env, folder }
    await new Promise<void>(resolve => {
      const connection = new AcpConnection({
        ...{ profile, process: processOptions, info: sessionSample({ id: 'ses_00000000000000000000', cwd: tmpdir() }) },
        ...{ mode: null, model: null, conversationId: null, resume: null, parkAfterMs: () => null },
        ...{ isInterrupted: () => false, check: () => Promise.reject(new Error()), reportResult: async () => [] },
        emit: async output => {
          outputs.push(output)
          if (output.type === 'turnEnded') void connection.close()
          if (output.type === 'exited') resolve()
          if (output.type === refuses) throw new Error('Nothing can be written anymore')
        },
      })
      connection.send({
        id: 'message',
        text: 'look',
        attachments: [{ type: 'image', mediaType: 'image/png', data: '' }],
      })
    })
    return outputs
  }

  it('the connection to an agent that reads pictures sends them', async () => {
    expect(await outputsOf(['images'])).toContainEqual({ type: 'text', text: 'in mode asks got image text: look' })
  })
  it('the connection to an agent that does not read pictures sends no pictures, and the log says so', async () => {
    const outputs = await outputsOf([])
    expect(outputs).toContainEqual({ type: 'text', text: 'in mode asks got text: look' })
    expect(JSON.stringify(outputs)).toContain('fake cannot read the attachment image/png')
  })
  it('the connection to an agent ends the agent’s process if the start of a turn cannot be written', async () => {
    const outputs = await outputsOf([], 'turnStarted')
    expect(outputs.map(({ type }) => type)).toEqual(['ready', 'turnStarted', 'exited'])
  })
})

describe('an agent of the Agent Client Protocol that fails', () => {
  it('an agent that exits while a process that it started keeps its output open loses its turn at once, and that process is killed', async () => {
    await start('crash with a server')
    const end = await fixture.waitForTurnEnd()
    expect(end).toMatchObject({ ending: 'failed' })
    expect((await fixture.waitForEvent('error.raised')).message).toContain('fake exited with code 1')
    expect(processStartTime(await serverPid())).toBe('')
  })

  it('an agent that exits while an unknown process keeps its output open loses its turn', async () => {
    await start('crash with a foreign server')
    expect(await fixture.waitForTurnEnd()).toMatchObject({ ending: 'failed' })
    process.kill(await serverPid(), 'SIGKILL')
  })

  it('an agent that closes its output and keeps running is ended, and its turn fails', async () => {
    await start('close the output')
    expect(await fixture.waitForTurnEnd()).toMatchObject({ ending: 'failed' })
    expect((await fixture.waitForEvent('error.raised')).message).toContain('The connection to fake was lost')
  })

  it('an agent that closes its output while a request is pending is ended, the request stays pending, and the next process gets the answer', async () => {
    await start('close the output while asking')
    const { value: request } = await fixture.waitForEvent('request.opened')
    await fixture.waitForEvent('session.changed', ({ value }) => value.state === 'parked')
    await fixture.answer(request, { kind: 'allow' })
    await fixture.waitForTurnEnd()
    expect(fixture.agentTexts().join()).toContain('allowed; make exactly the same call again to run it')
  })
})
