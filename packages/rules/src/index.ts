export { type BuiltInContext, credentialRule, dataFolderRule } from './built-in.ts'
export { describeRule, RuleSet } from './evaluate.ts'
export { checkPath, type PathCheck, type PathProblem } from './files/check-path.ts'
export {
  type ClaudePermissions,
  type ImportedEntry,
  type ImportOptions,
  importClaudePermissions,
} from './import-claude.ts'
export { checkArguments, hasGrammar } from './programs/check-arguments.ts'
export type { ArgumentCheck } from './programs/grammar-check.ts'
export { type Proposals, proposeRules } from './propose.ts'
export { ProtectedFolder, type ProtectedFolderOptions } from './protected-folder.ts'
export { riskOf } from './risk.ts'
export type { Decision, RuleContext } from './rule-context.ts'
export { parseRuleFile, ruleFileName } from './rule-file.ts'
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
