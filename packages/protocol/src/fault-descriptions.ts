/** Describes every fault code for the API reference. This is a separate file so that the page does not have to load the texts. */
import type { FaultCode } from './fault.ts'

export const faultDescriptions: Readonly<Record<FaultCode, string>> = {
  bad_json:
    'The body is not valid JSON, or contains duplicate or forbidden keys, too many values, or a number that loses digits when it is parsed. Send such a number as a string.',
  bad_input: 'A field is missing, unknown or invalid. The message names the field.',
  unauthenticated: 'The credential is missing, unknown, expired or revoked.',
  forbidden: 'The credential is valid but does not permit this operation.',
  wrong_origin: 'The request comes from a page of another site, or a cookie was sent without the required headers.',
  not_found: 'There is no such session, request, command, runner, rule, token or path.',
  wrong_method: 'The path does not support this method. The Allow header lists the supported methods.',
  too_slow: 'The request took too long to arrive.',
  already_resolved: 'The request is already resolved. `detail` contains the request with its resolution.',
  not_resolved: 'The request is still pending, so there is nothing to deliver.',
  digest_mismatch: 'The digest does not match the request. Read the request again before you answer.',
  key_conflict: 'The session already has a request with this key and a different ask. Use a new key.',
  version_conflict: 'Somebody else changed this in the meantime. Read it again before you change it.',
  fenced: 'Another runner has taken over the session, or the runner was announced again. Stop driving the session.',
  lease_held: 'Another runner holds the lease of the session.',
  session_ended: 'The session has ended.',
  session_live: 'The session has not ended. End the session first.',
  no_runner: 'No connected runner offers the driver, or the driver is not ready.',
  gone: 'The result is no longer available. A secret is returned only once, restoring a backup makes old cursors invalid, and an allow by a rule is not handed if the rules no longer allow it.',
  body_too_large: 'The body is larger than the limit.',
  unsupported_type: 'The body must be application/json without compression.',
  wrong_host: 'The Host header does not name this gateway.',
  answer_mismatch:
    'The answer does not fit the ask, for example because its kind is wrong, an option is unknown, or the values do not match the schema.',
  idempotency_mismatch: 'The Idempotency-Key was already used with a different body.',
  unsupported: 'The gateway, the driver or the store does not support this.',
  too_many: 'A limit is reached, for example on pending requests or subscriptions. Try again later.',
  headers_too_large: 'The headers are larger than the limit, or there are too many of them.',
  internal: 'The gateway has a bug. The message contains the id under which the gateway logged the error.',
  store_damaged:
    'A stored row does not match the log. Someone may have changed the database. Check it with “holdpoint audit verify”.',
  store_unavailable: 'The store cannot be reached. Try again later.',
  store_locked: 'Another process has locked the store. Try again later.',
  store_read_only: 'The store is read-only.',
  store_full: 'The disk with the store is full.',
  store_newer: 'The store was written by a newer version of Holdpoint.',
  store_older: 'The store was written by a version of Holdpoint that is too old for this version to read.',
  store_lost:
    'The store has lost events that it had before. Restore them, or accept the loss with “holdpoint up --accept-data-loss”.',
  draining: 'The gateway is shutting down. Try again in a moment with the same Idempotency-Key.',
}
