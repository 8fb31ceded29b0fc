export { type BuiltInContext, credentialRule, dataFolderRule } from './built-in.ts'
export { evaluateRules, type RuleContext, type RuleSubject, validateRule } from './evaluate.ts'
export { ProtectedFolder, type ProtectedFolderOptions } from './protected-folder.ts'
export type { CallSite, FileLookup, FolderEntry } from './site.ts'
