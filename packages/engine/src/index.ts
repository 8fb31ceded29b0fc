export { type AgentMachine, defaultSettings, type Settings } from './context.ts'
export type { TokenFiles } from './file-tokens.ts'
export {
  type Caller,
  type Credential,
  callAs,
  type DispatchOptions,
  type EphemeralFrame,
  type EventFrame,
  type FrameListener,
  type Gateway,
  type GatewayOptions,
  type OperationResult,
  type OperationSlot,
  openGateway,
  type SerializedFrame,
  type SignIn,
  type SubscribeOptions,
  type Subscription,
  type Via,
} from './gateway.ts'
export { Quota, type QuotaCaller, QuotaUse } from './quota.ts'
export { type Recovery, recoverFromLoss, type UndoneChanges, undoneChanges } from './recovery.ts'
export type { RefusedAttempt } from './refused-attempts.ts'
export {
  auditTypes,
  type CommandRow,
  type DraftRow,
  type IdempotencyRow,
  type Lease,
  type RequestRow,
  type Rows,
  type RuleRow,
  type RunnerRow,
  type SealedAnswer,
  type SessionRow,
  type Table,
  type TokenRow,
  tables,
  type UsageRow,
  type WatchFileRow,
  type WatchStateRow,
} from './rows.ts'
export type { RuleFile, RuleFileReader } from './rule-files.ts'
export {
  type Change,
  type ClockJump,
  type CrashPoint,
  type EventQuery,
  type Head,
  type KeyStore,
  MissingRead,
  type Put,
  type Query,
  type Read,
  type Store,
  type StoredEvent,
  type View,
  type Writes,
} from './store.ts'
export { credentialNotValid, tokenDigest } from './token-transitions.ts'
export {
  type RequestState,
  type RequestTransition,
  type RequestTrigger,
  requestTransitions,
  type SessionTransition,
  type SessionTrigger,
  sessionTransitions,
} from './transitions.ts'
export { maskResolution } from './wire-views.ts'
