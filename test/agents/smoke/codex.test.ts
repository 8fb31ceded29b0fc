/** The real codex with a bare client. */
import { CodexClient } from '../clients/codex.ts'
import { describeAgent } from './smoke.ts'

describeAgent('codex over its standard streams', 'codex', CodexClient.start, { goesOnAfterDeny: true })
describeAgent('codex over a WebSocket', 'codex', CodexClient.startWebSocket, { goesOnAfterDeny: true })
