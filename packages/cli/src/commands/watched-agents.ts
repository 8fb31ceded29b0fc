/** What watchers can see and do with each agent, for `holdpoint watch check`, which needs no gateway. */
import type { WatchedAgent } from '@holdpoint/rules'

const asking: WatchedAgent = {
  checksEveryTool: false,
  asksAboutTools: true,
  asksQuestions: true,
  reportsResults: true,
  givesTextAfterTool: false,
  reportsPrompts: true,
  canBeSentBack: true,
  reportsCost: false,
  reportsTokens: true,
}

export const watchedAgents: readonly (WatchedAgent & { readonly title: string })[] = [
  { ...asking, title: 'Claude Code', checksEveryTool: true, givesTextAfterTool: true, reportsCost: true },
  {
    ...asking,
    title: 'Claude Code in your own terminal',
    checksEveryTool: true,
    givesTextAfterTool: true,
    reportsTokens: false,
  },
  { ...asking, title: 'Codex' },
  { ...asking, title: 'opencode', reportsCost: true },
  { ...asking, title: 'Gemini, Goose and Copilot', asksQuestions: false },
  { ...asking, title: 'Other agents of the Agent Client Protocol' },
]
