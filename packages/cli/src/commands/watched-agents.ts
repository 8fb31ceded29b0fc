/** What watchers can see and do with each agent, for `holdpoint watch check`, which needs no gateway. */
import type { WatchedAgent } from '@holdpoint/rules'

/** An agent that asks about some of its calls, and reports what all others do. */
const asking: WatchedAgent = {
  checksEveryTool: false,
  asksAboutTools: true,
  asksQuestions: true,
  reportsResults: true,
  failures: 'failed',
  givesTextAfterTool: false,
  reportsPrompts: true,
  canBeSentBack: true,
  getsMessages: true,
  reportsCost: false,
  reportsTokens: true,
}

/** Hooks see every call, but no cost and no tokens, and do not run while the agent does nothing. */
const inTerminal: WatchedAgent = {
  ...asking,
  checksEveryTool: true,
  givesTextAfterTool: true,
  getsMessages: false,
  reportsTokens: false,
}

export const watchedAgents: readonly (WatchedAgent & { readonly title: string })[] = [
  { ...asking, title: 'Claude Code', checksEveryTool: true, givesTextAfterTool: true, reportsCost: true },
  { ...inTerminal, title: 'Claude Code in your own terminal' },
  { ...asking, title: 'Codex' },
  { ...asking, title: 'opencode', reportsCost: true },
  { ...inTerminal, title: 'Codex in your own terminal', asksQuestions: false, failures: 'unknown' },
  { ...inTerminal, title: 'Gemini in your own terminal', asksQuestions: false },
  { ...asking, title: 'Gemini', asksQuestions: false, reportsTokens: false, failures: 'ok' },
  { ...asking, title: 'Goose and Copilot', asksQuestions: false },
  { ...asking, title: 'Other agents of the Agent Client Protocol' },
  { ...asking, title: 'Generator agents', reportsTokens: false },
  {
    ...asking,
    title: 'MCP clients',
    reportsResults: false,
    reportsPrompts: false,
    canBeSentBack: false,
    reportsTokens: false,
  },
]
