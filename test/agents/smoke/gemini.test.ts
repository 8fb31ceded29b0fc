/** The real gemini with a bare client. */
import { AcpClient } from '../clients/acp.ts'
import { describeAgent } from './smoke.ts'

describeAgent('gemini', 'gemini', AcpClient.start, { goesOnAfterDeny: true, hasQuestions: false })
