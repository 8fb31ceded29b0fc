export {
  type Access,
  accessColumns,
  accessOf,
  accessTable,
  answerActions,
  type ExtraAction,
  Role,
  rolesFor,
} from './access.ts'
export { Action, ActionKind } from './action.ts'
export {
  AllowAnswer,
  Answer,
  AnswerKind,
  AnswersAnswer,
  answerProblem,
  Comment,
  DeclineAnswer,
  DenyAnswer,
  defaultDenyReason,
  QuestionAnswer,
  SubmitAnswer,
} from './answer.ts'
export { answerForAgent, commentPlace } from './answer-text.ts'
export {
  ApprovalAsk,
  ApprovalAskInput,
  Ask,
  AskInput,
  Caution,
  FormAsk,
  FormAskInput,
  Question,
  QuestionInput,
  QuestionOption,
  QuestionsAsk,
  QuestionsAskInput,
  Suggestion,
  secretFieldIds,
  withFolder,
} from './ask.ts'
export { downloadAttachment, uploadAttachments } from './attachment-transfer.ts'
export { callTitles, isCallTitle, truncateTitle } from './call-titles.ts'
export { type Clock, orAborted, pause, systemClock, type TimerOptions, within } from './clock.ts'
export {
  type Call,
  type CallOptions,
  type Contract,
  contract,
  type Input,
  type OperationName,
  type Output,
  operationGroups,
  type ParsedInput,
} from './contract.ts'
export { type AuditDecision, AuditEntry, type AuditNotice, Token } from './contract-admin.ts'
export { hasCredential, type Masked, maskCredentials, newSecret, possibleSecrets, shownLength } from './credentials.ts'
export { digestText, requestIdText } from './digest.ts'
export { type EscapeOptions, escapeInvisible, hasInvisible } from './escape-invisible.ts'
export {
  AgentEvent,
  type Answering,
  Delta,
  ErrorRaised,
  Event,
  type EventBody,
  type EventType,
  type Frame,
  Hello,
  type KeptDecision,
  MessageAdded,
  StoredAgentEvent,
  StreamingBlock,
  ToolFinished,
  ToolStarted,
  TurnFinished,
  Usage,
} from './event.ts'
export {
  Fault,
  FaultBody,
  type FaultCode,
  faultCodes,
  faultFromZod,
  faultStatus,
  isFaultBody,
  isTransient,
  messageOf,
} from './fault.ts'
export { faultDescriptions } from './fault-descriptions.ts'
export { FormField, FormSchema, fieldChoices, formProblem, isSecretField } from './form.ts'
export { type ProofSubject, proofText, tokenHintLength } from './gateway-proof.ts'
export { apiRoot, pageSecretHeader, pageSecretProtocol } from './http-names.ts'
export { formatCursor, formatId, type IdPrefix, isId, parseCursor } from './id-format.ts'
export {
  AttachmentId,
  CommandId,
  Cursor,
  PersonId,
  RequestId,
  RuleId,
  RunnerId,
  SessionId,
  TokenId,
} from './ids.ts'
export { canonicalJson, type Json, JsonObject, parseJsonStrict } from './json.ts'
export type { JsonPath } from './json-places.ts'
export { limits, type QuotaLimits, quotas, type RoleLimits, rates, slotUnits } from './limits.ts'
export { namedSchemas } from './named-schemas.ts'
export { commonFaults, type Operation } from './operation.ts'
export { type OperationRoutes, operationRoutes } from './operation-routes.ts'
export {
  AgentPath,
  AgentReason,
  Delivery,
  DeliveryState,
  Draft,
  deadlineFields,
  Effective,
  isGatewayRequest,
  OnDeadline,
  Person,
  Request,
  RequestKey,
  Resolution,
  watchKeyPrefix,
  withEffective,
} from './request.ts'
export { type RetryOptions, type RetryPauses, retry, retryPauseMs } from './retry.ts'
export { type DirectionRun, hasRightToLeft, readsRightToLeft, splitRightToLeft } from './right-to-left.ts'
export { Risk, RiskLevel, Touch } from './risk.ts'
export { CommandGroup, Rule, RuleDraft, RuleEffect, RulePreview, RuleProposal, RuleScope, Verdict } from './rule.ts'
export { commandGroups, ruleEffects } from './rule-choices.ts'
export { type RuleFileText, readRuleFileText } from './rule-file.ts'
export {
  AgentProcess,
  Attachment,
  AttachmentFile,
  Capability,
  Command,
  CommandBody,
  CommandOutcome,
  DriverInfo,
  Ending,
  externalInfo,
  Repository,
  Runner,
  Session,
  SessionState,
} from './session.ts'
export {
  actionKind,
  actionOf,
  actionProblem,
  editedCall,
  type FieldText,
  hostOf,
  isPathField,
  type ToolCall,
  textsIn,
} from './tool-call.ts'
export {
  MomentReply,
  ReadyMadeUse,
  Variable,
  VariableDeclaration,
  VariableName,
  VariableValue,
  WatchEffects,
  Watcher,
  WatcherDraft,
  WatchLimit,
  WatchMoment,
  WatchSource,
} from './watcher.ts'
export { WatcherRef } from './watcher-ref.ts'
