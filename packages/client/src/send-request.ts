/** Sends a request with its credential to a gateway, after the gateway has proved itself if the credential is a token. */
import { apiRoot, Fault, pageSecretHeader } from '@holdpoint/protocol'
import { type Connection, currentToken, type HttpReply, type HttpRequest, transmit } from './connection.ts'
import { provenUrl } from './gateway-proof.ts'

type RequestInit = Partial<Omit<HttpRequest, 'redirect'>>

/** If the gateway refuses the token, and the token was replaced while the request was under way, sends the request again with the new token. */
export async function sendRequest(connection: Connection, path: string, init: RequestInit): Promise<HttpReply> {
  const { token: source } = connection
  if (source === undefined) return sendAs(connection, undefined, path, init)
  const token = currentToken(source)
  const isReplaced = () => currentToken(source) !== token
  try {
    const reply = await sendAs(connection, token, path, init)
    if (reply.status !== 401 || !isReplaced()) return reply
  } catch (error) {
    // A gateway that has to prove itself first refuses to do so for an old token.
    if (!(error instanceof Fault && error.code === 'unauthenticated' && isReplaced())) throw error
  }
  return sendAs(connection, currentToken(source), path, init)
}

async function sendAs(
  connection: Connection,
  token: string | undefined,
  path: string,
  init: RequestInit,
): Promise<HttpReply> {
  const secret = connection.pageSecret?.() ?? null
  const headers = {
    ...init.headers,
    ...(secret !== null && { [pageSecretHeader]: secret }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const url =
    token === undefined ? connection.url.replace(/\/$/, '') : await provenUrl({ ...connection, token }, init.signal)
  return transmit(connection, `${url}${apiRoot}${path}`, { ...init, headers })
}
