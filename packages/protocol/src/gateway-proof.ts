/**
 * The proof of a gateway at a loopback address that it knows a token, before the client sends the token (G11). The client
 * sends a random nonce and a hint that names the token. The gateway replies with an HMAC-SHA256 of `proofText` under the
 * SHA-256 of the token, in hex, which is what the gateway stores. Somebody else who got hold of the port cannot compute it.
 */

/** The hint consists of the first characters of the SHA-256 of the token. It is too short to compute a proof with it, and says nothing about the token. */
export const tokenHintLength = 16

export interface ProofSubject {
  /** The client's random value, so that a proof cannot be used again. */
  readonly nonce: string
  /** The Host header of the client's request. The gateway accepts only its own hosts, so that nobody can relay the request from another port. */
  readonly host: string
  /** The address at which the gateway accepted the connection, so that nobody can relay the request from another loopback address. */
  readonly address: string
}

export function proofText({ nonce, host, address }: ProofSubject): string {
  return ['holdpoint proof 1', nonce, host, address].join('\n')
}
