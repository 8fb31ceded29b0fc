/** The real qwen with a bare client. */
import { AcpClient } from '../clients/acp.ts'
import { describeAgent } from './smoke.ts'

describeAgent('qwen', 'qwen', AcpClient.start, { goesOnAfterDeny: false, hasQuestions: true })
