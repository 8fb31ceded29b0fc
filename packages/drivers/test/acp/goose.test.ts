/** The real goose with the driver for the Agent Client Protocol. */
import { describeAgent } from './describe-agent.ts'

describeAgent('goose', {
  goesOnAfterDeny: true,
  questions: 'none',
  modes: ['approve', 'smart_approve'],
  continuesAtOnce: true,
})
