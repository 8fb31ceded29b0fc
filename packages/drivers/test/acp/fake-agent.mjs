/** An agent that speaks the Agent Client Protocol, for tests of failures. It does what the text of the message says. Its arguments are the behaviors that it does not have, or has in addition. */
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const flags = process.argv.slice(2)
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const say = text =>
  send({
    method: 'session/update',
    params: {
      sessionId: 'conversation',
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    },
  })
/** The id of the prompt that runs. */
let prompt = null
const endTurn = (stopReason = 'end_turn') => {
  send({ id: prompt, result: { stopReason } })
  prompt = null
}
const ask = () =>
  send({
    id: 'ask',
    method: 'session/request_permission',
    params: {
      sessionId: 'conversation',
      toolCall: { toolCallId: 'call', title: 'touch x', kind: 'execute', rawInput: { command: 'touch x' } },
      options: [
        { optionId: 'yes', name: 'Yes', kind: flags.includes('always-only') ? 'allow_always' : 'allow_once' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ],
    },
  })

/** Starts a process in a session of its own that keeps the standard error open. */
function startServer(env) {
  const server = spawn('sleep', ['1000'], { detached: true, stdio: ['ignore', 'ignore', 'inherit'], env })
  say(`server ${server.pid}`)
  return new Promise(resolve => server.once('spawn', resolve))
}

const commands = {
  'crash with a server': () => startServer(process.env).then(() => process.exit(1)),
  'crash with a foreign server': () => startServer({ PATH: process.env.PATH }).then(() => process.exit(1)),
  'close the output': () => closeSync(1),
  'close the output while asking': () => {
    ask()
    closeSync(1)
  },
  ask: ask,
}

const modes = {
  currentModeId: 'asks',
  availableModes: [
    { id: 'asks', name: 'Asks' },
    { id: 'never asks', name: 'Never asks' },
  ],
}
const replies = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: !flags.includes('no-load'),
      promptCapabilities: { image: flags.includes('images') },
    },
  }),
  'session/new': () => ({ sessionId: 'conversation', modes }),
  'session/load': () =>
    flags.includes('forget') ? { error: { code: -32002, message: 'Resource not found' } } : { modes },
  'session/set_mode': ({ modeId }) => {
    modes.currentModeId = modeId
    return {}
  },
}

const reply = (id, { error, ...result }) => send({ id, ...(error ? { error } : { result }) })

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params, result } = JSON.parse(line)
  if (method === 'session/prompt') {
    prompt = id
    const text = params.prompt.at(-1).text
    const command = commands[text]
    if (command) return command()
    say(`in mode ${modes.currentModeId} got ${params.prompt.map(({ type }) => type).join(' ')}: ${text}`)
    return endTurn()
  }
  if (method === 'session/cancel') return prompt === null ? undefined : endTurn('cancelled')
  if (method === undefined && id === 'ask') {
    say(`answered ${result.outcome.optionId ?? result.outcome.outcome}`)
    return endTurn()
  }
  if (id !== undefined && replies[method]) reply(id, replies[method](params))
})
