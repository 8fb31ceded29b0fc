/** `holdpoint mcp` with the client of the MCP SDK: questions, approvals, lost connections and a gateway that restarts. */
import { rmSync, writeFileSync } from 'node:fs'
import { processStartTime } from '@holdpoint/drivers'
import type { SessionId } from '@holdpoint/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, makeFolder, startGateway } from '../../../test/support/gateway.ts'
import { TerminalFolder } from '../src/hooks/terminal-folder.ts'
import { answerPending, closeMcpConnections, connectMcp, onlyPending, textOf } from './support/mcp-client.ts'

describe('holdpoint mcp', () => {
  let gateway: GatewayProcess
  beforeAll(async () => {
    gateway = await startGateway({ runner: 'none' })
  })
  afterEach(closeMcpConnections)
  afterAll(closeGateways)
  const deliveryOf = async (id: Parameters<typeof gateway.call<'getRequest'>>[1]['id']) =>
    (await gateway.call('getRequest', { id })).delivery.state

  it('holdpoint mcp offers the tools ask_person, request_approval and set_variable', async () => {
    const { client } = await connectMcp(gateway)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['ask_person', 'request_approval', 'set_variable'])
    expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['question'] })
  })

  it('holdpoint mcp sets a variable that a file declares as the agent’s without asking anybody, and says why another variable cannot be set', async () => {
    const vars = { task: { default: '', setBy: 'agent' }, tested: false }
    writeFileSync(gateway.home.rulesFile, JSON.stringify({ vars }))
    const { call } = await connectMcp(gateway, { cwd: makeFolder(gateway, 'variables') })
    expect(textOf(await call('set_variable', { name: 'task', value: '#12' }))).toBe('task is now "#12".')
    const { items } = await gateway.call('listSessions', { q: 'variables' })
    const { items: variables } = await gateway.call('listVariables', { id: items[0]?.id as SessionId }) // the session of this client
    expect(variables.map(({ name, value }) => [name, value])).toEqual([
      ['task', '#12'],
      ['tested', false],
    ])
    expect(textOf(await call('set_variable', { name: 'tested', value: true }))).toContain('tested was not set: ')
    expect(textOf(await call('set_variable', { name: 'Task!', value: 1 }))).toContain('The arguments are not valid')
    rmSync(gateway.home.rulesFile)
  })

  it('holdpoint mcp that an agent in a terminal has started sets the variable in the session of that terminal', async () => {
    writeFileSync(gateway.home.rulesFile, JSON.stringify({ vars: { task: { default: '', setBy: 'agent' } } }))
    const session = await gateway.call('startSession', { driver: 'external', cwd: gateway.folder })
    const agent = { pid: process.pid, started: processStartTime(process.pid) }
    const terminal = TerminalFolder.of(gateway.home, 'conversation', agent)
    terminal.write({ session, process: agent })
    const { call } = await connectMcp(gateway, { cwd: makeFolder(gateway, 'own') })
    expect(textOf(await call('set_variable', { name: 'task', value: '#12' }))).toBe('task is now "#12".')
    const { items } = await gateway.call('listVariables', { id: session.id })
    expect(items).toMatchObject([{ name: 'task', value: '#12' }])
    rmSync(terminal.path, { recursive: true })
    rmSync(gateway.home.rulesFile)
  })

  it('holdpoint mcp asks a person a question with options, and returns the chosen options and the person’s own words', async () => {
    const { call } = await connectMcp(gateway)
    const asking = call('ask_person', {
      question: 'Which databases?',
      header: 'Database',
      options: [{ label: 'PostgreSQL', description: 'a server' }, { label: 'SQLite' }],
      multiple: true,
    })
    const request = await onlyPending(gateway)
    expect(request.ask).toMatchObject({
      kind: 'questions',
      questions: [{ header: 'Database', question: 'Which databases?', multiSelect: true, allowOther: true }],
    })
    expect(await gateway.call('getSession', { id: request.session })).toMatchObject({
      title: expect.stringContaining('tester'),
      cwd: gateway.folder,
    })
    const answers = [{ id: 'answer', chosen: ['PostgreSQL', 'SQLite'], other: 'and a file' }]
    await answerPending(gateway, { kind: 'answers', answers })
    expect(textOf(await asking)).toBe('PostgreSQL\nSQLite\nand a file')
    await expect.poll(() => deliveryOf(request.id)).toBe('taken')
    await expect.poll(async () => (await gateway.call('getSession', { id: request.session })).state).toBe('idle')
  })

  it('holdpoint mcp says in words that a person declined to answer', async () => {
    const { call } = await connectMcp(gateway)
    const asking = call('ask_person', { question: 'Which one?' })
    await answerPending(gateway, { kind: 'decline', reason: 'ask me tomorrow' })
    expect(textOf(await asking)).toBe('A person declined to answer: ask me tomorrow')
  })

  it('holdpoint mcp returns the decision about a call: allowed, edited, and denied with the reason', async () => {
    const { call } = await connectMcp(gateway)
    const approve = (command: string) => call('request_approval', { tool_name: 'Bash', input: { command } })
    const allowed = approve('make all')
    const request = await answerPending(gateway, { kind: 'allow' })
    expect(request.ask).toMatchObject({ tool: 'Bash', action: { shell: 'make all', cwd: gateway.folder } })
    expect(JSON.parse(textOf(await allowed))).toEqual({ behavior: 'allow', updatedInput: { command: 'make all' } })
    const edited = approve('make install')
    await answerPending(gateway, { kind: 'allow', input: { command: 'make check' } })
    expect(JSON.parse(textOf(await edited))).toEqual({ behavior: 'allow', updatedInput: { command: 'make check' } })
    const denied = approve('make clean')
    await answerPending(gateway, { kind: 'deny', reason: 'keep the cache' })
    expect(JSON.parse(textOf(await denied))).toEqual({ behavior: 'deny', message: 'keep the cache' })
  })

  it('holdpoint mcp asks again for an identical call whose answer has arrived', async () => {
    const { call } = await connectMcp(gateway)
    const approve = () => call('request_approval', { tool_name: 'Bash', input: { command: 'date' } })
    const first = approve()
    const before = await answerPending(gateway, { kind: 'allow' })
    await first
    const second = approve()
    const after = await answerPending(gateway, { kind: 'deny', reason: 'once is enough' })
    expect(after.id).not.toBe(before.id)
    expect(JSON.parse(textOf(await second))).toMatchObject({ behavior: 'deny' })
  })

  it('holdpoint mcp turns a call of AskUserQuestion into questions, as Claude Code asks them', async () => {
    const { call } = await connectMcp(gateway)
    const questions = [{ question: 'Tabs?', header: 'Style', multiSelect: false, options: [{ label: 'Yes' }] }]
    const asking = call('request_approval', { tool_name: 'AskUserQuestion', input: { questions } })
    const answers = [{ id: 'q1', chosen: ['Yes'] }]
    expect((await answerPending(gateway, { kind: 'answers', answers })).ask.kind).toBe('questions')
    expect(JSON.parse(textOf(await asking))).toEqual({
      behavior: 'allow',
      updatedInput: { questions, answers: { 'Tabs?': 'Yes' } },
    })
  })

  it('holdpoint mcp keeps the request of a client that disconnects, and gives its answer to the same client when it asks again', async () => {
    const args = { tool_name: 'Bash', input: { command: 'make deploy' } }
    const cwd = makeFolder(gateway, 'project')
    const lost = await connectMcp(gateway, { cwd })
    lost.call('request_approval', args).catch(() => {})
    const request = await onlyPending(gateway)
    await lost.close()
    expect((await gateway.call('getRequest', { id: request.id })).status).toBe('pending')
    const back = await connectMcp(gateway, { cwd })
    const asking = back.call('request_approval', args)
    await answerPending(gateway, { kind: 'allow' })
    expect(JSON.parse(textOf(await asking))).toMatchObject({ behavior: 'allow' })
    await expect.poll(() => deliveryOf(request.id)).toBe('taken')
  })

  it('holdpoint mcp gives an answer that arrived while the client was disconnected to the same client when it asks again', async () => {
    const args = { question: 'Ship it?' }
    const lost = await connectMcp(gateway)
    lost.call('ask_person', args).catch(() => {})
    await onlyPending(gateway)
    await lost.close()
    await answerPending(gateway, { kind: 'answers', answers: [{ id: 'answer', chosen: [], other: 'yes' }] })
    const back = await connectMcp(gateway)
    expect(textOf(await back.call('ask_person', args))).toBe('yes')
  })

  it('holdpoint mcp withdraws the request of a call that the client cancels, and keeps the request of a call that timed out', async () => {
    const { client, call } = await connectMcp(gateway)
    const cancel = new AbortController()
    const args = { question: 'Now?' }
    client.callTool({ name: 'ask_person', arguments: args }, undefined, { signal: cancel.signal }).catch(() => {})
    const cancelled = await onlyPending(gateway)
    cancel.abort('the person pressed escape')
    await expect.poll(async () => (await gateway.call('getRequest', { id: cancelled.id })).status).toBe('resolved')
    const late = client.callTool({ name: 'ask_person', arguments: args }, undefined, { timeout: 2000 })
    await expect(late).rejects.toThrow('timed out')
    const kept = await onlyPending(gateway)
    const asking = call('ask_person', args)
    const answers = [{ id: 'answer', chosen: [], other: 'now' }]
    expect((await answerPending(gateway, { kind: 'answers', answers })).id).toBe(kept.id)
    expect(textOf(await asking)).toBe('now')
  })

  it('holdpoint mcp waits for a gateway that is killed and restarted, and returns the answer', async () => {
    const { call } = await connectMcp(gateway)
    const asking = call('request_approval', { tool_name: 'Bash', input: { command: 'uptime' } })
    await onlyPending(gateway)
    await gateway.kill()
    await gateway.start()
    await answerPending(gateway, { kind: 'allow' })
    expect(JSON.parse(textOf(await asking))).toMatchObject({ behavior: 'allow' })
  })

  it('holdpoint mcp starts a new session if a person has ended the session', async () => {
    const { call } = await connectMcp(gateway, { name: 'ended' })
    const first = call('ask_person', { question: 'One?' })
    const request = await onlyPending(gateway)
    await gateway.call('detachSession', { id: request.session, ending: { reason: 'stopped' } })
    await first
    const second = call('ask_person', { question: 'Two?' })
    const answers = [{ id: 'answer', chosen: [], other: 'two' }]
    expect((await answerPending(gateway, { kind: 'answers', answers })).session).not.toBe(request.session)
    expect(textOf(await second)).toBe('two')
  })

  it('holdpoint mcp says that nobody could be asked if no gateway runs, and allows nothing', async () => {
    const stopped = await startGateway({ runner: 'none' })
    await stopped.stop()
    const { call } = await connectMcp(stopped)
    const result = await call('request_approval', { tool_name: 'Bash', input: { command: 'date' } })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('Nobody could be asked, so nothing is allowed')
    expect(textOf(result)).toContain('holdpoint up')
    expect(textOf(result)).not.toContain('"allow"')
  })

  it('holdpoint mcp describes what is wrong with the arguments of a call', async () => {
    const { call } = await connectMcp(gateway)
    const result = await call('ask_person', { question: 7 })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('question')
  })
})
