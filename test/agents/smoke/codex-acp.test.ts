/** The real codex-acp with a bare client. */
import { AcpClient } from '../clients/acp.ts'
import { describeAgent } from './smoke.ts'

describeAgent('codex-acp', 'codex-acp', AcpClient.start, { goesOnAfterDeny: false, hasQuestions: true })
