import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '@holdpoint/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../src/config/config.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-config-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function keep(config: unknown): void {
  const text = typeof config === 'string' ? config : JSON.stringify(config)
  writeFileSync(join(folder, 'holdpoint.config.json'), text)
}
function refusal(read: () => unknown): Fault {
  try {
    read()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('it was not refused')
}

describe('settings', () => {
  it('come from flags before the environment, and from the environment before the file', () => {
    keep({ port: 1, store: 'file:one.db', onDeadline: 'wait' })
    const env = { HOLDPOINT_PORT: '2', HOLDPOINT_STORE: 'file:two.db' }
    expect(readConfig({ port: '3' }, env, folder)).toEqual({ port: 3, store: 'file:two.db', onDeadline: 'wait' })
    expect(readConfig({ port: undefined }, env, folder)).toMatchObject({ port: 2 })
    expect(readConfig({}, {}, folder)).toEqual({ port: 1, store: 'file:one.db', onDeadline: 'wait' })
  })

  it('are none where nothing is given; an empty variable is nothing', () => {
    expect(readConfig({}, { HOLDPOINT_PORT: '' }, folder)).toEqual({})
  })

  it('name agents relative to the file that names them', () => {
    keep({ agents: { mine: './agents/mine.mjs' } })
    expect(readConfig({}, {}, folder).agents).toEqual({ mine: join(folder, 'agents/mine.mjs') })
  })

  it('name the executable of Claude Code, relative to the file; HOLDPOINT_CLAUDE wins', () => {
    keep({ claude: './bin/claude' })
    expect(readConfig({}, {}, folder).claude).toBe(join(folder, 'bin/claude'))
    expect(readConfig({}, { HOLDPOINT_CLAUDE: '/opt/claude' }, folder).claude).toBe('/opt/claude')
  })

  it.each([
    ['a member that is unknown', { prot: 1 }, /holdpoint\.config\.json.*prot/],
    ['a port out of range', { port: 70_000 }, /port/],
    ['a runner of no kind', { runner: 'cloud' }, /runner/],
    ['a Claude Code without a name', { claude: '' }, /claude must not be empty/],
    ['a deadline of nothing', { deadlineMs: 0 }, /deadlineMs must be a whole number from 1000/],
    ['an agent with a name that is taken', { agents: { claude: './a.mjs' } }, /agents\.claude is the name of a driver/],
    ['text that is not JSON', '{"port": 1,}', /holdpoint\.config\.json.*not valid JSON/],
    ['a member that is given twice', '{"port": 1, "port": 2}', /"port" appears twice/],
  ])('are refused for %s, by the name of the file and of the member', (_what, config, sentence) => {
    keep(config)
    expect(refusal(() => readConfig({}, {}, folder)).message).toMatch(sentence)
  })

  it.each([
    ['a flag', { port: 'many' }, {}, '--port must be a whole number from 0 to 65535'],
    ['an empty flag', { port: '' }, {}, '--port must be a whole number from 0 to 65535'],
    ['a flag out of range', { port: '65536' }, {}, '--port must be a whole number from 0 to 65535'],
    ['a variable', {}, { HOLDPOINT_PORT: 'many' }, 'HOLDPOINT_PORT must be a whole number from 0 to 65535'],
    ['a choice', {}, { HOLDPOINT_RUNNER: 'cloud' }, 'HOLDPOINT_RUNNER must be process, inline or none'],
  ])('are refused for %s that does not fit, by its name', (_what, flags, env, message) => {
    expect(refusal(() => readConfig(flags, env, folder))).toMatchObject({ code: 'bad_input', message })
  })
})
