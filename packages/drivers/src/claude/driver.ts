/** The driver for Claude Code: checks whether Claude Code can run on this machine, and runs its sessions. */
import { join } from 'node:path'
import type { Capability, Clock, DriverInfo } from '@holdpoint/protocol'
import { agentEnvironment } from '../agent-environment.ts'
import { removeDeletedSessions } from '../deleted-sessions.ts'
import type { Driver } from '../driver.ts'
import type { ProjectSettings } from '../folder-settings/project-settings.ts'
import { endOrphan } from '../process-record.ts'
import { runSession } from '../session/session-loop.ts'
import { modeNames } from './approvals/modes.ts'
import { type ParkingChoice, ParkingProbe } from './parking/parking-method.ts'
import { canPark, isKnownToPark } from './parking/parking-self-test.ts'
import { ClaudeProtocol } from './protocol.ts'
import { denyRulesFor } from './setup/deny-rules.ts'
import { configFolder, findClaude, type Installation, loadSdk, signInHint } from './setup/sdk.ts'
import { parseSessionOptions } from './setup/session-options.ts'

/** These options use no type of the SDK, because the SDK is optional: a program without the SDK must compile, too. */
export interface ClaudeOptions {
  /** Folder for the transcripts and the state of the sessions. */
  readonly folder: string
  /** The `claude` executable. The default is HOLDPOINT_CLAUDE, then the SDK's own binary, then `claude` on the PATH. */
  readonly executable?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  /** How long a session may be idle before it is parked. The session option with the same name overrides this value. */
  readonly idleParkMs?: number
  /** How to park a session while a request is pending. The default is `auto`. */
  readonly parking?: ParkingChoice
  /** Holdpoint's data folder. The driver tells Claude Code not to read it, because the gateway can only deny tool calls and not other reads, such as files that a CLAUDE.md includes. */
  readonly protectedFolder?: string
  /** Returns whether the person trusts the settings that a folder has for Claude Code. By default, none are trusted. */
  readonly trustsProjectSettings?: (settings: ProjectSettings) => boolean
  /** The kinds of Claude Code's settings files that apply, whether or not they are trusted. By default, all trusted settings apply. */
  readonly settingSources?: ('user' | 'project' | 'local')[]
}

const capabilities: readonly Capability[] = [
  'approvals',
  'questions',
  'forms',
  'concurrentRequests',
  'denyAndContinue',
  'editInput',
  'note',
  'resumable',
  'checksEveryTool',
  'messages',
  'attachments',
  'interrupt',
]

export function claudeDriver(options: ClaudeOptions): Driver {
  const { folder, clock, idleParkMs, settingSources } = options
  const choice = options.parking ?? 'auto'
  const env = agentEnvironment(options.env ?? process.env)
  const find = () => findClaude(options.env ?? process.env, options.executable)
  let installing: Promise<Installation> | undefined
  let parkingProbe: ParkingProbe | undefined
  let notifyChanged = () => {}
  return {
    onChange(listener) {
      notifyChanged = listener
    },
    info(): DriverInfo {
      const base = { name: 'claude', title: 'Claude Code', modes: [...modeNames] }
      const claude = find()
      if ('missing' in claude) return { ...base, capabilities: [...capabilities], ready: false, ...claude }
      const isParkable = choice === 'auto' && isKnownToPark(claude.found, folder)
      const hint = signInHint(env)
      return {
        ...base,
        capabilities: [...capabilities, ...(isParkable ? (['parkable'] as const) : [])],
        ready: true,
        ...(hint === null ? {} : { missing: hint }),
      }
    },
    async run(session) {
      const claude = find()
      if ('missing' in claude) throw new Error(claude.missing)
      parseSessionOptions(session.info)
      installing ??= loadSdk(claude.found)
      const installation = await installing
      parkingProbe ??= new ParkingProbe({
        choice,
        alreadyProven: isKnownToPark(installation, folder),
        test: () => canPark(installation, folder),
        onProven: () => notifyChanged(),
      })
      const sessionFolder = join(folder, session.info.id)
      const protocol = new ClaudeProtocol({
        ...{ session, installation, env, parkingProbe, folder: sessionFolder },
        configFolder: configFolder(env),
        sdkOptions: settingSources === undefined ? {} : { settingSources },
        trustsProjectSettings: options.trustsProjectSettings ?? (() => false),
        denyRules: denyRulesFor(options.protectedFolder),
      })
      endOrphan(sessionFolder)
      session.sayQuietly(...protocol.problems())
      await runSession(session, protocol, {
        mode: protocol.startMode,
        ...(clock && { clock }),
        ...(idleParkMs !== undefined && { idleParkMs }),
      })
    },
    endLeftProcesses: runner => removeDeletedSessions(folder, runner),
  }
}
