/**
 * A gateway at a loopback address proves that it knows a token, before the client sends the token (G11). The client sends
 * a random nonce and a hint that names the token. The gateway replies with an HMAC-SHA256 of `proofText`. The key of the
 * HMAC is the hex SHA-256 of the token, which the gateway stores. Another program that has taken the port cannot compute
 * the proof.
 */

/** The hint consists of the first characters of the SHA-256 of the token. The hint is too short to compute a proof, and reveals nothing about the token. */
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
