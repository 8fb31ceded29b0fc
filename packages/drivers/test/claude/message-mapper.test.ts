import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk'
import { describe, expect, it } from 'vitest'
import { MessageMapper } from '../../src/claude/cli/message-mapper.ts'

const message = (value: object) =>
  ({ parent_tool_use_id: null, uuid: 'u', session_id: 's', ...value }) as unknown as SDKMessage // the mapper reads no other fields
const event = (value: object) => message({ type: 'stream_event', event: value })
const text = (index: number, piece: string) =>
  event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: piece } })
const json = (index: number, piece: string) =>
  event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: piece } })
const begin = (index: number, block: object) => event({ type: 'content_block_start', index, content_block: block })

describe('MessageMapper', () => {
  it('MessageMapper gives streamed text and the finished message the same block id', () => {
    const mapper = new MessageMapper('/work')
    const events = [
      event({ type: 'message_start', message: { id: 'msg_1' } }),
      begin(0, { type: 'text' }),
      text(0, 'let '),
      text(0, 'me'),
      message({ type: 'assistant', message: { id: 'msg_1', content: [{ type: 'text', text: 'let me' }] } }),
      begin(1, { type: 'tool_use', id: 'toolu_1', name: 'Bash' }),
      json(1, '{"command":'),
      json(1, '"ls"}'),
      message({
        type: 'assistant',
        message: {
          id: 'msg_1',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }],
        },
      }),
    ].flatMap(one => mapper.toEvents(one))
    expect(events).toEqual([
      { type: 'message.delta', block: 'msg_1.0', offset: 0, text: 'let ' },
      { type: 'message.delta', block: 'msg_1.0', offset: 4, text: 'me' },
      { type: 'message.added', block: 'msg_1.0', text: 'let me' },
      { type: 'tool.delta', block: 'toolu_1', offset: 0, text: '{"command":', tool: 'Bash' },
      { type: 'tool.delta', block: 'toolu_1', offset: 11, text: '"ls"}', tool: 'Bash' },
      {
        ...{ type: 'tool.started', block: 'toolu_1', tool: 'Bash', input: { command: 'ls' } },
        action: { shell: 'ls', cwd: '/work' },
      },
    ])
  })

  it('MessageMapper adds the agent path to the result of a nested subagent', () => {
    const mapper = new MessageMapper('/work')
    const start = (id: string, description: string, parentCall: string | null) =>
      message({
        type: 'assistant',
        parent_tool_use_id: parentCall,
        message: { id: `msg_${id}`, content: [{ type: 'tool_use', id, name: 'Agent', input: { description } }] },
      })
    mapper.toEvents(start('toolu_a', 'search', null))
    mapper.toEvents(start('toolu_b', 'search deeper', 'toolu_a'))
    mapper.toEvents(message({ type: 'system', subtype: 'task_started', task_id: 'task_b', tool_use_id: 'toolu_b' }))
    expect(mapper.subagents.pathOfAgent('task_b')).toEqual(['search', 'search deeper'])
    const [result] = mapper.toEvents(
      message({
        type: 'user',
        parent_tool_use_id: 'toolu_b',
        message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_c', is_error: true, content: 'no' }] },
      }),
    )
    expect(result).toEqual({
      type: 'tool.finished',
      block: 'toolu_c',
      ok: false,
      output: 'no',
      agentPath: ['search', 'search deeper'],
    })
  })

  it('MessageMapper adds the exit code to the result of a command that failed', () => {
    const results = ['Exit code 3\nno such file', 'no such file'].map(content =>
      message({
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content }] },
      }),
    )
    const [failed, other] = results.flatMap(result => new MessageMapper('/work').toEvents(result))
    expect(failed).toMatchObject({ ok: false, exitCode: 3 })
    expect(other).not.toHaveProperty('exitCode')
  })

  it('MessageMapper leaves out an action that the gateway would refuse', () => {
    const tool = 'x'.repeat(300)
    const call = { type: 'tool_use', id: 'toolu_1', name: tool, input: {} }
    const [started] = new MessageMapper('/work').toEvents(
      message({ type: 'assistant', message: { id: 'msg_1', content: [call] } }),
    )
    expect(started).toMatchObject({ type: 'tool.started' })
    expect(started).not.toHaveProperty('action')
  })

  it('MessageMapper reports with each call what the turn has used so far, with cached tokens, and starts again after the turn', () => {
    const mapper = new MessageMapper('/work')
    const assistant = (id: string, call: string, read: number) =>
      message({
        type: 'assistant',
        message: {
          id,
          content: [{ type: 'tool_use', id: call, name: 'Bash', input: {} }],
          usage: { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: read, cache_creation_input_tokens: 10 },
        },
      })
    const usageOf = (sent: SDKMessage) => mapper.toEvents(sent)[0]
    expect(usageOf(assistant('msg_1', 'a', 100))).toEqual({
      type: 'session.changed',
      turnUsage: { inputTokens: 111, outputTokens: 2 },
    })
    // The CLI sends another block of the same message.
    expect(usageOf(assistant('msg_1', 'b', 100))).toMatchObject({ turnUsage: { inputTokens: 111, outputTokens: 2 } })
    expect(usageOf(assistant('msg_2', 'c', 0))).toMatchObject({ turnUsage: { inputTokens: 122, outputTokens: 4 } })
    mapper.toEvents(message({ type: 'result' }))
    expect(usageOf(assistant('msg_3', 'd', 0))).toMatchObject({ turnUsage: { inputTokens: 11, outputTokens: 2 } })
  })

  it('MessageMapper converts a rate limit event to an error with the time when the limit resets', () => {
    const limit = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1_800_000_000 } }
    expect(new MessageMapper('/work').toEvents(message(limit))).toMatchObject([
      { type: 'error.raised', code: 'rate_limit', message: expect.stringContaining('2027') },
    ])
  })
})
