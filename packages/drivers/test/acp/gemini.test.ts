/** The real Gemini CLI with the driver for the Agent Client Protocol. */
import { describeAgent } from './describe-agent.ts'

describeAgent('gemini', {
  goesOnAfterDeny: true,
  questions: 'none',
  modes: ['default', 'plan'],
  // Gemini cannot load a conversation in the minute in which it began.
  continuesAtOnce: false,
})
