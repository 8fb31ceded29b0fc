/** The real claude-agent-acp with the driver for the Agent Client Protocol. */
import { describeAgent } from './describe-agent.ts'

describeAgent('claude-agent-acp', {
  goesOnAfterDeny: true,
  questions: 'form',
  modes: ['default', 'plan'],
  continuesAtOnce: true,
})
