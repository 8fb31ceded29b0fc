import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session, SessionId } from '@holdpoint/protocol'
import { afterEach, expect, it } from 'vitest'
import { sessionSample } from '../../../test/support/session-sample.ts'
import { removeDeletedSessions } from '../src/deleted-sessions.ts'
import { claudeDriver, codexDriver, type Driver } from '../src/index.ts'
import { recordProcess } from '../src/process-record.ts'
import { ManualClock, RunnerFixture } from './runner-fixture.ts'
import { ScriptedAgent } from './scripted-agent.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-deleted-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const idOf = (letter: string) => `ses_${letter.repeat(20)}` as SessionId

/** Stores files for a session, as the drivers do. */
function store(id: string): string {
  const path = join(folder, id)
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'progress.json'), '{}')
  return path
}
function runner(existing: readonly SessionId[]) {
  const clock = new ManualClock()
  const stop = new AbortController()
  const sessionOf = async (id: SessionId): Promise<Session | null> =>
    existing.includes(id) ? sessionSample({ id }) : null
  return { access: { clock, signal: stop.signal, sessionOf }, clock, stop }
}

it('the files of a deleted session are removed, but not the files of another session, of a live process, or of no session', async () => {
  const [deleted, kept, live, other] = [idOf('1'), idOf('2'), idOf('3'), 'parkable'].map(store) as [
    string,
    string,
    string,
    string,
  ]
  recordProcess(live, { pid: process.pid, tag: 'still here' })
  const { access, clock, stop } = runner([idOf('2')])
  const finished = removeDeletedSessions(folder, access)
  await clock.advance(59_000)
  expect(existsSync(deleted)).toBe(true)
  await clock.advance(2000)
  expect([deleted, kept, live, other].map(path => existsSync(path))).toEqual([false, true, true, true])
  stop.abort()
  await finished
})

it.each([
  ['Codex', codexDriver],
  ['Claude Code', claudeDriver],
])('a session of %s that is deleted while the runner works leaves no files', async (_, createDriver) => {
  const { access, clock, stop } = runner([])
  const finished = createDriver({ folder, env: {} }).endLeftProcesses?.(access)
  await clock.advance(61_000)
  const path = store(idOf('4'))
  await clock.advance(60 * 60_000, 60_000)
  expect(existsSync(path)).toBe(false)
  stop.abort()
  await finished
})

it('the files of a parked and of an ended session stay until the session is deleted', async () => {
  const clock = new ManualClock()
  const fixture = await RunnerFixture.open({ clock })
  const agent = new ScriptedAgent({}, clock)
  const driver: Driver = { ...agent.driver, endLeftProcesses: access => removeDeletedSessions(folder, access) }
  const running = fixture.startRunner([driver])
  const id = await fixture.startSession('scripted', { options: { idleParkMs: 1000 } })
  await (await agent.did('send go')).emit({ type: 'turnEnded', ending: 'done' })
  await fixture.waitForTurnEnd()
  const path = store(id)
  const isKept = async () => {
    await clock.advance(61 * 60_000, 10_000)
    return existsSync(path)
  }
  await clock.advance(2000)
  expect((await fixture.waitForEvent('session.changed', ({ value }) => value.state === 'parked')).session).toBe(id)
  expect(await isKept()).toBe(true)
  await fixture.asPerson('endSession', { id })
  expect(await isKept()).toBe(true)
  await fixture.asPerson('deleteSession', { id })
  expect(await isKept()).toBe(false)
  await running.stop()
  await fixture.close()
})
