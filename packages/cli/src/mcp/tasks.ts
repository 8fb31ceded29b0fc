/**
 * The tasks of an MCP client. A client that asks for a task gets its id at once instead of waiting for the answer. The
 * client can then poll the task, fetch its result or cancel it, even after a restart of this process or of the gateway: a
 * file stores which request belongs to the task, and later the result of the task.
 */
import { randomUUID } from 'node:crypto'
import { unknownOutcome } from '@holdpoint/drivers'
import { type Call, type Clock, Fault, type JsonObject, type Request } from '@holdpoint/protocol'
import { type CallToolResult, ErrorCode, McpError, type Task } from '@modelcontextprotocol/sdk/types.js'
import { type CallRecords, hashOf, type TaskRecord } from './call-records.ts'
import type { ClientSession, WaitingClient } from './client-session.ts'
import { mcpTexts } from './texts.ts'
import { prepareCall } from './tools.ts'

interface TasksOptions {
  readonly session: ClientSession
  readonly records: CallRecords
  readonly connect: () => Promise<Call>
  readonly cwd: string
  readonly clock: Clock
}

interface TaskResult {
  readonly result: CallToolResult
  /** Reports that the client has received the result. Null if that was reported before. */
  readonly delivered: (() => Promise<void>) | null
}

/** A task is kept for this time, whatever time the client proposes, because a person may answer late. */
const taskTtlMs = 30 * 24 * 3600 * 1000
const pollIntervalMs = 2000

export class Tasks {
  readonly #options: TasksOptions

  constructor(options: TasksOptions) {
    this.#options = options
  }

  /** Opens the request of a call. An identical call whose result has not reached the client gets the same task. */
  async create(tool: string, input: JsonObject): Promise<Task> {
    const { session, records, cwd, clock } = this.#options
    const { ask } = prepareCall(tool, input, cwd)
    const call = hashOf([tool, input])
    const known = this.#openTask(call)
    if (known) {
      const task = await this.#describe(known)
      if (task.status !== 'cancelled') return task
      records.stopAsking(call, known.key)
    }
    const { opened, key } = await session.open(call, ask)
    const { id: request, session: sessionId } = opened.request
    const createdAt = clock.now()
    const task: TaskRecord = { id: randomUUID(), tool, input, ask, call, key, session: sessionId, request, createdAt }
    records.removeTasksBefore(createdAt - taskTtlMs)
    records.putTask(task)
    records.put(call, { key, state: 'asking', task: task.id })
    return this.#describe(task)
  }

  get(id: string): Promise<Task> {
    return this.#describe(this.#find(id))
  }

  /** Waits for the answer, and returns the result of the call. The result can be fetched again. */
  async result(id: string, client: WaitingClient): Promise<TaskResult> {
    const { session, records, cwd, clock } = this.#options
    const task = this.#find(id)
    const stored = resultOf(task)
    if (stored) return { result: stored, delivered: null }
    const answered = await session.answer(task, client)
    if (!answered) return { result: await this.#resultElsewhere(id), delivered: null }
    if (answered.handed.kind === 'agent') throw cancelled()
    const text = prepareCall(task.tool, task.input, cwd).reply(answered)
    const result: CallToolResult = { content: [{ type: 'text', text }] }
    records.putTask({ ...task, ending: { status: 'completed', result, at: clock.now() } })
    return { result, delivered: () => session.delivered(task.call, answered) }
  }

  /** Withdraws the request of a task. */
  async cancel(id: string): Promise<Task> {
    const { records, connect, clock } = this.#options
    const task = this.#find(id)
    const { status } = await this.#describe(task)
    if (status !== 'working') throw new McpError(ErrorCode.InvalidParams, mcpTexts.taskEnded(status))
    const call = await connect()
    await call('withdrawRequest', { id: task.request })
    records.stopAsking(task.call, task.key)
    const ended: TaskRecord = { ...task, ending: { status: 'cancelled', at: clock.now() } }
    records.putTask(ended)
    return this.#describe(ended)
  }

  #find(id: string): TaskRecord {
    const task = this.#options.records.task(id)
    if (!task) throw new McpError(ErrorCode.InvalidParams, mcpTexts.unknownTask(id))
    return task
  }
  #openTask(call: string): TaskRecord | null {
    const { records } = this.#options
    const record = records.find(call)
    return record?.state === 'asking' && record.task !== undefined ? records.task(record.task) : null
  }

  /** Returns the result of a task whose answer this call did not get. */
  async #resultElsewhere(id: string): Promise<CallToolResult> {
    const task = this.#find(id)
    const stored = resultOf(task)
    if (stored) return stored
    if ((await this.#describe(task)).status === 'cancelled') throw cancelled()
    return { content: [{ type: 'text', text: unknownOutcome }], isError: true }
  }

  async #describe(task: TaskRecord): Promise<Task> {
    const { status, at, statusMessage }: TaskState = task.ending ?? (await this.#lookUp(task))
    return {
      taskId: task.id,
      status,
      ttl: taskTtlMs,
      createdAt: new Date(task.createdAt).toISOString(),
      lastUpdatedAt: new Date(at ?? task.createdAt).toISOString(),
      pollInterval: pollIntervalMs,
      ...(statusMessage === undefined ? {} : { statusMessage }),
    }
  }

  async #lookUp({ request: id }: TaskRecord): Promise<TaskState> {
    try {
      const call = await this.#options.connect()
      return stateOf(await call('getRequest', { id }))
    } catch (error) {
      const isDeleted = error instanceof Fault && error.code === 'not_found'
      if (isDeleted) return { status: 'cancelled', statusMessage: mcpTexts.taskCancelled }
      // The gateway cannot be reached, but it keeps the request.
      return { status: 'working', statusMessage: mcpTexts.gatewayAway }
    }
  }
}

interface TaskState {
  readonly status: Task['status']
  readonly at?: number
  readonly statusMessage?: string
}

function stateOf({ resolution }: Request): TaskState {
  if (!resolution) return { status: 'working', statusMessage: mcpTexts.waiting }
  if (resolution.by !== 'agent') return { status: 'completed', at: resolution.at }
  return { status: 'cancelled', at: resolution.at, statusMessage: mcpTexts.taskCancelled }
}

function resultOf({ ending }: TaskRecord): CallToolResult | null {
  if (ending?.status === 'cancelled') throw cancelled()
  return ending?.result ?? null
}

function cancelled(): McpError {
  return new McpError(ErrorCode.InvalidParams, mcpTexts.taskCancelled)
}
