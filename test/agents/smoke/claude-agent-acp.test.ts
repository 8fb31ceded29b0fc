/** The real claude-agent-acp with a bare client. */
import { AcpClient } from '../clients/acp.ts'
import { describeAgent } from './smoke.ts'

describeAgent('claude-agent-acp', 'claude-agent-acp', AcpClient.start, { goesOnAfterDeny: true, hasQuestions: true })
