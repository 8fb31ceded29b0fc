/** Sends a request with its credential to a gateway, after the gateway has proved itself if the credential is a token. */
import { apiRoot, pageSecretHeader } from '@holdpoint/protocol'
import { type Connection, type HttpReply, type HttpRequest, transmit } from './connection.ts'
import { provenUrl } from './gateway-proof.ts'

export async function sendRequest(
  connection: Connection,
  path: string,
  init: Partial<Omit<HttpRequest, 'redirect'>>,
): Promise<HttpReply> {
  const { token } = connection
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
