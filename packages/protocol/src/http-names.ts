/** The names that clients and the gateway use in HTTP and in WebSocket handshakes. */
export const apiRoot = '/api/v1'
/** The header in which the page sends its secret. The page of another origin cannot send it, because the gateway never grants a CORS preflight. */
export const pageSecretHeader = 'x-holdpoint-page'
/** The start of the subprotocol name in which the page sends its secret in a WebSocket handshake. */
export const pageSecretProtocol = 'holdpoint.page.'
