export {
  AllowAnswer,
  Answer,
  AnswersAnswer,
  DeclineAnswer,
  DenyAnswer,
  misfit,
  plainDeny,
  QuestionAnswer,
  SubmitAnswer,
} from './answer.ts'
export {
  ApprovalAsk,
  Ask,
  Caution,
  digestText,
  FormAsk,
  Question,
  QuestionOption,
  QuestionsAsk,
  Suggestion,
  secretsOf,
} from './ask.ts'
export {
  apiRoot,
  type Call,
  type CallOptions,
  type Contract,
  contract,
  type Input,
  type OpName,
  type Output,
  type Parsed,
} from './contract.ts'
export { RecordLine, Token } from './contract-house.ts'
export {
  Delta,
  ErrorRaised,
  Event,
  type EventBody,
  type EventType,
  type Frame,
  Hello,
  LiveBlock,
  MessageAdded,
  Saying,
  ToolFinished,
  ToolStarted,
  TurnFinished,
  Usage,
} from './event.ts'
export { Fault, FaultBody, type FaultCode, faultCodes, faultOfZod, faultStatus } from './fault.ts'
export { FormField, FormSchema, fieldChoices, isSecretField, misfitOfValues } from './form.ts'
export {
  CommandId,
  Cursor,
  type IdPrefix,
  RequestId,
  RuleId,
  RunnerId,
  readCursor,
  SessionId,
  spellCursor,
  spellId,
  TokenId,
} from './ids.ts'
export { canonical, type Json, JsonObject, readJson } from './json.ts'
export { limits } from './limits.ts'
export { type Op, Role } from './op.ts'
export {
  AgentPath,
  AgentReason,
  Delivery,
  DeliveryState,
  Draft,
  deadlineFields,
  OnDeadline,
  Request,
  RequestKey,
  Resolution,
} from './request.ts'
export { hidesSomething, type RevealOptions, reveal } from './reveal.ts'
export { Rule, RuleDraft, Verdict } from './rule.ts'
export {
  AgentProcess,
  Attachment,
  Capability,
  Command,
  CommandBody,
  CommandOutcome,
  DriverInfo,
  Ending,
  Runner,
  Session,
  SessionState,
} from './session.ts'
