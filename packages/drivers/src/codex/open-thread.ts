/** Starts a conversation of Codex, or continues one. */
import { messageOf } from '@holdpoint/protocol'
import { z } from 'zod'
import { codexLog } from './messages.ts'
import { type CodexMode, modeSettings, startProfile } from './modes.ts'
import type { ProgressFile } from './progress.ts'
import type { RpcClient } from './rpc-client.ts'
import { type CodexTurn, ThreadReply } from './wire.ts'

export interface ThreadOptions {
  readonly cwd: string
  readonly mode: CodexMode
  readonly model: string | null
  /** The conversation to continue, or null to start one. */
  readonly threadId: string | null
  /** Whether the server has the settings already, because it has run the conversation before. */
  readonly hasSettings: boolean
}
export interface OpenedThread {
  readonly id: string
  /** The model in use, even if the person has not chosen one. */
  readonly model: string
  /** The last turn, or null if there is none yet. */
  readonly lastTurn: CodexTurn | null
}

const anyReply = z.unknown()

export async function openThread(
  rpc: RpcClient,
  options: ThreadOptions,
  progress: ProgressFile,
): Promise<OpenedThread> {
  const { threadId, hasSettings, mode, model } = options
  const opened = threadId === null ? await start(rpc, options) : await resume(rpc, threadId, options, progress)
  if (opened.id !== threadId) progress.update({ startedThread: opened.id })
  if (!hasSettings) {
    const settings = { ...modeSettings(mode), ...(model === null ? {} : { model }) }
    await rpc.request('thread/settings/update', { threadId: opened.id, ...settings }, anyReply)
  }
  return opened
}

function overrides({ cwd, mode, model }: ThreadOptions): object {
  const { approvalPolicy, approvalsReviewer } = modeSettings(mode)
  return { cwd, approvalPolicy, approvalsReviewer, permissions: startProfile, ...(model === null ? {} : { model }) }
}

async function start(rpc: RpcClient, options: ThreadOptions): Promise<OpenedThread> {
  const { thread, model } = await rpc.request('thread/start', overrides(options), ThreadReply)
  return { id: thread.id, model, lastTurn: null }
}

async function resume(
  rpc: RpcClient,
  threadId: string,
  options: ThreadOptions,
  { current }: ProgressFile,
): Promise<OpenedThread> {
  try {
    const page = { excludeTurns: true, initialTurnsPage: { limit: 1, itemsView: 'full' } }
    const settings = options.hasSettings ? {} : overrides(options)
    const reply = await rpc.request('thread/resume', { threadId, ...page, ...settings }, ThreadReply)
    return { id: threadId, model: reply.model, lastTurn: reply.initialTurnsPage?.data[0] ?? null }
  } catch (error) {
    // Codex stores a conversation with its first message. There is nothing to continue before that.
    if (threadId === current.startedThread && current.receivedMessage === undefined) return start(rpc, options)
    throw new Error(codexLog.noConversation(threadId, messageOf(error)))
  }
}
