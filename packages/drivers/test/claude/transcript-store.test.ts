import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TranscriptStore } from '../../src/claude/transcript/transcript-store.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-transcript-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('TranscriptStore', () => {
  it.each([
    ['incomplete JSON', '{"key":'],
    ['a list', '[]'],
    ['a field of the wrong type', '{"key":{"sessionId":5}}'],
  ])('TranscriptStore moves meta.json away and reports the damage if the file contains %s', (_name, text) => {
    writeFileSync(join(folder, 'meta.json'), text)
    const transcript = new TranscriptStore(folder, folder)
    expect(transcript.problem).toContain('meta.json.damaged')
    expect(transcript.meta).toEqual({ reportedCost: 0, mayBypass: false })
    expect(existsSync(join(folder, 'meta.json.damaged'))).toBe(true)
  })

  it('TranscriptStore reads the state that an earlier TranscriptStore has written', () => {
    const change = { mode: 'plan', reportedCost: 0.5, resumeAttempts: { rowUuid: null, count: 2 } }
    new TranscriptStore(folder, folder).updateMeta(change)
    const transcript = new TranscriptStore(folder, folder)
    expect(transcript.problem).toBeNull()
    expect(transcript.meta).toEqual(change)
  })
})
