/** The modes and models of an agent. Some agents list them as modes and models, others as options of the session. */
import type { NewSessionResponse, SessionConfigOption } from '@agentclientprotocol/sdk'
import type { AgentSettings, SettingsChange } from '../session/agent-connection.ts'
import { acpSettings } from './messages.ts'
import type { AcpProfile } from './profiles.ts'

export type AcpSettings = Pick<NewSessionResponse, 'modes' | 'configOptions'>

/** A request that changes a setting. */
export type SettingRequest =
  | { readonly kind: 'mode'; readonly modeId: string }
  | { readonly kind: 'option'; readonly configId: string; readonly value: string }

type Select = Extract<SessionConfigOption, { type: 'select' }>

export function settingsOf(settings: AcpSettings): AgentSettings {
  const id = settings.modes?.currentModeId ?? selectOf(settings, 'mode')?.currentValue
  const mode = id && modeName(id)
  const model = selectOf(settings, 'model')?.currentValue
  return { ...(mode ? { mode } : {}), ...(model ? { model } : {}) }
}

/** Returns the name of a mode. The protocol's own modes have addresses as ids, such as `https://…/session-modes#agent`. */
function modeName(id: string): string {
  return /^https?:\/\/[^#]*#(.+)$/.exec(id)?.[1] ?? id
}

/** Returns the requests that make the change, or a sentence for people that says why it is impossible. */
export function changeRequests(
  settings: AcpSettings,
  change: SettingsChange,
  agent: string,
): readonly SettingRequest[] | string {
  const requests: SettingRequest[] = []
  // A session from an earlier version has the address.
  const mode = change.mode && modeName(change.mode)
  if (mode && mode !== settingsOf(settings).mode) {
    const isWanted = (id: string) => modeName(id) === mode
    const modeId = settings.modes?.availableModes.map(({ id }) => id).find(isWanted)
    const option = selectOf(settings, 'mode')
    const value = option && valuesOf(option).find(isWanted)
    if (modeId !== undefined) requests.push({ kind: 'mode', modeId })
    else if (option && value !== undefined) requests.push({ kind: 'option', configId: option.id, value })
    else return acpSettings.noSuchMode(agent, mode)
  }
  if (change.model !== undefined && change.model !== settingsOf(settings).model) {
    const option = selectOf(settings, 'model')
    if (!option) return acpSettings.noModels(agent)
    if (!valuesOf(option).includes(change.model)) return acpSettings.noSuchModel(agent, change.model)
    requests.push({ kind: 'option', configId: option.id, value: change.model })
  }
  return requests
}

/** Returns why a person cannot choose this mode, or null. A mode in which the agent never asks would make Holdpoint useless. */
export function modeProblem({ title, modes }: AcpProfile, mode: string | undefined): string | null {
  if (mode === undefined || modes === null || modes.includes(mode)) return null
  return modes.length === 0 ? acpSettings.fixedMode(title) : acpSettings.neverAsks(title, mode, modes)
}

function selectOf({ configOptions }: AcpSettings, category: string): Select | undefined {
  return configOptions?.find(
    (option): option is Select & SessionConfigOption => option.type === 'select' && option.category === category,
  )
}
/** Returns the values of an option, which an agent may list in groups. */
function valuesOf({ options }: Select): readonly string[] {
  return options.flatMap(item => ('options' in item ? item.options.map(({ value }) => value) : [item.value]))
}
