/** Tests how calls of agents that speak the Agent Client Protocol become asks, and how answers become replies. The shapes are those that the real agents send. */
import type { PermissionOption } from '@agentclientprotocol/sdk'
import { describe, expect, it } from 'vitest'
import { formReply } from '../src/acp/forms.ts'
import { permissionAsk, permissionReply } from '../src/acp/permissions.ts'
import { type AcpProfile, acpProfiles, customProfile } from '../src/acp/profiles.ts'
import { changeRequests, modeProblem, settingsOf } from '../src/acp/settings.ts'
import { describeCall, type KnownCall, mergeCall } from '../src/acp/tool-calls.ts'
import { ToolLog } from '../src/acp/tool-log.ts'
import type { AgentOutput } from '../src/index.ts'
import type { Decision } from '../src/session/decisions.ts'

const folder = '/srv/project'
function profileOf(name: string): AcpProfile {
  const profile = acpProfiles.find(known => known.name === name)
  if (!profile) throw new Error(`there is no profile ${name}`)
  return profile
}
const describedBy = (name: string, call: Omit<KnownCall, 'toolCallId'>) =>
  describeCall({ toolCallId: 'call', ...call }, profileOf(name), folder)
const goose = (toolName: string, extensionName: string) => ({ goose: { toolCall: { toolName, extensionName } } })
const text = (line: string) => ({ type: 'content', content: { type: 'text', text: line } }) as const

describe('the action of a call', () => {
  it.each<[string, string, Omit<KnownCall, 'toolCallId'>, object]>([
    [
      'a command of qwen',
      'qwen',
      { kind: 'execute', title: 'ls (list)', rawInput: { command: 'ls' } },
      { shell: 'ls', cwd: folder },
    ],
    [
      'a command in another folder',
      'qwen',
      { kind: 'execute', rawInput: { command: 'ls', directory: 'sub' } },
      { shell: 'ls', cwd: `${folder}/sub` },
    ],
    [
      'a command of codex-acp',
      'codex-acp',
      { kind: 'execute', rawInput: { command: 'ls', cwd: '/tmp' } },
      { shell: 'ls', cwd: '/tmp' },
    ],
    [
      'a command of Gemini',
      'gemini',
      { kind: 'execute', title: 'ls -l', content: [text('[current working directory /srv/project/sub] (list)')] },
      { shell: 'ls -l', cwd: `${folder}/sub` },
    ],
    [
      'a command of goose',
      'goose',
      { kind: 'other', rawInput: { command: 'ls' }, _meta: goose('shell', 'developer') },
      { shell: 'ls', cwd: folder },
    ],
    [
      'a file of goose',
      'goose',
      { kind: 'other', rawInput: { path: 'a.txt', content: 'x' }, _meta: goose('write', 'developer') },
      { write: [`${folder}/a.txt`] },
    ],
    [
      'a file of copilot',
      'copilot',
      { kind: 'edit', locations: [{ path: '/srv/project/a' }], rawInput: { fileName: '/srv/project/b', diff: '+x' } },
      { write: ['/srv/project/a', '/srv/project/b'] },
    ],
    ['a read', 'qwen', { kind: 'read', locations: [{ path: 'a' }] }, { read: [`${folder}/a`] }],
    ['a fetch', 'qwen', { kind: 'fetch', rawInput: { url: 'https://example.test/a' } }, { fetch: 'example.test' }],
  ])('the action of %s is known', (_, name, call, action) => {
    expect(describedBy(name, call).action).toEqual(action)
  })

  it.each<[string, string, Omit<KnownCall, 'toolCallId'>]>([
    [
      'a tool of an MCP server that is named like a tool of goose',
      'goose',
      { kind: 'other', rawInput: { command: 'ls' }, _meta: goose('shell', 'other-server') },
    ],
    ['a tool with a command that runs no shell', 'qwen', { kind: 'other', rawInput: { command: 'ls' } }],
    [
      'a command whose folder is unclear',
      'qwen',
      { kind: 'execute', rawInput: { command: 'ls', cwd: '/a', directory: '/b' } },
    ],
    ['an edit without a path', 'qwen', { kind: 'edit', rawInput: { diff: '+x' } }],
    ['a fetch without a URL', 'qwen', { kind: 'fetch', rawInput: { query: 'x' } }],
  ])('the action of %s is unknown, so that no rule for commands or files allows it', (_, name, call) => {
    expect(describedBy(name, call).action).toHaveProperty('other')
  })

  it('a diff of an ACP agent is shown as the text before and after the change', () => {
    const diff = { type: 'diff', path: '/srv/project/a', oldText: 'one', newText: 'two' } as const
    expect(describedBy('gemini', { kind: 'edit', content: [diff] }).input).toEqual({
      file_path: '/srv/project/a',
      old_string: 'one',
      new_string: 'two',
    })
  })

  it('an update of a call without an input keeps the input of the earlier update', () => {
    const known = mergeCall(undefined, {
      toolCallId: 'a',
      title: 'Shell',
      rawInput: { command: 'ls' },
      kind: 'execute',
    })
    expect(mergeCall(known, { toolCallId: 'a', status: 'completed', content: [], rawInput: {} })).toMatchObject({
      title: 'Shell',
      status: 'completed',
      rawInput: { command: 'ls' },
    })
  })
})

const options: PermissionOption[] = [
  { optionId: 'second', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject_once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'allow_once', name: 'Reject', kind: 'reject_once' },
]
const call: KnownCall = { toolCallId: 'call', kind: 'execute', rawInput: { command: 'ls' } }
const askFor = (offered: PermissionOption[], known: KnownCall = call) =>
  permissionAsk(known, describeCall(known, profileOf('qwen'), folder), offered, profileOf('qwen'), folder)
const allowed: Decision = { answer: { kind: 'allow' }, stopsTurn: false, text: null }
const denied: Decision = { answer: null, stopsTurn: false, text: null }
const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })

describe('the reply to an ACP permission request', () => {
  it('the reply to an ACP permission request is chosen by the kind of the option, not by its id', () => {
    expect(permissionReply(allowed, options)).toEqual(selected('reject_once'))
    expect(permissionReply(denied, options)).toEqual(selected('allow_once'))
  })
  it('the reply to an ACP permission request is canceled if the turn is interrupted, or if the agent offers no suitable option', () => {
    const cancelled = { outcome: { outcome: 'cancelled' } }
    expect(permissionReply(null, options)).toEqual(cancelled)
    expect(permissionReply(denied, options.slice(0, 2))).toEqual(cancelled)
    expect(permissionReply(allowed, options.slice(2))).toEqual(cancelled)
  })
  it('the reply to an ACP permission request is the suggestion that the person accepted', () => {
    const decision: Decision = { ...allowed, answer: { kind: 'allow', suggestion: 'second' } }
    expect(permissionReply(decision, options)).toEqual(selected('second'))
  })
  it('the reply to an ACP permission request contains the answers to the questions of qwen', () => {
    const answers = [{ id: '0', chosen: ['A', 'B'], other: 'C' }]
    const decision: Decision = { ...allowed, answer: { kind: 'answers', answers } }
    expect(permissionReply(decision, options)).toEqual({ ...selected('reject_once'), answers: { 0: 'A, B, C' } })
  })
})

describe('the ask for an ACP permission request', () => {
  it('the ask for an ACP permission request cannot be edited, and lists the ways in which the agent itself would remember the answer', () => {
    expect(askFor(options)).toMatchObject({
      editable: false,
      suggestions: [{ id: 'second', label: 'Always allow', scope: 'userSettings' }],
    })
  })
  it('the ask for an ACP permission request warns if the agent can only allow the call permanently', () => {
    expect(askFor(options.slice(0, 1))).toMatchObject({
      caution: { defaultToNo: true, noRemember: true, permanent: true },
    })
  })
  it('the ask for an ACP permission request has the questions of qwen', () => {
    const questions = [{ question: 'Which?', header: 'H', options: [{ label: 'A' }], multiSelect: true }]
    expect(askFor(options, { ...call, _meta: { qwenQuestions: questions } })).toMatchObject({
      kind: 'questions',
      questions: [{ id: '0', question: 'Which?', multiSelect: true, allowOther: true }],
    })
  })
})

it('the reply to an ACP form contains no values if the form was declined or interrupted, and leaves out empty fields', () => {
  const values = { name: 'x', note: '' }
  expect(formReply({ ...allowed, answer: { kind: 'submit', values } })).toEqual({
    action: 'accept',
    content: { name: 'x' },
  })
  expect(formReply(denied)).toEqual({ action: 'decline' })
  expect(formReply(null)).toEqual({ action: 'cancel' })
})

describe('a change of mode or model', () => {
  const modes = {
    currentModeId: 'a',
    availableModes: [
      { id: 'a', name: 'A' },
      { id: 'b', name: 'B' },
    ],
  }
  it('a mode of an ACP agent whose id is an address is named by the end of the address', () => {
    const idOf = (name: string) => `https://example.com/session-modes#${name}`
    const modes = {
      currentModeId: idOf('agent'),
      availableModes: ['agent', 'plan'].map(name => ({ id: idOf(name), name })),
    }
    expect(settingsOf({ modes })).toEqual({ mode: 'agent' })
    expect(changeRequests({ modes }, { mode: 'agent' }, 'Agent')).toEqual([])
    expect(changeRequests({ modes }, { mode: idOf('agent') }, 'Agent')).toEqual([])
    expect(settingsOf({ modes: { ...modes, currentModeId: 'a#b' } })).toEqual({ mode: 'a#b' })
    expect(changeRequests({ modes }, { mode: 'plan' }, 'Agent')).toEqual([{ kind: 'mode', modeId: idOf('plan') }])
  })

  it('a change of mode or model is sent as a mode, or as an option if the agent has no modes', () => {
    expect(changeRequests({ modes }, { mode: 'b' }, 'Agent')).toEqual([{ kind: 'mode', modeId: 'b' }])
    const option = {
      id: 'mode',
      name: 'Mode',
      category: 'mode',
      type: 'select',
      currentValue: 'a',
      options: [{ value: 'b', name: 'B' }],
    } as const
    expect(
      changeRequests({ configOptions: [{ ...option, options: [...option.options] }] }, { mode: 'b' }, 'Agent'),
    ).toEqual([{ kind: 'option', configId: 'mode', value: 'b' }])
  })
  it('a change of mode or model is refused with a reason if the agent has no such mode or model', () => {
    expect(changeRequests({ modes }, { mode: 'c' }, 'Agent')).toBe('Agent has no mode “c”')
    expect(changeRequests({ modes }, { model: 'm' }, 'Agent')).toBe(
      'Agent does not let other programs choose its model',
    )
  })
  it('a change of mode or model is refused for a mode in which the agent never asks', () => {
    expect(modeProblem(profileOf('gemini'), 'yolo')).toContain('does not ask in the mode “yolo”')
    expect(modeProblem(profileOf('gemini'), 'plan')).toBeNull()
  })
  it.each(['copilot', 'codex-acp'])(
    'a change of mode or model is refused for every mode of %s, because Holdpoint does not know in which modes it asks',
    name => {
      expect(modeProblem(profileOf(name), 'agent-full-access')).toContain('cannot be changed')
      expect(modeProblem(profileOf(name), undefined)).toBeNull()
    },
  )
  it('a change of mode or model accepts every mode of an agent from the configuration', () => {
    expect(modeProblem(customProfile('mine', ['mine']), 'fast')).toBeNull()
  })
})

it('the description of a command of Gemini does not repeat the folder of the command', () => {
  const said = (line: string) => {
    const call: KnownCall = { toolCallId: 'call', kind: 'execute', title: 'ls -l', content: [text(line)] }
    const gemini = profileOf('gemini')
    const ask = permissionAsk(call, describeCall(call, gemini, folder), [], gemini, folder)
    return ask.kind === 'approval' ? ask.description : ''
  }
  expect(said('[current working directory /srv/project] (list (all) files)')).toBe('list (all) files')
  expect(said('[current working directory /srv/project]')).toBeUndefined()
  expect(said('list files (all)')).toBe('list files (all)')
})

describe('a change of a file that the agent describes only in its input', () => {
  const change = (rawInput: object, title = 'write · /srv/project/a.txt') =>
    describedBy('goose', { kind: 'other', title, rawInput, _meta: goose('write', 'developer') })
  const path = '/srv/project/a.txt'

  it.each([
    [
      { path, content: 'x' },
      { file_path: path, content: 'x' },
    ],
    [
      { path, file_text: 'x' },
      { file_path: path, content: 'x' },
    ],
    [
      { path, before: 'x', after: 'y' },
      { file_path: path, old_string: 'x', new_string: 'y' },
    ],
    [
      { path, old_str: '', new_str: 'y' },
      { file_path: path, old_string: '', new_string: 'y' },
    ],
  ])('the ACP input %j is shown as the change %j', (rawInput, input) => {
    expect(change(rawInput)).toMatchObject({ input, title: `Change ${path}`, action: { write: [path] } })
  })
  it.each([
    [{ path, content: 'x', mode: '0755' }],
    [{ path, filePath: '/etc/passwd', content: 'x' }],
    [{ path, content: ['x'] }],
    [{ path, before: 'x' }],
  ])('the ACP input %j is shown as raw fields, so that nothing is left out', rawInput => {
    expect(change(rawInput).input).toEqual(rawInput)
  })
  it('a change of a file that the agent describes only in its input keeps the agent’s title if it contains more information', () => {
    expect(change({ path, content: 'x' }, 'Save the notes').title).toBe('Save the notes')
  })
})

describe('the log of tool calls', () => {
  const command: KnownCall = { toolCallId: 'call', kind: 'execute', rawInput: { command: 'ls' } }
  function openLog() {
    const outputs: AgentOutput[] = []
    const log = new ToolLog(profileOf('goose'), folder, async output => void outputs.push(output))
    const written = () =>
      outputs.flatMap(output => (output.type === 'events' ? output.events.map(({ type }) => type) : []))
    return { log, written }
  }

  it('the log of tool calls has one entry for a call that is denied and that the agent then reports as failed', async () => {
    const { log, written } = openLog()
    await log.update(command)
    await log.finish('call', false, 'denied')
    await log.change({ ...command, status: 'failed' })
    expect(written()).toEqual(['tool.started', 'tool.finished'])
  })
  it('the log of tool calls has another entry for a later call with the same id', async () => {
    const { log, written } = openLog()
    await log.update({ ...command, status: 'completed' })
    await log.update(command)
    await log.change({ ...command, status: 'completed' })
    expect(written()).toEqual(['tool.started', 'tool.finished', 'tool.started', 'tool.finished'])
  })
  it('the log of tool calls has no further entry for a call that the agent finishes after its turn', async () => {
    const { log, written } = openLog()
    await log.update(command)
    await log.finishOpen('not finished')
    await log.change({ ...command, status: 'completed' })
    expect(written()).toEqual(['tool.started', 'tool.finished'])
  })
})
