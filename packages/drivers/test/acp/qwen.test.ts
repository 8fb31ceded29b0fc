/** The real Qwen Code with the driver for the Agent Client Protocol. */
import { describeAgent } from './describe-agent.ts'

describeAgent('qwen', {
  goesOnAfterDeny: false,
  questions: 'questions',
  modes: ['default', 'plan'],
  continuesAtOnce: true,
})
