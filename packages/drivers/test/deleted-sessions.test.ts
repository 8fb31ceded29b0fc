import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session, SessionId } from '@holdpoint/protocol'
import { afterEach, expect, it } from 'vitest'
import { sessionSample } from '../../../test/support/session-sample.ts'
import { removeDeletedSessions } from '../src/deleted-sessions.ts'
import { codexDriver } from '../src/index.ts'
import { recordProcess } from '../src/process-record.ts'
import { ManualClock } from './runner-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-deleted-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))
const idOf = (letter: string) => `ses_${letter.repeat(20)}` as SessionId

/** Stores files for a session, as the driver of Codex does. */
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

it('the files of a deleted session are removed, and those of other sessions, of live processes and of no session stay', async () => {
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

it('a session of Codex that is deleted while the runner works leaves no files', async () => {
  const { access, clock, stop } = runner([])
  const finished = codexDriver({ folder, env: {} }).endLeftProcesses?.(access)
  await clock.advance(61_000)
  const path = store(idOf('4'))
  await clock.advance(60 * 60_000, 60_000)
  expect(existsSync(path)).toBe(false)
  stop.abort()
  await finished
})
