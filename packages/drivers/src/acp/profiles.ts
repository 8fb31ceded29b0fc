/** What Holdpoint must know about each agent that speaks the Agent Client Protocol: how to start it, and where it differs from the others. */
import type { ToolKind } from '@agentclientprotocol/sdk'
import type { InstallableAgent } from '../installed-agent.ts'

export interface AcpProfile extends InstallableAgent {
  readonly args: readonly string[]
  /** Variables that the agent gets beside those of the runner. */
  readonly env?: Readonly<Record<string, string>>
  /** Whether the agent ends its turn if a person denies a call, so that its model is told only with the next message. */
  readonly endsTurnAfterDeny: boolean
  /** The modes in which the agent asks before it changes something. A mode in which it never asks is not offered. */
  readonly modes: readonly string[]
  /** The mode to start in, if the agent's own default may be one that does not ask. */
  readonly startMode?: string
  /** What a person can do if an earlier conversation cannot be continued. */
  readonly loadHint?: string
  /** The kinds of the agent's own tools, if the agent does not tell them. */
  readonly toolKinds?: Readonly<Record<string, ToolKind>>
  /** Where the agent writes the shell command. The default is the field `command` of its input. */
  readonly shellCommandIn?: 'input' | 'title'
}

/** goose asks before every tool call only in this mode. Without the setting, its own configuration decides. */
const gooseEnvironment = { GOOSE_MODE: 'approve' }

export const acpProfiles: readonly AcpProfile[] = [
  {
    name: 'gemini',
    title: 'Gemini',
    command: 'gemini',
    args: ['--acp'],
    install: '`npm install -g @google/gemini-cli`',
    testedVersions: ['0.61.0'],
    endsTurnAfterDeny: false,
    modes: ['default', 'autoEdit', 'plan'],
    shellCommandIn: 'title',
    loadHint:
      'Gemini cannot load a conversation in the minute in which it last opened it; send a message again in a minute',
  },
  {
    name: 'goose',
    title: 'Goose',
    command: 'goose',
    args: ['acp', '--with-builtin', 'developer'],
    env: gooseEnvironment,
    install: 'as its documentation says',
    testedVersions: ['1.52.0'],
    endsTurnAfterDeny: false,
    modes: ['approve', 'smart_approve', 'chat'],
    startMode: 'approve',
    toolKinds: { shell: 'execute', write: 'edit', edit: 'edit' },
  },
  {
    name: 'qwen',
    title: 'Qwen Code',
    command: 'qwen',
    // Without this mode, a model decides about some calls instead of a person.
    args: ['--acp', '--approval-mode', 'default'],
    install: '`npm install -g @qwen-code/qwen-code`',
    testedVersions: ['0.24.4'],
    endsTurnAfterDeny: true,
    modes: ['default', 'auto-edit', 'plan'],
    startMode: 'default',
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot',
    command: 'copilot',
    args: ['--acp', '--no-auto-update'],
    install: '`npm install -g @github/copilot`',
    testedVersions: ['1.0.102'],
    endsTurnAfterDeny: true,
    modes: [],
  },
  {
    name: 'codex-acp',
    title: 'Codex (ACP)',
    command: 'codex-acp',
    args: [],
    env: { NO_BROWSER: '1', INITIAL_AGENT_MODE: 'read-only' },
    install: '`npm install -g @agentclientprotocol/codex-acp`',
    testedVersions: ['2.6.0'],
    endsTurnAfterDeny: true,
    modes: [],
  },
  {
    name: 'claude-agent-acp',
    title: 'Claude Agent (ACP)',
    command: 'claude-agent-acp',
    args: [],
    install: '`npm install -g @agentclientprotocol/claude-agent-acp`',
    testedVersions: ['0.99.1'],
    endsTurnAfterDeny: false,
    modes: ['default', 'acceptEdits', 'plan'],
    startMode: 'default',
  },
]

/** The profile of an agent that a person named in the configuration by its command line. */
export function customProfile(name: string, [command = '', ...args]: readonly string[]): AcpProfile {
  return { name, title: name, command, args, testedVersions: [], endsTurnAfterDeny: false, modes: [] }
}
