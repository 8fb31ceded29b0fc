export {
  AgentSession,
  type AgentSessionOptions,
  type AskOptions,
  type OpenAsk,
  type SessionCommand,
} from './agent-session.ts'
export {
  type Approval,
  type ApprovalOptions,
  type AskGenerator,
  all,
  approval,
  type ChoiceOption,
  cancelTurn,
  choice,
  type FormDraft,
  form,
  type GeneratorAskOptions,
  type QuestionDraft,
  questions,
  TurnCancelled,
  text,
} from './asks.ts'
export { type ClaudeOptions, claudeDriver } from './claude/driver.ts'
export { type Clock, systemClock } from './clock.ts'
export type { Driver } from './driver.ts'
export { type ConnectOptions, connectAgent, ExternalAgent, externalInfo } from './external.ts'
export { defineAgent, type GeneratorAgent, type GeneratorOptions, generatorDriver, say } from './generator.ts'
export { loadAgent } from './load-agent.ts'
export { rehearsal } from './rehearsal.ts'
export { type RunnerOptions, runRunner } from './runner.ts'
export type { AskOutcome, CrashPoint, HandedAnswer, OpenRequest } from './settlement.ts'
export { StepFailed, type StepOptions, StepUnknown, step } from './step.ts'
export type { SpokenBlock } from './transcript.ts'
export type { AgentText, AgentYield, Turn } from './turn.ts'
