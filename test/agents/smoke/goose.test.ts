/** The real goose with a bare client. */
import { AcpClient } from '../clients/acp.ts'
import { describeAgent } from './smoke.ts'

describeAgent('goose', 'goose', AcpClient.start, { goesOnAfterDeny: true, hasQuestions: false })
