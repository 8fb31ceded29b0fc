/** The driver for Codex: checks whether Codex can run on this machine, and runs its sessions, each with an app-server of its own. */
import { join } from 'node:path'
import { type Capability, type Clock, Fault, type Session, type SessionId } from '@holdpoint/protocol'
import { z } from 'zod'
import { agentEnvironment } from '../agent-environment.ts'
import { removeDeletedSessions } from '../deleted-sessions.ts'
import type { Driver } from '../driver.ts'
import { infoOf } from '../installed-agent.ts'
import { runSession } from '../session/session-loop.ts'
import { codexHint, findCodex } from './installation.ts'
import { endLeftServers } from './left-servers.ts'
import { codexSettings } from './messages.ts'
import { codexModes } from './modes.ts'
import { CodexProtocol } from './protocol.ts'

export interface CodexOptions {
  /** Folder for the sockets and the state of the sessions. */
  readonly folder: string
  /** The `codex` executable. The default is HOLDPOINT_CODEX, then `codex` on the PATH. */
  readonly executable?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  /** Holdpoint's data folder. Commands that Codex runs in its sandbox, many of them without a question, cannot read it. */
  readonly protectedFolder?: string
  /** How long a session may be idle before it is parked. The session option with the same name overrides this value. */
  readonly idleParkMs?: number
}

const capabilities: readonly Capability[] = [
  'approvals',
  'questions',
  'forms',
  'concurrentRequests',
  'denyAndContinue',
  'note',
  'resumable',
  'sharedTerminal',
  'messages',
  'attachments',
  'interrupt',
]

export function codexDriver(options: CodexOptions): Driver {
  const { folder, clock, idleParkMs } = options
  const env = options.env ?? process.env
  const find = () => findCodex(env, options.executable)
  const running = new Set<SessionId>()
  return {
    async info() {
      const driver = { name: 'codex', title: 'Codex', modes: [...codexModes], capabilities: [...capabilities] }
      return infoOf(driver, find(), executable => codexHint(executable, agentEnvironment(env)))
    },
    async run(session) {
      const { info } = session
      const codex = find()
      if ('missing' in codex) throw new Error(codex.missing)
      const { allowFullAccess = false } = parseOptions(info)
      const protocol = new CodexProtocol({
        ...{ info, executable: codex.executable, env: agentEnvironment(env) },
        folder: join(folder, info.id),
        protectedFolder: options.protectedFolder,
        mayHaveFullAccess: allowFullAccess || info.mode === 'full-access',
      })
      running.add(info.id)
      const limits = { ...(clock ? { clock } : {}), ...(idleParkMs === undefined ? {} : { idleParkMs }) }
      await runSession(session, protocol, limits).finally(() => running.delete(info.id))
    },
    endLeftProcesses: async runner => {
      await Promise.all([endLeftServers(folder, id => running.has(id), runner), removeDeletedSessions(folder, runner)])
    },
  }
}

const Options = {
  /** Allows the session to change to the mode that never asks. */
  allowFullAccess: z.boolean(codexSettings.notBoolean).optional(),
  idleParkMs: z.int(codexSettings.notMilliseconds).min(0, codexSettings.notMilliseconds).optional(),
}

/** Unknown and invalid options are errors, because a person would otherwise believe that they apply. */
function parseOptions({ options }: Session): { readonly allowFullAccess?: boolean | undefined } {
  const parsed = z.strictObject(Options).safeParse(options)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const isUnknown = issue?.code === 'unrecognized_keys'
  const name = isUnknown ? issue.keys[0] : issue?.path.join('.')
  const problem = isUnknown ? codexSettings.unknownOption(Object.keys(Options)) : (issue?.message ?? '')
  throw new Fault('bad_input', `options.${name}: ${problem}`)
}
