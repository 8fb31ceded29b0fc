export { type BuiltInContext, credentialRule, dataFolderRule } from './built-in.ts'
export { describeRule, RuleSet } from './evaluate.ts'
export { checkPath, type PathCheck, type PathProblem } from './files/check-path.ts'
export {
  type ClaudePermissions,
  type ImportedEntry,
  type ImportOptions,
  importClaudePermissions,
} from './import-claude.ts'
export { isInside } from './paths.ts'
export { checkArguments, hasGrammar } from './programs/check-arguments.ts'
export type { ArgumentCheck } from './programs/grammar-check.ts'
export { type Proposals, proposeRules } from './propose.ts'
export { ProtectedFolder, type ProtectedFolderOptions } from './protected-folder.ts'
export { riskOf } from './risk.ts'
export type { Decision, RuleContext } from './rule-context.ts'
export { parseRuleFile, type RuleFileContent } from './rule-file.ts'
export { ruleFileName } from './rule-file-name.ts'
export { ruleProblem, validateRule } from './rule-validation.ts'
export { canonicalCommand, quoteWord } from './shell/canonical-command.ts'
export {
  type LiteralCommand,
  type LiteralCommands,
  literalCommands,
  mentionsWords,
} from './shell/literal-commands.ts'
export { parseCommand } from './shell/parse-command.ts'
export type {
  CommandOperator,
  CommandSegment,
  NullRedirect,
  ParsedCommand,
  ProvenCommand,
  UnprovenCommand,
} from './shell/parsed-command.ts'
export { unwrapShell } from './shell/unwrap-shell.ts'
export { workingFolders } from './shell/working-folders.ts'
export type { CallSite, FileLookup, FolderEntry } from './site.ts'
export { momentEffects, questionTool, type WatchEffect } from './watch/compiled-watcher.ts'
export { defaultOf, variableProblem } from './watch/condition-names.ts'
export { type ReadyMadeSetting, type ReadyMadeWatchers, readyMadeWatchers } from './watch/ready-made.ts'
export { type WatchedAgent, watchGaps } from './watch/watch-gaps.ts'
export {
  allowedAmount,
  type FileWatcher,
  type Firing,
  type Firings,
  type RecentCall,
  type Spent,
  type WatchFile,
  type WatchPass,
  type WatchResult,
} from './watch/watch-pass.ts'
export { type SessionPlace, WatcherSet } from './watch/watcher-set.ts'
