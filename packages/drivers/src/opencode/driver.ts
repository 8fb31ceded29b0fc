/** The driver for opencode: finds it on this machine, and runs its sessions, each with a server of its own. */
import { join } from 'node:path'
import type { Capability, Clock } from '@holdpoint/protocol'
import { agentEnvironment } from '../agent-environment.ts'
import { cwdProblem } from '../claude/setup/cwd-check.ts'
import { removeDeletedSessions } from '../deleted-sessions.ts'
import type { Driver } from '../driver.ts'
import type { ProjectSettings } from '../folder-settings/project-settings.ts'
import { withSettingsCheck } from '../folder-settings/settings-check.ts'
import { findAgent, type InstallableAgent, infoOf, versionHint } from '../installed-agent.ts'
import type { AgentProtocol } from '../session/agent-connection.ts'
import { runSession } from '../session/session-loop.ts'
import { OpencodeConnection } from './connection.ts'
import { opencodeSettings } from './messages.ts'
import { askingEnvironment } from './permission-settings.ts'

export interface OpencodeOptions {
  /** Folder for the records of the servers' processes. */
  readonly folder: string
  /** The executable. The default is HOLDPOINT_OPENCODE, then the PATH. */
  readonly executable?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  readonly idleParkMs?: number
  /** Returns whether the person has trusted exactly these settings of the working folder. By default, none are trusted. */
  readonly trustsProjectSettings?: (settings: ProjectSettings) => boolean
}

const opencode: InstallableAgent = {
  name: 'opencode',
  title: 'opencode',
  command: 'opencode',
  install: '`npm install -g opencode-ai`',
  testedVersions: ['1.18.33'],
}
const capabilities: readonly Capability[] = [
  'approvals',
  'questions',
  'concurrentRequests',
  'denyAndContinue',
  'note',
  'resumable',
  'sharedTerminal',
  'messages',
  'attachments',
  'interrupt',
]
/** The agents for conversations that every installation of opencode has. */
const modes = ['build', 'plan']

export function opencodeDriver({ folder, executable, clock, idleParkMs, ...options }: OpencodeOptions): Driver {
  const env = options.env ?? process.env
  const find = () => findAgent(opencode, env, executable)
  return {
    async info() {
      const { name, title } = opencode
      const driver = { name, title, modes: [...modes], capabilities: [...capabilities] }
      return infoOf(driver, find(), executable => versionHint(opencode, executable, env))
    },
    async run(session) {
      const { info } = session
      const found = find()
      if ('missing' in found) throw new Error(found.missing)
      const inherited = agentEnvironment(env)
      const process = {
        executable: found.executable,
        env: { ...inherited, ...askingEnvironment(inherited) },
        folder: join(folder, info.id),
      }
      const protocol: AgentProtocol = {
        title: opencode.title,
        keepsAfterLoss: 'conversation',
        startHint: opencodeSettings.startHint,
        connect: connection => new OpencodeConnection({ ...connection, process }),
        startProblem: () => cwdProblem(info.cwd),
      }
      const { trustsProjectSettings: trusts } = options
      const checked = withSettingsCheck(protocol, {
        title: 'opencode',
        agents: ['opencode'],
        cwd: info.cwd,
        env,
        trusts,
      })
      await runSession(session, checked, { ...(clock && { clock }), ...(idleParkMs !== undefined && { idleParkMs }) })
    },
    endLeftProcesses: runner => removeDeletedSessions(folder, runner),
  }
}
