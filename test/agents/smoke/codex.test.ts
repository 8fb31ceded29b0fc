/** The real codex with a bare client. */
import { CodexClient } from '../clients/codex.ts'
import { describeAgent } from './smoke.ts'

const options = { goesOnAfterDeny: true, hasQuestions: true }
describeAgent('codex over its standard streams', 'codex', CodexClient.start, options)
describeAgent('codex over a WebSocket', 'codex', CodexClient.startWebSocket, options)
