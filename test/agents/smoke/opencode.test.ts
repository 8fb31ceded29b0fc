/** The real opencode with a bare client. */
import { OpencodeClient } from '../clients/opencode.ts'
import { describeAgent } from './smoke.ts'

describeAgent('opencode', 'opencode', OpencodeClient.start, { goesOnAfterDeny: true, hasQuestions: true })
