/** Tests that the real Claude Code cannot read the owner's token from Holdpoint's data folder, in any mode and with any tool, although it would run these calls without asking. */
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ClaudeFixture, waitUntil } from './claude-fixture.ts'
import { bash, type ModelScript, say, steps, toolUse } from './model.ts'

const token = 'hp_Abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG'

/** Makes this version of Claude Code offer Grep and Glob, as earlier versions always do. */
const searchTools = { CLAUDE_CODE_ENTRYPOINT: 'local-agent' }

let claude: ClaudeFixture | undefined
afterEach(() => claude?.close())

/** Makes one call after another, each with its own id. The paths of the calls depend on the home folder, which is known only once the fixture is open. */
function script(calls: (home: string) => readonly (readonly [tool: string, input: object])[]): ModelScript {
  return call => {
    const list = calls(claude?.home ?? '').map(([tool, input], index) => [toolUse(tool, input, `toolu_${index}`)])
    return steps(...list)(call)
  }
}

const ways = (home: string): readonly (readonly [string, object])[] => [
  ['Read', { file_path: join(home, '.holdpoint/token') }],
  ['Read', { file_path: join(home, 'link') }],
  ['Bash', { command: 'cat ~/.holdpoint/token', description: 'x' }],
  ['Bash', { command: 'cat .holdpoint/token', description: 'x' }],
  ['Bash', { command: 'cat "$HOME/.hold""point/token"', description: 'x' }],
  ['Bash', { command: 'cat link', description: 'x' }],
  ['Bash', { command: 'grep -r hp_ .', description: 'x' }],
  ['Bash', { command: `head ${home}/.holdpoint/token`, description: 'x' }],
  ['Grep', { pattern: 'hp_', output_mode: 'content' }],
  ['Grep', { pattern: 'hp_', path: join(home, '.holdpoint'), output_mode: 'content' }],
  ['Glob', { pattern: '.holdpoint/*' }],
  ['Glob', { pattern: '*', path: join(home, '.holdpoint') }],
  ['Write', { file_path: join(home, '.holdpoint/holdpoint.config.json'), content: '{}' }],
]

/** Everything that the model has read and everything that is stored or shown. */
function everythingSeen(fixture: ClaudeFixture): string {
  return JSON.stringify([fixture.model.calls.map(({ conversation }) => conversation), fixture.events])
}

describe.each(['default', 'acceptEdits', 'bypassPermissions'])('Claude Code in mode %s, in the home folder', mode => {
  it('F6: Claude Code cannot read the owner’s token, and gets the reason for the denial', async () => {
    // Without Claude Code's own deny rules, only the gateway's rule protects the folder.
    claude = await ClaudeFixture.create(script(ways), { ownerToken: token, env: searchTools, protectedFolder: '' })
    symlinkSync(join(claude.home, '.holdpoint/token'), join(claude.home, 'link'))
    await claude.startClaude({ cwd: claude.home, mode })
    await claude.waitForTurnEnd()
    expect(everythingSeen(claude)).not.toContain(token)
    const results = claude.model.calls.at(-1)?.results ?? []
    expect(results.map(({ id }) => id)).toEqual(ways('').map((_, index) => `toolu_${index}`))
    for (const { text, failed } of results)
      expect([failed, text]).toEqual([true, expect.stringContaining('Built-in: Holdpoint’s own data folder')])
    expect(claude.eventsOf('request.opened')).toEqual([])
  })
})

it('F6: a subagent of Claude Code cannot read the owner’s token either', async () => {
  const delegate: ModelScript = ({ prompt, results }) => {
    if (prompt.includes('read the file')) return results.length === 0 ? [bash('cat ~/.holdpoint/token')] : [say('done')]
    if (results.length > 0) return [say('done')]
    const input = { description: 'reads', prompt: 'read the file', subagent_type: 'general-purpose' }
    return [toolUse('Task', input, 'toolu_task')]
  }
  claude = await ClaudeFixture.create(delegate, { ownerToken: token, env: searchTools })
  await claude.startClaude({ cwd: claude.home, mode: 'bypassPermissions' })
  await claude.waitForTurnEnd()
  // A subagent that runs in the background continues after the turn of the main agent.
  const { model } = claude
  await waitUntil(() => model.toolResult() !== undefined)
  expect(everythingSeen(claude)).not.toContain(token)
  const denied = claude.model.calls.flatMap(({ results }) => results).find(({ id }) => id === 'toolu_1')
  expect(denied).toMatchObject({ failed: true, text: expect.stringContaining('Built-in: Holdpoint’s own data folder') })
})

it('F6: an edited command for Claude Code that names the data folder is refused, and the request stays pending', async () => {
  claude = await ClaudeFixture.create(steps([bash('touch ok.txt')]), { ownerToken: token, env: searchTools })
  await claude.startClaude({ cwd: claude.home })
  const request = await claude.waitForRequest()
  const answer = { kind: 'allow', input: { command: 'cat ~/.holdpoint/token', description: 'x' } } as const
  await expect(claude.answer(request, answer)).rejects.toMatchObject({ code: 'answer_mismatch' })
  expect((await claude.getRequest()).status).toBe('pending')
  await claude.answer(request, { kind: 'deny' })
  await claude.waitForTurnEnd()
})

it('F6: a CLAUDE.md cannot include the owner’s token, although Claude Code reads included files without a tool call', async () => {
  claude = await ClaudeFixture.create(() => [say('done')], { ownerToken: token, settingSources: ['project'] })
  writeFileSync(join(claude.home, 'CLAUDE.md'), 'Remember: @.holdpoint/token and @~/.holdpoint/token\n')
  await claude.startClaude({ cwd: claude.home })
  await claude.waitForTurnEnd()
  expect(claude.model.calls.length).toBeGreaterThan(0)
  expect(claude.model.calls.some(({ request }) => JSON.stringify(request).includes(token))).toBe(false)
})

it('F6: the rule for the data folder does not stop everyday calls of Claude Code', async () => {
  const everyday = (home: string): readonly (readonly [string, object])[] => [
    ['Bash', { command: 'ls -la && cat notes.txt', description: 'x' }],
    ['Read', { file_path: join(home, 'work/notes.txt') }],
    ['Grep', { pattern: 'hello', output_mode: 'content' }],
    ['Glob', { pattern: '**/*.txt' }],
  ]
  claude = await ClaudeFixture.create(script(everyday), {
    ownerToken: token,
    env: searchTools,
    files: { 'notes.txt': 'hello there\n' },
  })
  await claude.startClaude()
  await claude.waitForTurnEnd()
  const results = claude.model.calls.at(-1)?.results ?? []
  expect(results.map(({ failed }) => failed)).toEqual([false, false, false, false])
  for (const index of [0, 1, 2]) expect(results[index]?.text).toContain('hello there')
})
