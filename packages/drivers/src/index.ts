export {
  AgentSession,
  type AgentSessionOptions,
  type Approval,
  type AskOptions,
  type AskOutcome,
  type CrashPoint,
  type HandedAnswer,
  type MessageBody,
  nobodyAnswered,
  type OpenAsk,
  type OpenRequest,
  type SessionCommand,
  unknownOutcome,
} from '@holdpoint/client'
export { type AcpOptions, acpDriver } from './acp/driver.ts'
export { type AcpProfile, acpProfiles, customProfile } from './acp/profiles.ts'
export {
  agentEnvironment,
  executableVariable,
  holdpointVariables,
  withoutHoldpointVariables,
} from './agent-environment.ts'
export { type PromptedCall, promptToolAsk, promptToolReply } from './claude/approvals/prompt-tool.ts'
export { type ClaudeOptions, claudeDriver } from './claude/driver.ts'
export { type CodexOptions, codexDriver } from './codex/driver.ts'
export type { Driver, RunnerAccess } from './driver.ts'
export { findProjectSettings, type ProjectSettings, type SettingsFile } from './folder-settings/project-settings.ts'
export {
  personalSettings,
  type SettingsAgent,
  settingsAgents,
  settingsLists,
} from './folder-settings/settings-lists.ts'
export {
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
} from './generator/asks.ts'
export { defineAgent, type GeneratorAgent, type GeneratorOptions, generatorDriver, say } from './generator/generator.ts'
export { loadAgent } from './generator/load-agent.ts'
export { StepFailed, type StepOptions, StepUnknown, setVariable, step } from './generator/step.ts'
export type { AgentText, AgentYield, Turn } from './generator/turn.ts'
export type { SpokenBlock } from './generator/turn-log.ts'
export { type OpencodeOptions, opencodeDriver } from './opencode/driver.ts'
export { tagVariable } from './process-record.ts'
export { processStartTime } from './process-start-time.ts'
export { rehearsal } from './rehearsal/rehearsal.ts'
export { type RunnerOptions, runRunner } from './runner.ts'
export type {
  AgentCall,
  AgentConnection,
  AgentExit,
  AgentMessage,
  AgentOutput,
  AgentProtocol,
  AgentSettings,
  AgentTurnEnd,
  AnswerEffects,
  CallAnswer,
  CallParking,
  CarriedRequest,
  CloseReason,
  ConnectionOptions,
  InterruptedTurn,
  ProcessStatus,
  ResumePlan,
  SettingsChange,
} from './session/agent-connection.ts'
export { runSession, type SessionLoopOptions } from './session/session-loop.ts'
export {
  answerHook,
  failedReply,
  type HookOptions,
  hookNameOf,
  parseHook,
} from './terminal/answer-hook.ts'
export type { TerminalAgent, TerminalEvent, TerminalReply } from './terminal/terminal-agent.ts'
export { type TerminalAgentName, terminalAgents } from './terminal/terminal-agents.ts'
export { type TerminalCall, type TerminalCalls, withdrawAbandoned } from './terminal/terminal-calls.ts'
