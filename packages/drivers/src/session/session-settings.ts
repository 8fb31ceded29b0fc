/** The mode, model and conversation of a session, and their changes by people and by the agent. Changes by people are carried out one after another. */

import type { AgentSession } from '@holdpoint/client'
import { type Clock, type CommandOutcome, limits, messageOf, within } from '@holdpoint/protocol'
import type { AgentConnection, AgentProtocol, AgentSettings, SettingsChange } from './agent-connection.ts'
import { loopMessages } from './loop-messages.ts'

export interface SessionSettingsOptions {
  readonly session: AgentSession
  readonly protocol: AgentProtocol
  readonly clock: Clock
  /** The mode to start in, if it differs from the mode of the session. */
  readonly mode: string | null
  readonly connection: () => AgentConnection | null
  /** Resolves when the process has ended. */
  readonly exited: () => Promise<unknown>
  /** Called when the agent has not confirmed a change in time. The process must end after its turn, because the agent might still apply the change later. */
  readonly onNoReply: () => Promise<void>
  readonly onParkAfterChanged: () => void
}

/** How long the agent may take to change its mode or to check a model. */
const changeMaxMs = 15_000

export class SessionSettings {
  readonly #options: SessionSettingsOptions
  /** The mode of the running process, or the mode in which the next process will start. */
  mode: string | null
  model: string | null
  conversationId: string | null
  parkAfterMs: number | null
  #changing: Promise<unknown> = Promise.resolve()

  constructor(options: SessionSettingsOptions) {
    this.#options = options
    const { model, conversationId, parkAfterMs } = options.session.info
    this.mode = options.mode
    this.model = model
    this.conversationId = conversationId
    this.parkAfterMs = parkAfterMs
  }

  /** Resolves when all changes so far are carried out. The caller of a failed change gets its error. */
  async changed(): Promise<void> {
    await this.#changing.catch(() => {})
  }

  /** Carries out a person's change after all earlier changes. */
  change(change: SettingsChange & { readonly parkAfterMs?: number | null | undefined }): Promise<CommandOutcome> {
    // A change is carried out even if the one before it failed.
    const done = this.#changing.catch(() => {}).then(() => this.#change(change))
    this.#changing = done
    return done
  }

  async #change({
    mode,
    model,
    parkAfterMs,
  }: SettingsChange & { readonly parkAfterMs?: number | null | undefined }): Promise<CommandOutcome> {
    if (parkAfterMs !== undefined) {
      this.parkAfterMs = parkAfterMs
      this.#options.onParkAfterChanged()
    }
    if (mode === undefined && model === undefined) return { ok: true }
    const change = { ...(mode === undefined ? {} : { mode }), ...(model === undefined ? {} : { model }) }
    const outcome = await this.#apply(change)
    // The session already shows the requested settings. Report the actual settings, which differ if the change failed.
    const actual = { ...(this.mode === null ? {} : { mode: this.mode }), model: this.model }
    const message = outcome.ok ? undefined : outcome.reason?.slice(0, limits.reasonMax).toWellFormed()
    await this.#options.session.say(
      { type: 'session.changed', ...actual },
      ...(message === undefined ? [] : [{ type: 'error.raised', code: 'refused', message } as const]),
    )
    return outcome
  }

  async #apply(change: SettingsChange): Promise<CommandOutcome> {
    const { protocol, clock, connection, exited, onNoReply } = this.#options
    const problem = protocol.settingsProblem?.(change) ?? null
    if (problem !== null) return { ok: false, reason: problem }
    const agent = connection()
    if (agent) {
      const { refused, noReply, processExited } = loopMessages.settings
      try {
        const lost = exited().then(() => Promise.reject(new Error(processExited)))
        const changed = Promise.race([agent.changeSettings(change), lost]).then(() => 'done')
        if ((await within(clock, changeMaxMs, changed)) === 'late') {
          await onNoReply()
          return { ok: false, reason: noReply(protocol.title, changeMaxMs / 1000) }
        }
      } catch (error) {
        return { ok: false, reason: refused(protocol.title, messageOf(error)) }
      }
    }
    if (change.mode !== undefined) this.mode = change.mode
    if (change.model !== undefined) this.model = change.model
    return { ok: true }
  }

  /** Call this when the agent reports its settings. They differ from the last known settings if the agent or an answer changed them. */
  report({ mode, model, conversationId }: AgentSettings): void {
    const changes = {
      ...(mode === undefined || mode === this.mode ? {} : { mode }),
      ...(model === undefined || model === this.model ? {} : { model }),
      ...(conversationId === undefined || conversationId === this.conversationId ? {} : { conversationId }),
    }
    if (Object.keys(changes).length === 0) return
    Object.assign(this, changes)
    this.#options.session.sayQuietly({ type: 'session.changed', ...changes })
  }
}
