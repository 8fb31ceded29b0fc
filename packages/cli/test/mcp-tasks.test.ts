/** Tasks of `holdpoint mcp` with the client of the MCP SDK: polling, results, cancelling, and restarts of every process. */
import { CallToolResultSchema, CreateTaskResultSchema, type Task } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { closeGateways, type GatewayProcess, startGateway } from '../../../test/support/gateway.ts'
import {
  answerPending,
  closeMcpConnections,
  connectMcp,
  type McpConnection,
  onlyPending,
  textOf,
} from './support/mcp-client.ts'
import { McpHttpProcess } from './support/mcp-http.ts'

describe('a task of holdpoint mcp', () => {
  let gateway: GatewayProcess
  beforeAll(async () => {
    gateway = await startGateway({ runner: 'none' })
  })
  afterEach(closeMcpConnections)
  afterAll(closeGateways)

  const deploy = { tool_name: 'Bash', input: { command: 'make deploy' } }
  const create = async ({ client }: McpConnection, args: object = deploy): Promise<Task> => {
    const params = { name: 'request_approval', arguments: { ...args }, task: { ttl: 60_000 } }
    return (await client.request({ method: 'tools/call', params }, CreateTaskResultSchema)).task
  }
  const statusOf = async ({ client }: McpConnection, { taskId }: Task) =>
    (await client.experimental.tasks.getTask(taskId)).status
  const resultOf = ({ client }: McpConnection, { taskId }: Task) =>
    client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)

  it('an MCP task is returned at once, and has the answer as its result, which can be fetched again', async () => {
    const connection = await connectMcp(gateway)
    const task = await create(connection)
    expect(task).toMatchObject({ status: 'working', statusMessage: 'Waiting for a person to answer' })
    const request = await answerPending(gateway, { kind: 'allow' })
    expect(await statusOf(connection, task)).toBe('completed')
    const result = await resultOf(connection, task)
    expect(JSON.parse(textOf(result))).toEqual({ behavior: 'allow', updatedInput: deploy.input })
    await expect.poll(async () => (await gateway.call('getRequest', { id: request.id })).delivery.state).toBe('taken')
    expect(await resultOf(connection, task)).toEqual(result)
    expect((await create(connection)).taskId, 'an identical call is a new one now').not.toBe(task.taskId)
    await gateway.call('withdrawRequest', { id: (await onlyPending(gateway)).id })
  })

  it('an MCP task can be followed with the client of the MCP SDK from its creation to its result', async () => {
    const { client } = await connectMcp(gateway)
    await client.listTools()
    const params = { name: 'ask_person', arguments: { question: 'Which port?' } }
    const types: string[] = []
    const answers = [{ id: 'answer', chosen: [], other: '8080' }]
    for await (const message of client.experimental.tasks.callToolStream(params)) {
      types.push(message.type)
      if (message.type === 'taskCreated') await answerPending(gateway, { kind: 'answers', answers })
      if (message.type === 'result') expect(message.result).toMatchObject({ content: [{ text: '8080' }] })
    }
    expect(types).toEqual(['taskCreated', 'taskStatus', 'result'])
  })

  it('an MCP task survives a restart of the gateway and of holdpoint mcp, and its result waits for the answer', async () => {
    const lost = await connectMcp(gateway)
    const task = await create(lost)
    const { id } = await onlyPending(gateway)
    process.kill(lost.pid, 'SIGKILL')
    await gateway.stop()
    const back = await connectMcp(gateway)
    expect(await back.client.experimental.tasks.getTask(task.taskId)).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining('gateway cannot be reached'),
    })
    await gateway.start()
    const fetching = resultOf(back, task)
    expect((await answerPending(gateway, { kind: 'deny', reason: 'not today' })).id).toBe(id)
    expect(JSON.parse(textOf(await fetching))).toEqual({ behavior: 'deny', message: 'not today' })
  })

  it('an MCP call that is repeated gets the same task, and a call without a task attaches to the request of that task', async () => {
    const connection = await connectMcp(gateway)
    const task = await create(connection)
    expect(await create(await connectMcp(gateway))).toEqual(task)
    const held = connection.call('request_approval', deploy)
    const { id } = await onlyPending(gateway)
    await answerPending(gateway, { kind: 'deny' })
    expect(JSON.parse(textOf(await held))).toMatchObject({ behavior: 'deny' })
    expect((await gateway.call('getRequest', { id })).status).toBe('resolved')
    expect(await statusOf(connection, task)).toBe('completed')
  })

  it('an MCP task withdraws its request when the client cancels it, and then has no result', async () => {
    const connection = await connectMcp(gateway)
    const task = await create(connection)
    const { id } = await onlyPending(gateway)
    const tasks = connection.client.experimental.tasks
    expect(await tasks.cancelTask(task.taskId)).toMatchObject({ taskId: task.taskId, status: 'cancelled' })
    expect(await gateway.call('getRequest', { id })).toMatchObject({ resolution: { by: 'agent' } })
    expect(await statusOf(connection, task)).toBe('cancelled')
    await expect(resultOf(connection, task)).rejects.toThrow('was canceled')
    await expect(tasks.cancelTask(task.taskId)).rejects.toThrow('can no longer be canceled')
  })

  it('an MCP task is refused if its arguments are invalid, and an unknown task is reported with its id', async () => {
    const connection = await connectMcp(gateway)
    await expect(create(connection, { tool_name: 7 })).rejects.toThrow('The arguments are not valid')
    for (const id of ['../session', crypto.randomUUID()])
      await expect(connection.client.experimental.tasks.getTask(id)).rejects.toThrow(`There is no task ${id}`)
  })

  it('an MCP task ends with the status “cancelled” if a person ends the session', async () => {
    const connection = await connectMcp(gateway, { name: 'ended' })
    const task = await create(connection)
    const { session } = await onlyPending(gateway)
    await gateway.call('detachSession', { id: session, ending: { reason: 'stopped' } })
    expect(await statusOf(connection, task)).toBe('cancelled')
    await expect(resultOf(connection, task)).rejects.toThrow('was canceled')
    const next = await create(connection)
    expect(next.taskId).not.toBe(task.taskId)
    await gateway.call('withdrawRequest', { id: (await onlyPending(gateway)).id })
  })

  it('an MCP task is found over HTTP by a client that connects again after a restart of the server', async () => {
    const server = new McpHttpProcess(gateway)
    await server.start()
    const task = await create(await server.connect({ name: 'remote' }))
    await server.end('SIGKILL')
    await server.start()
    const back = await server.connect({ name: 'remote' })
    await answerPending(gateway, { kind: 'allow' })
    expect(await statusOf(back, task)).toBe('completed')
    expect(JSON.parse(textOf(await resultOf(back, task)))).toMatchObject({ behavior: 'allow' })
    await server.end('SIGTERM')
  })
})
