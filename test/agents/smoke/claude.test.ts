/** The real claude with a bare client. */
import { ClaudeClient } from '../clients/claude.ts'
import { describeAgent } from './smoke.ts'

describeAgent('claude', 'claude', ClaudeClient.start, { goesOnAfterDeny: true, hasQuestions: true })
