/** The driver of Claude Code: whether it can run here, and a seat for each of its sessions. */
import { join } from 'node:path'
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import { type Capability, type Clock, type DriverInfo, systemClock } from '@holdpoint/protocol'
import type { Driver } from '../driver.ts'
import { modeNames } from './approvals/modes.ts'
import { type ParkingChoice, ParkingProbe } from './parking/parking-method.ts'
import { canPark, isKnownToPark } from './parking/parking-self-test.ts'
import { ClaudeSession } from './session.ts'
import { configFolder, type Environment, findClaude, type Installation, install, signInMissing } from './setup/sdk.ts'
import { parseSessionOptions } from './setup/session-options.ts'

export interface ClaudeOptions {
  /** Where transcripts and notes of its sessions are kept. */
  readonly folder: string
  /** A `claude` that the person already has; else HOLDPOINT_CLAUDE, else the SDK's own, else the one on the PATH. */
  readonly executable?: string
  readonly env?: Environment
  readonly clock?: Clock
  /** An idle session is parked after so long; a session's option of this name wins. */
  readonly idleParkMs?: number
  /** How a process is let go while a call waits; `auto` by default. */
  readonly parking?: ParkingChoice
  /** Which of the person's settings apply; all of them by default. */
  readonly settingSources?: Options['settingSources']
}

const idleParkDefaultMs = 15 * 60 * 1000
const capabilities: readonly Capability[] = ['resumable', 'checksEveryTool', 'messages', 'attachments', 'interrupt']

export function claudeDriver(options: ClaudeOptions): Driver {
  const { folder, clock = systemClock, idleParkMs = idleParkDefaultMs, settingSources } = options
  const choice = options.parking ?? 'auto'
  const env = withoutOurs(options.env ?? process.env)
  const find = () => findClaude(options.env ?? process.env, options.executable)
  let installing: Promise<Installation> | undefined
  let parking: ParkingProbe | undefined
  let changed = () => {}
  return {
    onChange(told) {
      changed = told
    },
    info(): DriverInfo {
      const base = { name: 'claude', title: 'Claude Code', modes: [...modeNames] }
      const claude = find()
      if ('missing' in claude) return { ...base, capabilities: [...capabilities], ready: false, ...claude }
      const parks = choice === 'auto' && isKnownToPark(claude.found, folder)
      const hint = signInMissing(env)
      return {
        ...base,
        capabilities: [...capabilities, ...(parks ? (['parkable'] as const) : [])],
        ready: true,
        ...(hint === null ? {} : { missing: hint }),
      }
    },
    async run(session) {
      const claude = find()
      if ('missing' in claude) throw new Error(claude.missing)
      parseSessionOptions(session.info)
      installing ??= install(claude.found)
      const installation = await installing
      parking ??= new ParkingProbe({
        choice,
        shown: isKnownToPark(installation, folder),
        test: () => canPark(installation, folder),
        onShown: () => changed(),
      })
      const seat = new ClaudeSession({
        session,
        installation,
        folder: join(folder, session.info.id),
        config: configFolder(env),
        env,
        clock,
        idleParkMs,
        more: settingSources === undefined ? {} : { settingSources },
        parking,
      })
      await seat.run()
    },
  }
}

/** What is meant for Holdpoint is none of the agent's business. */
function withoutOurs(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('HOLDPOINT_')))
}
