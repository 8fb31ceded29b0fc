export { evaluateRules, type RuleContext, type RuleSubject, validateRule } from './evaluate.ts'
