/** The profiles of agents that speak the Agent Client Protocol: how to start each agent, and how it differs from the others. */
import type { ToolKind } from '@agentclientprotocol/sdk'
import type { Capability } from '@holdpoint/protocol'
import { type SettingsAgent, settingsAgents } from '../folder-settings/settings-lists.ts'
import type { InstallableAgent } from '../installed-agent.ts'

export interface AcpProfile extends InstallableAgent {
  readonly args: readonly string[]
  /** The agents whose settings of the working folder this agent loads. The person must have trusted them. */
  readonly settingsAgents: readonly SettingsAgent[]
  /** Variables that the agent gets in addition to those of the runner. */
  readonly env?: Readonly<Record<string, string>>
  /** Whether the agent ends its turn if a person denies a call, so that its model is told only with the next message. */
  readonly endsTurnAfterDeny: boolean
  /** The kinds of asks that the agent supports in addition to approvals. */
  readonly asks: readonly ('questions' | 'forms')[]
  /** Whether the agent asks for several calls of its model at once. Others ask one by one. */
  readonly asksConcurrently: boolean
  /** The modes in which the agent asks before it changes something. A mode in which it never asks is not offered, and without modes the mode cannot be changed. Null if nobody knows the modes, so that a person may choose every mode. */
  readonly modes: readonly string[] | null
  /** The mode to start in, if the agent may not ask in its own default mode. */
  readonly startMode?: string
  /** Advice for people if an earlier conversation cannot be continued. */
  readonly loadHint?: string
  /** A part of the error with which the agent says that it does not have a conversation, if it does not use the error code of the protocol. */
  readonly unknownConversation?: string
  /** The kinds of the agent's own tools, if the agent does not send them. */
  readonly toolKinds?: Readonly<Record<string, ToolKind>>
  /** Fields of a shell call that add nothing to its command: each with the value that has no effect, or with `any` if the command and its folder already say the same. The driver removes them, because no allow rule matches a call with such fields. */
  readonly redundantInput?: Readonly<Record<string, boolean | 'any'>>
  /** The part of a call that contains its shell command: the field `command` of its input, which is the default, or its title. */
  readonly shellCommandIn?: 'input' | 'title'
}

/** goose asks before every tool call only in this mode. Without the setting, its own configuration decides. */
const gooseEnvironment = { GOOSE_MODE: 'approve' }

export const acpProfiles: readonly AcpProfile[] = [
  {
    name: 'gemini',
    title: 'Gemini',
    command: 'gemini',
    settingsAgents: ['gemini'],
    args: ['--acp'],
    install: '`npm install -g @google/gemini-cli`',
    testedVersions: ['0.61.0'],
    endsTurnAfterDeny: false,
    asks: [],
    asksConcurrently: false,
    modes: ['default', 'autoEdit', 'plan'],
    shellCommandIn: 'title',
    loadHint:
      'Gemini can load a conversation again only a minute after it was last opened; wait a minute, then send a message',
  },
  {
    name: 'goose',
    title: 'Goose',
    command: 'goose',
    settingsAgents: ['goose'],
    args: ['acp', '--with-builtin', 'developer'],
    env: gooseEnvironment,
    install: 'from https://github.com/aaif-goose/goose',
    testedVersions: ['1.52.0'],
    endsTurnAfterDeny: false,
    asks: [],
    asksConcurrently: false,
    modes: ['approve', 'smart_approve', 'chat'],
    startMode: 'approve',
    toolKinds: { shell: 'execute', write: 'edit', edit: 'edit' },
  },
  {
    name: 'qwen',
    title: 'Qwen Code',
    command: 'qwen',
    settingsAgents: ['qwen'],
    // Without this mode, a model decides about some calls instead of a person.
    args: ['--acp', '--approval-mode', 'default'],
    install: '`npm install -g @qwen-code/qwen-code`',
    testedVersions: ['0.24.4'],
    endsTurnAfterDeny: true,
    asks: ['questions'],
    asksConcurrently: false,
    modes: ['default', 'auto-edit', 'plan'],
    startMode: 'default',
    redundantInput: { is_background: false },
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot',
    command: 'copilot',
    settingsAgents: ['copilot'],
    args: ['--acp', '--no-auto-update'],
    install: '`npm install -g @github/copilot`',
    testedVersions: ['1.0.102'],
    endsTurnAfterDeny: true,
    asks: [],
    asksConcurrently: true,
    modes: [],
    redundantInput: { commands: 'any' },
  },
  {
    name: 'codex-acp',
    title: 'Codex (ACP)',
    command: 'codex-acp',
    settingsAgents: ['codex'],
    args: [],
    env: { NO_BROWSER: '1', INITIAL_AGENT_MODE: 'read-only' },
    install: '`npm install -g @agentclientprotocol/codex-acp`',
    testedVersions: ['2.6.0'],
    unknownConversation: 'no rollout found',
    endsTurnAfterDeny: true,
    asks: ['forms'],
    asksConcurrently: true,
    modes: [],
    // The folder is part of the action.
    redundantInput: { cwd: 'any' },
  },
  {
    name: 'claude-agent-acp',
    title: 'Claude Agent (ACP)',
    command: 'claude-agent-acp',
    settingsAgents: ['claude'],
    args: [],
    install: '`npm install -g @agentclientprotocol/claude-agent-acp`',
    testedVersions: ['0.99.1'],
    endsTurnAfterDeny: false,
    asks: ['forms'],
    asksConcurrently: false,
    modes: ['default', 'acceptEdits', 'plan'],
    startMode: 'default',
  },
]

/** Returns the profile of an agent that a person named in the configuration by its command line. */
export function customProfile(name: string, [command = '', ...args]: readonly string[]): AcpProfile {
  // The protocol lets every agent show forms and ask several times at once.
  const asking = { asks: ['forms'], asksConcurrently: true } as const
  // It is not known which settings the program loads, because it may be any of the known agents, or start one.
  const unknown = { settingsAgents, testedVersions: [], endsTurnAfterDeny: false, modes: null } as const
  return { name, title: name, command, args, ...unknown, ...asking }
}

export function acpCapabilities({ asks, asksConcurrently, endsTurnAfterDeny }: AcpProfile): readonly Capability[] {
  return [
    'approvals',
    ...asks,
    ...(asksConcurrently ? (['concurrentRequests'] as const) : []),
    ...(endsTurnAfterDeny ? [] : (['denyAndContinue'] as const)),
    ...(['note', 'resumable', 'messages', 'attachments', 'interrupt'] as const),
  ]
}
