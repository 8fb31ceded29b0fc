export {
  AgentSession,
  type AgentSessionOptions,
  type AskOptions,
  type CheckedCall,
  endsSession,
  type FinishedCall,
  type MessageBody,
  type OpenAsk,
  type ReportedMoment,
  type SessionCommand,
} from './agent/agent-session.ts'
export {
  type Approval,
  type ApprovalFields,
  type AskDraft,
  approvalAsk,
  approvalOf,
  checkPrompt,
  inputFault,
  reasonNotGranted,
} from './agent/approval.ts'
export { expectRequest, WrongRequest } from './agent/expected-request.ts'
export {
  type ConnectOptions,
  connectAgent,
  ExternalAgent,
  type ExternalApprovalOptions,
} from './agent/external-agent.ts'
export { jsonCopy } from './agent/json-copy.ts'
export {
  type AskOutcome,
  type CrashPoint,
  type HandedAnswer,
  nobodyAnswered,
  type OpenRequest,
  pollMs,
  unknownOutcome,
} from './agent/open-request.ts'
export { retryingCall } from './agent/retrying-call.ts'
export {
  type AnswerChoices,
  acceptsMessages,
  answerChoices,
  attachCommand,
  isInterruptible,
  rulesNotice,
} from './agent-abilities.ts'
export { splitDescription } from './agent-statements.ts'
export {
  type AskSummary,
  type AskView,
  actionLabel,
  changedFiles,
  effectiveAsk,
  informativeTitle,
  knownAction,
  lineOf,
  quotationOf,
  shownSummary,
  summary,
  summaryText,
  type TextEdit,
  toolName,
  viewOf,
} from './ask-view.ts'
export { auditCsvHead, auditCsvLine } from './audit-csv.ts'
export {
  type Connection,
  type Fetch,
  type HttpReply,
  inProcess,
  NoAnswer,
  type TokenSource,
  Unreachable,
  type UnreachableReason,
} from './connection.ts'
export {
  type CutText,
  cutMiddle,
  type DisplayMarker,
  displayRun,
  displayText,
  exactText,
  hasEscapes,
  labelText,
  markersIn,
  omissionMarker,
  plainText,
  singleLine,
  singleLineCut,
  splitTail,
  withoutOuterBlankLines,
} from './display-text.ts'
export { type AnswerDraft, changeDraft, type DraftChoice, encodeDraft, type RawField } from './draft.ts'
export { type DraftSnapshot, DraftSync } from './draft-sync.ts'
export { applyEdit, type Editable, editableJson, editableOf } from './edit.ts'
export { type HttpCallOptions, httpCall, inProcessCall } from './http-call.ts'
export { Inbox, type InboxOptions, type InboxSnapshot } from './inbox.ts'
export { blockKey, InboxState, type InboxStateSnapshot } from './inbox-state.ts'
export {
  agentDisconnectedLabels,
  answeredByLabel,
  answerLabel,
  commentCountLabel,
  commentsOf,
  deliveryLabel,
  driverLabel,
  isAskedBack,
  lineEndingsLabel,
  resolutionLabel,
  resolutionRemark,
  resolutionText,
  resolutionTone,
  sessionName,
  stateLabel,
  suggestionScopeLabel,
  type Trouble,
  timeSince,
  toolInputLabels,
  troubleOf,
  waitedFor,
  waitedTime,
} from './labels.ts'
export { type Comparison, type DiffRow, diffLines, type LineEndings, lineCount } from './line-diff.ts'
export { type DraftStorage, draftKeysOf, type OtherDraft, readLocalDraft, removeLocalDraft } from './local-draft.ts'
export type { CodeKind } from './look-alikes.ts'
export {
  childTokens,
  growBlocks,
  hidesCells,
  type LinkTarget,
  linkTarget,
  type MarkdownBlock,
  type MarkdownList,
  type MarkdownTable,
  markdownMax,
  readBlocks,
} from './markdown-blocks.ts'
export { noticeLabel, ruleText } from './notice-label.ts'
export { createObservableStore, type ObservableStore, type ObservableStoreOptions } from './observable-store.ts'
export { riskLabel, riskLevelLabels, shortRiskLabel, shownRisk, touchesLabel } from './risk-labels.ts'
export { needsSession, type RuleDuration, ruleDurations, ruleExpiry } from './rule-durations.ts'
export {
  isBuiltIn,
  previewLabel,
  ruleExplanation,
  ruleLabel,
  ruleLimitsLabel,
  ruleScopeLabel,
} from './rule-labels.ts'
export {
  type ChangedFile,
  findEntries,
  type OutlineTurn,
  type SessionOverview,
  sessionOverview,
} from './session-overview.ts'
export { type ShellToken, shellTokens } from './shell-tokens.ts'
export {
  type SocketCall,
  type SocketCallOptions,
  type SocketConstructor,
  type SocketLike,
  socketCall,
} from './socket-call.ts'
export { textChunks } from './text-chunks.ts'
export { isExactField, mixesDirections } from './text-direction.ts'
export { CodeWarnings, proseWarnings, type RightToLeftStyle } from './text-warnings.ts'
export { isShownByRequest, outputText, toolSummary } from './tool-summary.ts'
export { type FileEdits, type TodoItem, type ToolView, toolView } from './tool-view.ts'
export { Transcript, type TranscriptOptions, type TranscriptSnapshot } from './transcript.ts'
export type {
  Entry,
  ErrorEntry,
  MessageEntry,
  NoteEntry,
  RequestEntry,
  ToolEntry,
  TurnEntry,
} from './transcript-entry.ts'
export { letterPauseMs, TypingGuard, typingPauseMs } from './typing-guard.ts'
export { compareUrgency, isDangerous, unknownRisk } from './urgency.ts'
export { type ConnectionStatus, type WatchOptions, watchEvents } from './watch-events.ts'
export {
  firingText,
  parseValue,
  valueText,
  variableChangeText,
  watcherAskLabel,
  watcherLabel,
} from './watcher-labels.ts'
