/** Tests the scripted model, called in every dialect as an agent would call it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ask, createSignal, refuse, say, shell, waitFor } from './script.ts'
import { ModelServer } from './server.ts'

interface Wire {
  readonly path: string
  /** Returns the body of a request with one message of the person. */
  body(text: string, tool: string | null): object
  /** Returns the body of the request that follows a call of the shell. */
  bodyWithResult(text: string, tool: string, id: string, result: string): object
}

const wires: Readonly<Record<string, Wire>> = {
  'openai-responses': {
    path: '/v1/responses',
    body: (text, tool) => ({
      model: 'm',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }],
      tools: tool === null ? [] : [{ type: 'function', name: tool }],
    }),
    bodyWithResult: (text, tool, id, result) => ({
      model: 'm',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
        { type: 'function_call', call_id: id, name: tool, arguments: '{}' },
        { type: 'function_call_output', call_id: id, output: result },
      ],
      tools: [{ type: 'function', name: tool }],
    }),
  },
  'openai-chat': {
    path: '/v1/chat/completions',
    body: (text, tool) => ({
      model: 'm',
      stream: true,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: text },
      ],
      tools: tool === null ? [] : [{ type: 'function', function: { name: tool } }],
    }),
    bodyWithResult: (text, tool, id, result) => ({
      model: 'm',
      stream: true,
      messages: [
        { role: 'user', content: text },
        { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: tool, arguments: '{}' } }] },
        { role: 'tool', tool_call_id: id, content: result },
      ],
      tools: [{ type: 'function', function: { name: tool } }],
    }),
  },
  gemini: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: (text, tool) => ({
      contents: [{ role: 'user', parts: [{ text }] }],
      tools: tool === null ? [] : [{ functionDeclarations: [{ name: tool }] }],
    }),
    bodyWithResult: (text, tool, id, result) => ({
      contents: [
        { role: 'user', parts: [{ text }] },
        { role: 'model', parts: [{ functionCall: { id, name: tool, args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { id, name: tool, response: { output: result } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: tool }] }],
    }),
  },
  anthropic: {
    path: '/v1/messages?beta=true',
    body: (text, tool) => ({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: text }],
      tools: tool === null ? [] : [{ name: tool }],
    }),
    bodyWithResult: (text, tool, id, result) => ({
      model: 'm',
      stream: true,
      messages: [
        { role: 'user', content: [{ type: 'text', text }] },
        { role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: result }] }],
        },
      ],
      tools: [{ name: tool }],
    }),
  },
}

let model: ModelServer
beforeEach(async () => {
  model = await ModelServer.start()
})
afterEach(() => model.close().catch(() => {}))

const post = (path: string, body: object, signal?: AbortSignal) =>
  fetch(model.url + path, { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) })

describe.each(Object.entries(wires))('the scripted model in the dialect %s', (dialect, wire) => {
  const tool =
    { 'openai-responses': 'exec_command', 'openai-chat': 'bash', gemini: 'run_shell_command' }[dialect] ?? 'Bash'

  it(`the scripted model in the dialect ${dialect} follows a script through a tool call to its end`, async () => {
    model.script('clean up', shell('rm *.tmp', 'call_1'), say('all clean'))
    const first = await (await post(wire.path, wire.body('Please clean up.', tool))).text()
    const second = await (
      await post(wire.path, wire.bodyWithResult('Please clean up.', tool, 'call_1', '3 gone'))
    ).text()

    expect(first).toContain('rm *.tmp')
    expect(first).toContain('call_1')
    expect(second).toMatch(/"all /)
    expect(model.calls.map(({ dialect, marker, round }) => ({ dialect, marker, round }))).toEqual([
      { dialect, marker: 'clean up', round: 0 },
      { dialect, marker: 'clean up', round: 1 },
    ])
    expect(model.toolResult('call_1')).toContain('3 gone')
    expect(model.hasRead('3 gone')).toBe(true)
  })

  it(`the scripted model in the dialect ${dialect} replies with a short text to requests that offer no shell tool`, async () => {
    model.script('clean up', shell('rm *.tmp'))
    const reply = await (await post(wire.path, wire.body('A title for: Please clean up.', null))).text()

    expect(reply).toContain('title')
    expect(reply).not.toContain('rm *.tmp')
    expect([model.calls.length, model.sideCalls.length]).toEqual([0, 1])
  })

  it(`the scripted model in the dialect ${dialect} notices that the agent closes the connection`, async () => {
    model.script('clean up', [say('just a moment'), waitFor(createSignal().fired)])
    const abort = new AbortController()
    const response = await post(wire.path, wire.body('Please clean up.', tool), abort.signal)
    const { outcome } = await model.waitForCall(({ marker }) => marker === 'clean up')
    expect(response.status).toBe(200)
    abort.abort()

    expect(await outcome).toBe('aborted')
  })

  it(`the scripted model in the dialect ${dialect} refuses a request with a status and a message`, async () => {
    model.script('clean up', refuse(429, 'slow down'))
    const response = await post(wire.path, wire.body('Please clean up.', tool))

    expect([response.status, await response.text()]).toEqual([429, expect.stringContaining('slow down')])
  })
})

const chat = wires['openai-chat'] as Wire // the table above has it

it('the last marker in a message selects the script of the model, because agents merge messages', async () => {
  model.script('first job', say('first'))
  model.script('second job', say('second'))
  const reply = await (await post(chat.path, chat.body('Do the first job.\n\nNo, do the second job.', 'bash'))).text()

  expect(reply).toContain('second')
})

it('a message that the agent itself adds after a turn selects no script of the model', async () => {
  model.script('clean up', shell('rm *.tmp'))
  const messages = [
    { role: 'user', content: 'Please clean up.' },
    { role: 'assistant', content: 'all clean' },
    { role: 'user', content: 'Now write memories.' },
  ]
  const reply = await (await post(chat.path, { ...chat.body('', 'bash'), messages })).text()

  expect(reply).not.toContain('rm *.tmp')
  expect([model.calls.length, model.sideCalls.length]).toEqual([0, 1])
})

it('a script of the model can compute its reply from the request', async () => {
  model.script('clean up', shell('ls', 'call_1'), ({ messages }) => say(`${messages.length} messages`))
  await (await post(chat.path, chat.body('Please clean up.', 'bash'))).text()
  const reply = await (await post(chat.path, chat.bodyWithResult('Please clean up.', 'bash', 'call_1', 'a'))).text()

  expect(reply).toContain('"3 "')
})

it('closing the scripted model fails if a script needed a tool that the agent does not offer', async () => {
  model.script('ask me', ask([{ question: 'Which?', header: 'Which', options: ['A', 'B'] }]))
  await post(chat.path, chat.body('Please ask me.', 'bash'))
    .then(response => response.text())
    .catch(() => {})

  await expect(model.close()).rejects.toThrow('the agent offers no tool to ask, only bash')
})
