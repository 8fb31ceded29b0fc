/** The agents whose hooks Holdpoint knows, by the names that people type. */
import { claudeTerminal } from './claude-hooks.ts'
import { codexTerminal } from './codex-hooks.ts'
import { geminiTerminal } from './gemini-hooks.ts'

export const terminalAgents = { claude: claudeTerminal, codex: codexTerminal, gemini: geminiTerminal }
export type TerminalAgentName = keyof typeof terminalAgents
