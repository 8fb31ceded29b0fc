/** Tests how the Codex driver translates questions of Codex into asks, and answers into replies, without a process. */
import { Ask } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { ItemLog } from '../src/codex/item-log.ts'
import { type CodexMode, codexModes, modeOf, modeSettings } from '../src/codex/modes.ts'
import type { NativeCall } from '../src/codex/native-call.ts'
import { nativeCall } from '../src/codex/server-requests.ts'
import { splitWords, unwrapShell } from '../src/codex/shell-words.ts'
import { itemIn } from '../src/codex/wire.ts'
import type { AgentOutput } from '../src/index.ts'
import type { Decision } from '../src/session/decisions.ts'
import { joinWords } from '../src/shell-quote.ts'

const inTurn = { threadId: 'thread', turnId: 'turn', itemId: 'item' }
const place = { threadId: 'thread', turnId: 'turn', agentPath: [] }
const requestOf = (method: string, params: object, items = new ItemLog(async () => {})): NativeCall => {
  const call = nativeCall(method, { ...inTurn, ...params }, items, '/srv')
  if (!call) throw new Error(`${method} was not understood`)
  expect(Ask.safeParse(call.ask).error?.issues ?? []).toEqual([])
  return call
}
const commandCall = (params: object) => requestOf('item/commandExecution/requestApproval', { cwd: '/srv', ...params })
const startedItem = async (item: object) => {
  const items = new ItemLog(async () => {})
  const known = itemIn(item)
  if (!known) throw new Error('the item was not understood')
  await items.start(known, place)
  return items
}
const decided = (answer: Decision['answer'], stopsTurn = false): Decision => ({ answer, stopsTurn, text: null })
const allow = decided({ kind: 'allow' })
const remember = (suggestion: string) => decided({ kind: 'allow', suggestion })
const deny = decided(null)
const cancel = decided(null, true)

describe('the shell around a command', () => {
  it.each([
    [`/bin/bash -lc 'npm test'`, 'npm test'],
    ['/bin/bash -lc ls', 'ls'],
    [`/usr/bin/zsh -c "echo it's"`, `echo it's`],
    [`bash -lc 'it'"'"'s'`, `it's`],
    [`/bin/sh -c 'a\nb'`, 'a\nb'],
    [String.raw`/bin/bash -lc "echo \$HOME \"x\""`, 'echo $HOME "x"'],
  ])('unwrapShell turns %s into %s', (command, script) => {
    expect(unwrapShell(command)).toBe(script)
  })

  it.each([
    ['a shell of the project', `./bash -lc 'npm test'`],
    ['a shell in another folder', `/srv/bin/bash -lc 'npm test'`],
    ['other options', `/bin/bash --init-file x -c 'npm test'`],
    ['arguments of the script', `/bin/bash -c 'npm test' x`],
    ['no script', '/bin/bash -lc'],
    ['an operator', `/bin/bash -lc 'npm test'; rm x`],
    ['an expansion', '/bin/bash -lc "$(cat x)"'],
    ['an open quotation', `/bin/bash -lc 'npm test`],
    ['another program', `python3 -c 'print(1)'`],
  ])('unwrapShell leaves a command with %s unchanged', (_, command) => {
    expect(unwrapShell(command)).toBe(command)
  })

  it('splitWords returns the same words that joinWords has joined', () => {
    const words = ['cat', `it's`, 'a b', '', '$x', '"', '\\', 'a\nb', '-n', '*']
    expect(splitWords(joinWords(words))).toEqual(words)
  })
})

describe('a command that Codex asks about', () => {
  it('a command that Codex asks about has the exact command as its input, and the script as its action', () => {
    const { ask } = commandCall({ command: `/bin/bash -lc 'npm test'`, reason: 'I must', cwd: '/srv/sub' })
    expect(ask).toMatchObject({
      tool: 'exec_command',
      title: 'Run: npm test',
      description: 'I must',
      input: { command: `/bin/bash -lc 'npm test'` },
      action: { shell: 'npm test', cwd: '/srv/sub' },
      cwd: '/srv/sub',
      editable: false,
    })
  })

  it('a command that Codex asks about is accepted, declined or canceled', () => {
    const call = commandCall({ command: 'ls' })
    expect(call.reply(allow)).toEqual({ decision: 'accept' })
    expect(call.reply(deny)).toEqual({ decision: 'decline' })
    expect(call.reply(cancel)).toEqual({ decision: 'cancel' })
  })

  it('a command that Codex asks about offers the answers that Codex itself can remember, unless the label would have to be shortened', () => {
    const prefix = ['npm', 'run', 'it is']
    const call = commandCall({ command: 'x', proposedExecpolicyAmendment: prefix })
    expect(call.ask).toMatchObject({
      suggestions: [
        { id: 'session', scope: 'session' },
        { id: 'prefix', scope: 'userSettings', label: expect.stringMatching(/npm run 'it is'$/) },
      ],
    })
    expect(call.reply(remember('session'))).toEqual({ decision: 'acceptForSession' })
    expect(call.reply(remember('prefix'))).toEqual({
      decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } },
    })
    const long = commandCall({ command: 'x', proposedExecpolicyAmendment: ['x'.repeat(600)] })
    expect(long.ask).toMatchObject({ suggestions: [{ id: 'session' }] })
  })

  it('a command that Codex asks about can be a connection to a host', () => {
    const amendments = [
      { host: 'example.org', action: 'allow' },
      { host: 'example.org', action: 'deny' },
    ]
    const call = commandCall({
      command: 'curl example.org',
      networkApprovalContext: { host: 'example.org', protocol: 'https' },
      proposedNetworkPolicyAmendments: amendments,
    })
    expect(call.ask).toMatchObject({
      title: 'Connect to example.org',
      action: { fetch: 'example.org' },
      suggestions: [{ id: 'session' }, { id: 'host:0', scope: 'userSettings' }],
    })
    expect(call.reply(remember('host:0'))).toEqual({
      decision: { applyNetworkPolicyAmendment: { network_policy_amendment: amendments[0] } },
    })
  })

  it('a command that Codex asks about can be input for a running command, which no rule for commands allows', () => {
    const { ask } = commandCall({ kind: 'writeStdin', command: 'yes' })
    expect(ask).toMatchObject({ tool: 'write_stdin', action: { other: 'write_stdin' }, suggestions: [] })
  })
})

describe('a file change that Codex asks about', () => {
  const change = (path: string, type: string, diff: string, move_path?: string) => ({
    path,
    kind: { type, ...(move_path === undefined ? {} : { move_path }) },
    diff,
  })
  async function askFor(changes: readonly object[], more: object = {}) {
    const items = await startedItem({ type: 'fileChange', id: 'item', status: 'inProgress', changes })
    return requestOf('item/fileChange/requestApproval', more, items)
  }

  it.each([
    ['a new file', [change('/srv/a', 'add', 'one\n')], { file_path: '/srv/a', content: 'one\n' }, ['/srv/a']],
    [
      'one place in a file',
      [change('/srv/a', 'update', '@@ -1,2 +1,2 @@ f()\n same\n-one\n+two\n')],
      { file_path: '/srv/a', old_string: 'same\none\n', new_string: 'same\ntwo\n' },
      ['/srv/a'],
    ],
    [
      'two places in a file',
      [change('/srv/a', 'update', '@@ -1 +1 @@\n-a\n+b\n@@ -9 +9,0 @@\n-c\n')],
      {
        file_path: '/srv/a',
        edits: [
          { old_string: 'a\n', new_string: 'b\n' },
          { old_string: 'c\n', new_string: '' },
        ],
      },
      ['/srv/a'],
    ],
    [
      'a file without a line break at its end',
      [change('/srv/a', 'update', '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n')],
      { changes: [{ path: '/srv/a', kind: 'update', diff: '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n' }] },
      ['/srv/a'],
    ],
    [
      'a moved file and a deleted one',
      [change('/srv/a', 'update', '', '/srv/b'), change('/srv/c', 'delete', 'old\n')],
      {
        changes: [
          { path: '/srv/a', kind: 'update', diff: '', move_path: '/srv/b' },
          { path: '/srv/c', kind: 'delete', diff: 'old\n' },
        ],
      },
      ['/srv/a', '/srv/b', '/srv/c'],
    ],
  ])('a file change that Codex asks about shows %s', async (_, changes, input, write) => {
    const { ask, reply } = await askFor(changes)
    expect(ask).toMatchObject({ tool: 'apply_patch', input, action: { write }, editable: false })
    expect(reply(remember('session'))).toEqual({ decision: 'acceptForSession' })
  })

  it('a file change that also grants Codex access to a folder is not covered by rules for files', async () => {
    const { ask } = await askFor([change('/srv/a', 'add', '')], { grantRoot: '/' })
    expect(ask).toMatchObject({
      action: { other: 'apply_patch' },
      input: { grantRoot: '/' },
      caution: { reason: expect.stringContaining('anywhere in /') },
    })
  })

  it('a file change that Codex asks about without a diff needs an explicit allow and cannot be remembered', () => {
    const { ask } = requestOf('item/fileChange/requestApproval', {})
    expect(ask).toMatchObject({ action: { other: 'apply_patch' }, caution: { defaultToNo: true, noRemember: true } })
  })
})

describe('other questions of Codex', () => {
  it('permissions that Codex asks for are granted for the turn or the session, or not at all', () => {
    const permissions = { network: { enabled: true }, fileSystem: null }
    const call = requestOf('item/permissions/requestApproval', { cwd: '/srv', reason: 'network', permissions })
    const granted = { network: { enabled: true } }
    expect(call.ask).toMatchObject({ input: granted, action: { other: 'request_permissions' } })
    expect(call.reply(allow)).toEqual({ permissions: granted, scope: 'turn' })
    expect(call.reply(remember('session'))).toEqual({ permissions: granted, scope: 'session' })
    expect(call.reply(deny)).toEqual({ permissions: {}, scope: 'turn' })
    expect(call.reply(cancel)).toBeNull()
  })

  it('a question of Codex can be secret, can have no options, and can have a time limit', () => {
    const questions = [
      { id: 'a', header: 'A', question: 'Which?', isOther: false, isSecret: false, options: [{ label: 'x' }] },
      { id: 'b', header: 'B', question: 'Token?', isOther: false, isSecret: true, options: null },
    ]
    const call = requestOf('item/tool/requestUserInput', { questions, autoResolutionMs: 60_000 })
    expect(call).toMatchObject({ deadlineMs: 60_000, onDeadline: 'deny' })
    expect(call.ask).toMatchObject({
      questions: [
        { id: 'a', allowOther: false, secret: false },
        { id: 'b', allowOther: true, secret: true, options: [] },
      ],
    })
    const answers = [
      { id: 'a', chosen: ['x'] },
      { id: 'b', chosen: [], other: 'hidden' },
    ]
    expect(call.reply(decided({ kind: 'answers', answers }))).toEqual({
      answers: { a: { answers: ['x'] }, b: { answers: ['hidden'] } },
    })
    expect(call.reply(deny)).toEqual({ answers: {} })
  })

  it('the approval of an MCP tool of Codex gets the name of the tool from the call that is running', async () => {
    const running = { type: 'mcpToolCall', server: 'shop', status: 'inProgress' }
    const items = await startedItem({ ...running, id: 'other', tool: 'look', arguments: { b: 2 } })
    const known = itemIn({ ...running, id: 'item', tool: 'order', arguments: { b: 1, a: [] } })
    if (known) await items.start(known, place)
    const params = {
      serverName: 'shop',
      mode: 'form',
      message: 'Allow it?',
      requestedSchema: { type: 'object', properties: {} },
      _meta: { codex_approval_kind: 'mcp_tool_call', persist: ['session'], tool_params: { a: [], b: 1 } },
    }
    const call = requestOf('mcpServer/elicitation/request', params, items)
    expect(call).toMatchObject({ itemId: 'item', ask: { action: { mcp: 'shop', tool: 'order' } } })
    expect(call.reply(remember('session'))).toEqual({
      action: 'accept',
      content: {},
      _meta: { persist: 'session' },
    })
    expect(call.reply(deny)).toMatchObject({ action: 'decline' })

    const unknown = requestOf('mcpServer/elicitation/request', params)
    expect(unknown.ask).toMatchObject({ action: { other: 'mcp__shop' }, title: 'Allow it?' })
  })

  it('the approval of an MCP tool of Codex names the tool in its message, even if another tool of the server runs with the same arguments', async () => {
    const items = new ItemLog(async () => {})
    for (const tool of ['read', 'delete', 'x" or tool "read']) {
      const item = itemIn({ type: 'mcpToolCall', id: tool, server: 'shop', tool, status: 'inProgress', arguments: {} })
      if (item) await items.start(item, place)
    }
    const toolIn = (message: string) => {
      const _meta = { codex_approval_kind: 'mcp_tool_call', tool_params: {} }
      const { ask, itemId } = requestOf(
        'mcpServer/elicitation/request',
        { serverName: 'shop', mode: 'form', message, _meta },
        items,
      )
      return [ask.kind === 'approval' && ask.action, itemId]
    }
    const allowed = (tool: string) => toolIn(`Allow the shop MCP server to run tool "${tool}"?`)
    expect(allowed('delete')).toEqual([{ mcp: 'shop', tool: 'delete' }, 'delete'])
    expect(allowed('x" or tool "read')).toEqual([{ mcp: 'shop', tool: 'x" or tool "read' }, 'x" or tool "read'])
    expect(allowed('other')).toEqual([{ mcp: 'shop', tool: 'other' }, null])
    expect(toolIn('Allow it?')).toEqual([{ other: 'mcp__shop' }, null])
  })

  it.each([
    ['another method', 'item/tool/call', inTurn],
    ['parameters that are missing', 'item/commandExecution/requestApproval', { threadId: 'thread' }],
    ['another kind of form', 'mcpServer/elicitation/request', { ...inTurn, serverName: 's', mode: 'openai/form' }],
  ])('a request of Codex with %s is refused as unknown', (_, method, params) => {
    expect(nativeCall(method, params, new ItemLog(async () => {}), '/srv')).toBeNull()
  })
})

describe('the items of Codex', () => {
  async function logOf(run: (items: ItemLog) => Promise<void>): Promise<AgentOutput[]> {
    const outputs: AgentOutput[] = []
    await run(new ItemLog(async output => void outputs.push(output)))
    return outputs
  }
  const message = (id: string, text: string) => ({ type: 'agentMessage', id, text }) as const

  it('streamed text of Codex is not repeated, and two messages are separated', async () => {
    const outputs = await logOf(async items => {
      await items.stream('one', 'Hel', place)
      await items.stream('one', 'lo', place)
      await items.complete(message('one', 'Hello.'), place)
      await items.complete(message('two', 'Next.'), place)
    })
    expect(outputs.map(output => output.type === 'text' && output.text)).toEqual(['Hel', 'lo', '.', '\n\nNext.'])
  })

  it('the text of a subagent of Codex is logged as one message', async () => {
    const outputs = await logOf(async items => {
      await items.stream('one', 'Hel', { ...place, agentPath: ['Ada'] })
      await items.complete(message('one', 'Hello.'), { ...place, agentPath: ['Ada'] })
    })
    expect(outputs).toEqual([
      { type: 'events', events: [{ type: 'message.added', block: 'turn:one', text: 'Hello.', agentPath: ['Ada'] }] },
    ])
  })

  it('a tool call that Codex does not finish is finished by the driver as failed', async () => {
    const command = { type: 'commandExecution', id: 'c', command: 'ls', cwd: '/srv', status: 'inProgress' } as const
    const outputs = await logOf(async items => {
      await items.start(command, place)
      await items.finishOpen(() => true)
      await items.finishOpen(() => false)
      await items.complete({ type: 'webSearch', id: 'w', query: 'x' }, place)
    })
    const events = outputs.flatMap(output => (output.type === 'events' ? output.events : []))
    expect(events.map(event => event.type)).toEqual(['tool.started', 'tool.finished', 'tool.started', 'tool.finished'])
    expect(events[1]).toMatchObject({ block: 'turn:c', ok: false })
  })
})

describe('the modes of Codex', () => {
  it('every mode of Codex is recognized from the settings that Codex reports, and approvals always go to people', () => {
    const settings = (mode: CodexMode, more: object = {}) => {
      const { permissions, ...rest } = modeSettings(mode)
      return { ...rest, activePermissionProfile: { id: permissions }, ...more }
    }
    for (const mode of codexModes) expect(modeOf(settings(mode))).toBe(mode)
    expect(modeOf(settings('ask', { approvalsReviewer: 'auto_review' }))).toBe('custom')
    expect(modeOf(settings('auto', { activePermissionProfile: { id: ':danger-full-access' } }))).toBe('custom')
    expect(modeOf(settings('auto', { activePermissionProfile: null }))).toBe('custom')
  })
})
