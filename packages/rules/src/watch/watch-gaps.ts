/** Says which effects of a watcher cannot hold for an agent, because its driver does not see or cannot do what the watcher needs. */
import type { WatcherDraft } from '@holdpoint/protocol'
import { gapTexts } from './texts.ts'

/** What Holdpoint can see and do with an agent. */
export interface WatchedAgent {
  /** Whether every call is checked before it runs. */
  readonly checksEveryTool: boolean
  /** Whether the agent asks about some of its calls. */
  readonly asksAboutTools: boolean
  readonly asksQuestions: boolean
  /** Whether the agent reports the result of its calls. */
  readonly reportsResults: boolean
  /** How the agent reports a command that fails: as failed, as a success, or without telling. */
  readonly failures: 'failed' | 'ok' | 'unknown'
  /** Whether the agent can read a text right after a call. If not, it reads the text with its next message. */
  readonly givesTextAfterTool: boolean
  /** Whether Holdpoint sees each message before the agent does. */
  readonly reportsPrompts: boolean
  /** Whether an agent that stops can be sent back to work, by a message or by its hook. */
  readonly canBeSentBack: boolean
  /** Whether an agent that has stopped can be given a message. */
  readonly getsMessages: boolean
  readonly reportsCost: boolean
  readonly reportsTokens: boolean
}

/** Returns a sentence for each gap; none if the watcher holds for the agent. */
export function watchGaps(
  watcher: Pick<WatcherDraft, 'on' | 'action' | 'when' | 'do'>,
  agent: WatchedAgent,
): readonly string[] {
  const { on, action, do: effects } = watcher
  const readsResult = on === 'after' && agent.reportsResults && mentionsResult(watcher)
  const gaps: (string | false)[] = [
    on === 'before' && action === 'question' && !agent.asksQuestions && gapTexts.noQuestions,
    on === 'before' && action !== 'question' && !agent.checksEveryTool && callGap(agent),
    on === 'prompt' && !agent.reportsPrompts && gapTexts.noPrompts,
    on === 'after' && !agent.reportsResults && gapTexts.noResults,
    on === 'after' &&
      effects.say !== undefined &&
      agent.reportsResults &&
      !agent.givesTextAfterTool &&
      gapTexts.lateText,
    readsResult && agent.failures === 'ok' && gapTexts.failuresAsOk,
    readsResult && agent.failures === 'unknown' && gapTexts.noOutcome,
    on === 'stop' && !agent.canBeSentBack && gapTexts.noSendBack,
    on === 'stop' && effects.ask !== undefined && agent.canBeSentBack && !agent.getsMessages && gapTexts.lateStop,
    effects.limit?.cost !== undefined && !agent.reportsCost && gapTexts.noCost,
    effects.limit?.tokens !== undefined && !agent.reportsTokens && gapTexts.noTokens,
  ]
  return gaps.filter(gap => gap !== false)
}

/** Whether a condition, a value or a text of the watcher may read the result of a call. */
function mentionsResult({ when, do: effects }: Pick<WatcherDraft, 'when' | 'do'>): boolean {
  return JSON.stringify([when, effects]).includes('result')
}

function callGap({ asksAboutTools }: WatchedAgent): string {
  return asksAboutTools ? gapTexts.someCalls : gapTexts.noCalls
}
