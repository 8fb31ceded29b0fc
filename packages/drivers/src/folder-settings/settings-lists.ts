/**
 * The files and folders of a working folder that each agent loads as settings and that can run commands, allow calls or
 * choose the model. Most were found by observing which files the tested version of each agent opens, and by testing
 * whether a hostile file takes effect; docs/agents.md lists what was seen. Others are listed as a precaution, such as
 * `.mcp.json` for GitHub Copilot, which the tested version did not open. Texts that only the model reads, such as
 * AGENTS.md, are not listed, because the model must ask before it acts on them.
 */
import { homedir } from 'node:os'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** The agents with settings of their own. Adapters such as codex-acp load the settings of the agent that they run. */
export type SettingsAgent = 'claude' | 'codex' | 'opencode' | 'gemini' | 'goose' | 'qwen' | 'copilot'

export interface SettingsList {
  /** The name of the agent in sentences for people. */
  readonly title: string
  /** Files and, with a slash at the end, folders. The driver looks for them in the working folder and in all folders above it. */
  readonly entries: readonly string[]
  /** Names directly in a listed folder that are not settings. */
  readonly skipped?: readonly string[]
  /** The entries that belong to the person if they are in the home folder, because the agent loads them there in every session. */
  readonly inHome: readonly string[]
  /** The environment variable that names another folder instead of the first one in `inHome`. */
  readonly homeVariable?: string
}

export const settingsLists: Readonly<Record<SettingsAgent, SettingsList>> = {
  claude: {
    title: 'Claude Code',
    entries: ['.mcp.json', '.claude/'],
    // These are other working copies of the repository. A session in one of them has its own settings.
    skipped: ['worktrees'],
    inHome: ['.claude'],
    homeVariable: 'CLAUDE_CONFIG_DIR',
  },
  codex: { title: 'Codex', entries: ['.codex/'], inHome: ['.codex'], homeVariable: 'CODEX_HOME' },
  opencode: {
    title: 'opencode',
    // The terminal that a person attaches loads the plugins in tui.json.
    entries: ['opencode.json', 'opencode.jsonc', 'tui.json', 'tui.jsonc', '.opencode/'],
    // opencode installs packages here by itself, without running their scripts, and writes plans as texts for the model.
    skipped: ['plans', 'node_modules', 'package-lock.json', 'bun.lock', '.gitignore'],
    inHome: ['.opencode'],
  },
  // Gemini and Qwen Code set the variables of an .env file for themselves and for every program that they start.
  gemini: { title: 'Gemini', entries: ['.gemini/', '.env'], inHome: ['.gemini', '.env'] },
  goose: {
    title: 'Goose',
    entries: ['.agents/plugins/', '.agents/recipes/', '.goose/', '.config/goose/'],
    // Goose writes texts for the model here.
    skipped: ['memory'],
    inHome: ['.agents/plugins', '.agents/recipes', '.goose', '.config/goose'],
  },
  qwen: {
    title: 'Qwen Code',
    entries: ['.qwen/', '.mcp.json', '.env'],
    skipped: ['worktrees'],
    inHome: ['.qwen', '.env'],
  },
  copilot: {
    title: 'GitHub Copilot',
    entries: [
      ...['.github/hooks/', '.github/agents/', '.github/copilot/', '.github/lsp.json', '.github/mcp.json'],
      ...['.mcp.json', '.vscode/mcp.json', '.copilot/', '.claude/agents/'],
    ],
    inHome: ['.copilot', '.claude/agents'],
    homeVariable: 'COPILOT_HOME',
  },
}

export const settingsAgents = Object.keys(settingsLists) as readonly SettingsAgent[] // the keys have this type

/** Returns the paths of the person's own settings for an agent. They need no trust. */
export function personalSettings(agent: SettingsAgent, env: Environment): readonly string[] {
  const { inHome, homeVariable } = settingsLists[agent]
  const home = env.HOME ?? homedir()
  const [first = '', ...others] = inHome.map(entry => join(home, entry))
  return [(homeVariable && env[homeVariable]) || first, ...others]
}
