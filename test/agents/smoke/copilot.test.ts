/** The real copilot with a bare client. */
import { AcpClient } from '../clients/acp.ts'
import { describeAgent } from './smoke.ts'

describeAgent('copilot', 'copilot', AcpClient.start, { goesOnAfterDeny: false, hasQuestions: false })
