/** All sentences and key hints of the pages that cover a live view. */
import { toolInputLabels } from '@holdpoint/client'
import type { KeyHint } from '../prompt/layout/prompt-sections.ts'

export const pageTexts = {
  help: 'Keys',
  toolCall: (at: number, of: number) => `Tool call ${at} of ${of}`,
  states: { preparing: 'starting', running: 'running', ok: 'done', failed: 'failed' },
  noCalls: 'The agent has not used a tool yet.',
  noOutput: 'There is no output.',
  noOutputYet: 'There is no output yet.',
  output: 'Output',
} as const

/** Labels for the parts of a tool call's input. */
export const toolInputTexts = {
  ...toolInputLabels,
  otherParameters: 'Other parameters',
  fromLine: 'From line',
  lines: 'Lines',
} as const

const scroll: readonly KeyHint[] = [['↑↓ space b', 'scroll']]

export const pageKeys: Readonly<Record<'scroll' | 'scrolled' | 'whole' | 'otherCalls' | 'close', readonly KeyHint[]>> =
  {
    scroll,
    scrolled: [...scroll, ['any other key', 'back']],
    whole: [['any key', 'back']],
    otherCalls: [['← →', 'other calls']],
    close: [['Esc', 'back']],
  }
