/** Tests how the opencode driver reads and writes settings, diffs and tool calls, without opencode. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { writeAttachScript } from '../src/opencode/attach-script.ts'
import { SessionTree } from '../src/opencode/conversations.ts'
import { PartLog } from '../src/opencode/part-log.ts'
import { askingEnvironment, sessionRules } from '../src/opencode/permission-settings.ts'
import { OpencodeRefusal } from '../src/opencode/server.ts'
import { describeToolCall, opencodeApproval } from '../src/opencode/tool-calls.ts'
import { changesIn } from '../src/opencode/unified-diff.ts'
import { OpencodeAgent, OpencodeConfig, parseEvent, type ToolPart } from '../src/opencode/wire.ts'

const place = { folder: '/srv', servers: ['my docs'] }
const rulesFor = (config: object) => sessionRules(OpencodeConfig.parse(config))
const rule = (permission: string, pattern: string, action: string) => ({ permission, pattern, action })

describe('the permission settings for opencode', () => {
  it('the permission settings for opencode keep the settings that the person has in the environment', () => {
    const env = askingEnvironment({
      OPENCODE_CONFIG_CONTENT: '{"model":"a/b","agent":{"plan":{"model":"c/d"}},"experimental":{"batch_tool":true}}',
      OPENCODE_PERMISSION: '{"read":"deny"}',
    })
    expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? '')).toEqual({
      model: 'a/b',
      agent: { plan: { model: 'c/d', permission: { edit: { '*': 'deny', '.opencode/plans/*.md': 'allow' } } } },
      experimental: { batch_tool: true, continue_loop_on_deny: true },
    })
    expect(JSON.parse(env.OPENCODE_PERMISSION ?? '')).toMatchObject({ read: 'deny', 'bash*': 'ask', 'edit*': 'ask' })
  })

  it('the permission settings for opencode are not written if the environment has no valid JSON', () => {
    expect(() => askingEnvironment({ OPENCODE_PERMISSION: '{' })).toThrow('OPENCODE_PERMISSION in the environment')
  })

  it('the permission settings for opencode keep the person’s denials, and make opencode ask about calls that the person allows', () => {
    const bash = { '*': 'ask', 'git *': 'allow', 'git push *': 'deny', 'git push origin': 'allow' }
    expect(rulesFor({ permission: { bash, edit: 'allow', webfetch: 'deny', 'bash*': 'ask' } })).toEqual([
      rule('bash', 'git push *', 'deny'),
      rule('bash', 'git push origin', 'ask'),
      rule('webfetch', '*', 'deny'),
    ])
  })

  it('the permission settings for opencode deny everything if the person denies everything', () => {
    const denied = rulesFor({ permission: { '*': 'deny', bash: { 'ls *': 'allow' } } })
    expect(denied).toContainEqual(rule('edit', '*', 'deny'))
    expect(denied.filter(({ permission }) => permission === 'bash')).toEqual([
      rule('bash', '*', 'deny'),
      rule('bash', 'ls *', 'ask'),
    ])
  })

  it('the permission settings for opencode make opencode ask about tools of MCP servers, except tools that the person denies', () => {
    expect(rulesFor({ mcp: { 'my docs': {} }, permission: { my_docs_drop: 'deny', my_docs_read: 'allow' } })).toEqual([
      rule('my_docs_*', '*', 'ask'),
      rule('my_docs_drop', '*', 'deny'),
    ])
  })
})

describe('a diff of opencode', () => {
  const head =
    'Index: /srv/a\n===================================================================\n--- /srv/a\n+++ /srv/a\n'
  it('a diff of opencode is read as the text before and after each changed part', () => {
    expect(changesIn(`${head}@@ -1,2 +1,2 @@\n one\n-two\n+three\n@@ -9,1 +9,2 @@\n nine\n+ten\n`)).toEqual([
      { old_string: 'one\ntwo\n', new_string: 'one\nthree\n' },
      { old_string: 'nine\n', new_string: 'nine\nten\n' },
    ])
  })
  it('a diff of opencode can say that a file has no newline at its end', () => {
    const diff = `${head}@@ -1,1 +1,1 @@\n-one\n\\ No newline at end of file\n+one\n`
    expect(changesIn(diff)).toEqual([{ old_string: 'one', new_string: 'one\n' }])
  })
  it('a diff of opencode is not read if it has lines of another format', () => {
    expect(changesIn('no diff')).toBeNull()
    expect(changesIn(`${head}@@ -1,1 +1,1 @@\n?one\n`)).toBeNull()
  })
})

describe('a tool call of opencode', () => {
  it.each([
    ['bash', { command: 'ls', workdir: 'sub' }, { shell: 'ls', cwd: '/srv/sub' }],
    ['write', { filePath: 'a.txt', content: 'x' }, { write: ['/srv/a.txt'] }],
    ['edit', { filePath: '/b.txt', oldString: 'x', newString: 'y' }, { write: ['/b.txt'] }],
    ['read', { filePath: 'a.txt' }, { read: ['/srv/a.txt'] }],
    ['grep', { pattern: 'x' }, { read: ['/srv'] }],
    ['webfetch', { url: 'https://example.com/x' }, { fetch: 'example.com' }],
    ['my_docs_search', { q: 'x' }, { mcp: 'my docs', tool: 'search' }],
    ['my_docs_', {}, { other: 'my_docs_' }],
    ['todowrite', {}, { other: 'todowrite' }],
  ])('the call %s %j of opencode has the action %j', (tool, input, action) => {
    expect(describeToolCall(tool, input, place).action).toEqual(action)
  })

  const request = { id: 'per_1', sessionID: 'ses_1', patterns: ['*'], tool: undefined }
  it('a tool call of opencode that patches several files names all these files', () => {
    const files = [{ filePath: '/srv/a' }, { filePath: '/srv/b', movePath: '/srv/c' }]
    const metadata = { filepath: 'a, b', diff: 'x', files }
    const ask = opencodeApproval(
      { ...request, permission: 'edit', metadata },
      { tool: 'apply_patch', input: {} },
      place,
    )
    expect(ask).toMatchObject({ action: { write: ['/srv/a', '/srv/b', '/srv/c'] } })
  })
  it('a tool call of opencode that patches several files shows the change of each file', () => {
    const of = (filePath: string, type: string, patch: string, movePath?: string) => ({
      filePath,
      type,
      patch,
      movePath,
    })
    const head = 'Index: f\n=====\n--- f\n+++ f\n'
    const ask = (files: readonly object[]) =>
      opencodeApproval(
        { ...request, permission: 'edit', metadata: { filepath: 'a, b', diff: 'x', files } },
        { tool: 'apply_patch', input: { patchText: 'raw' } },
        place,
      )
    const update = '@@ -3,1 +3,1 @@\n-one\n+two\n'
    const files = [
      of('/srv/a', 'update', `${head}${update}`),
      of('b', 'move', `${head}${update}`, '/srv/c'),
      of('/srv/d', 'add', `${head}@@ -0,0 +1,1 @@\n+new\n`),
      of('/srv/e', 'delete', `${head}@@ -1,1 +0,0 @@\n-old\n`),
    ]
    expect(ask(files).input).toEqual({
      changes: [
        { path: '/srv/a', kind: 'update', diff: update },
        { path: '/srv/b', kind: 'update', move_path: '/srv/c', diff: update },
        { path: '/srv/d', old_string: '', new_string: 'new\n' },
        { path: '/srv/e', kind: 'delete', diff: 'old\n' },
      ],
    })
    for (const strange of [of('/srv/a', 'add', head), of('/srv/a', 'link', `${head}${update}`), { filePath: '/srv/a' }])
      expect(ask([...files, strange]).input).toEqual({ patchText: 'raw' })
  })
  it('a tool call of opencode whose diff cannot be read is shown with the text of the diff', () => {
    const metadata = { filepath: '/srv/a', diff: 'strange' }
    const ask = opencodeApproval({ ...request, permission: 'edit', metadata }, { tool: 'edit', input: {} }, place)
    expect(ask).toMatchObject({ input: { file_path: '/srv/a', diff: 'strange' }, action: { write: ['/srv/a'] } })
  })
  it('a tool call that opencode does not describe is shown with the details of the permission', () => {
    const ask = opencodeApproval({ ...request, permission: 'doom_loop', metadata: { tool: 'x' } }, null, place)
    expect(ask).toMatchObject({ tool: 'doom_loop', input: { tool: 'x' }, action: { other: 'doom_loop' } })
    expect(ask.description).toContain('several times in a row')
  })
})

describe('the report about a tool call of opencode', () => {
  const written: string[] = []
  const log = new PartLog({
    emit: async output => {
      if (output.type === 'events') written.push(output.events.map(event => `${event.type} ${block(event)}`).join(', '))
      else written.push(output.type)
    },
    place: () => place,
  })
  const block = (event: object) => ('block' in event ? event.block : '')
  const update = (id: string, tool: string, status: string) => {
    const part: ToolPart = {
      ...{ type: 'tool', id, tool, messageID: 'msg_1', callID: id, sessionID: 'ses_1' },
      state: { status, input: {}, output: undefined, error: undefined, metadata: { exit: undefined } },
    }
    return log.update(part, [])
  }
  beforeEach(() => {
    written.length = 0
  })

  it.each(['bash', 'apply_patch', 'question', 'my_docs_search'])(
    'the report about a call of %s waits until opencode asks for the call',
    async tool => {
      await update(`${tool}-1`, tool, 'running')
      await update(`${tool}-2`, tool, 'running')
      expect(written).toEqual([])
      await log.writeHeld()
      expect(written).toEqual([`tool.started ${tool}-1, tool.started ${tool}-2`])
      await update(`${tool}-1`, tool, 'completed')
      expect(written.at(-1)).toBe(`tool.finished ${tool}-1`)
    },
  )
  it('the report about a tool call of opencode is written at once if opencode does not ask for the tool', async () => {
    await update('read-1', 'read', 'running')
    expect(written).toEqual(['tool.started read-1'])
  })
  it('the report about a tool call of opencode is written when opencode runs or ends the call without asking', async () => {
    await update('bash-3', 'bash', 'running')
    await update('bash-3', 'bash', 'running')
    expect(written).toEqual(['tool.started bash-3'])
    await update('bash-4', 'bash', 'running')
    await update('bash-4', 'bash', 'error')
    expect(written.at(-1)).toBe('tool.started bash-4, tool.finished bash-4')
  })
  it('the report about a tool call of opencode that is still held back is written when the turn ends', async () => {
    await update('bash-5', 'bash', 'running')
    await log.finishOpen()
    expect(written).toEqual(['tool.started bash-5', expect.stringContaining('tool.finished bash-5')])
  })
})

describe('an event of opencode', () => {
  it('an event of opencode is ignored if the driver does not need the event', () => {
    expect(parseEvent('{"type":"server.connected","properties":{}}')).toBeNull()
    expect(parseEvent('{"type":"message.part.updated","properties":{"part":{"type":"reasoning"}}}')).toBeNull()
  })
  it('a heartbeat of opencode reaches the driver, so that calls that need no request get into the log', () => {
    expect(parseEvent('{"type":"server.heartbeat","properties":{}}')).toMatchObject({ type: 'server.heartbeat' })
  })
  it('an event of opencode is an error if it has an unknown shape', () => {
    expect(() => parseEvent('{"type":"session.idle","properties":{}}')).toThrow()
  })
  it('an event of opencode may contain null in place of a missing value', () => {
    expect(OpencodeAgent.parse({ name: 'plan', mode: 'primary', hidden: null })).toEqual({
      name: 'plan',
      mode: 'primary',
    })
  })
})

describe('a conversation on the server of opencode', () => {
  it('a conversation that opencode does not know does not belong to the session', async () => {
    const tree = new SessionTree('main', () => Promise.reject(new OpencodeRefusal('not found', 404)))
    expect(await tree.pathOf('other')).toBeNull()
  })
  it('a conversation that could not be looked up at opencode causes an error, because a subagent would otherwise wait forever', async () => {
    const tree = new SessionTree('main', () => Promise.reject(new Error('the connection was reset')))
    await expect(tree.pathOf('other')).rejects.toThrow('the connection was reset')
  })
})

it('the script that attaches a terminal to opencode passes every word unchanged, and passes the password in the environment', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-attach-'))
  const words = { url: 'http://127.0.0.1:1', conversation: 'ses_1', cwd: "/it's $HOME" }
  const script = writeAttachScript(folder, { executable: '/bin/echo', password: 'a b', ...words })
  expect(execFileSync(script, { encoding: 'utf8' })).toBe(
    "attach http://127.0.0.1:1 --session ses_1 --dir /it's $HOME\n",
  )
  rmSync(folder, { recursive: true })
})
