/** The real GitHub Copilot with the driver for the Agent Client Protocol. */
import { describeAgent } from './describe-agent.ts'

describeAgent('copilot', {
  goesOnAfterDeny: false,
  questions: 'none',
  continuesAtOnce: true,
})
