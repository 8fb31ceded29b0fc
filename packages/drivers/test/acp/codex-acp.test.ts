/** The real codex-acp with the driver for the Agent Client Protocol. */
import { describeAgent } from './describe-agent.ts'

describeAgent('codex-acp', {
  goesOnAfterDeny: false,
  questions: 'form',
  continuesAtOnce: true,
})
