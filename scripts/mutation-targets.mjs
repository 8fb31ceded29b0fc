/** The files whose decisions mutation testing checks, each with the tests that it runs for every mutant. Only quick tests are listed, the quickest first, because each of them runs hundreds of times. */
const engine = (...names) => names.map(name => `packages/engine/test/${name}.test.ts`)
const server = (...names) => names.map(name => `packages/server/test/${name}.test.ts`)
const drivers = (...names) => names.map(name => `packages/drivers/test/${name}.test.ts`)
const rules = (...names) => names.map(name => `packages/rules/test/${name}.test.ts`)

export const mutationTargets = {
  // Authentication and authorization: who the caller is, and what the caller may do.
  'packages/server/src/authenticate.ts': server('authenticator'),
  'packages/server/src/sign-in-cookie.ts': server('sign-in-cookie'),
  'packages/protocol/src/access.ts': ['packages/protocol/test/access.test.ts'],
  'packages/engine/src/authorization.ts': engine('authorization'),
  // Limits.
  'packages/server/src/admission.ts': server('admission'),
  'packages/server/src/slots.ts': server('slots'),
  'packages/server/src/wrong-attempts.ts': server('wrong-attempt-counts'),
  'packages/server/src/open-connections.ts': server('open-connections'),
  'packages/engine/src/quota.ts': engine('quota'),
  'packages/engine/src/usage.ts': engine('usage-limits'),
  // Transitions.
  'packages/engine/src/transitions.ts': engine('transitions'),
  'packages/engine/src/request-transitions.ts': engine(
    'request-transitions',
    'delivery',
    'secrets',
    'request-batches',
    'watch-stops',
    'review',
  ),
  'packages/engine/src/session-transitions.ts': engine('session-transitions'),
  'packages/engine/src/token-transitions.ts': engine('token-transitions', 'tokens'),
  // Delivery.
  'packages/engine/src/operations/delivery.ts': engine(
    'delivery',
    'handover',
    'decision-check',
    'changed-rules',
    'watch-stops',
    'review',
  ),
  'packages/engine/src/decision-check.ts': engine('decision-check'),
  'packages/client/src/agent/open-request.ts': drivers('open-request', 'lying-gateway'),
  'packages/client/src/agent/expected-request.ts': drivers('lying-gateway'),
  // Rules: what they match, and what may be a rule.
  'packages/rules/src/evaluate.ts': rules('rule-set', 'deny-paths', 'evaluate'),
  'packages/rules/src/rule-context.ts': rules('rule-set', 'evaluate'),
  'packages/rules/src/allowing-rules.ts': rules('allowing-rules', 'deny-paths', 'evaluate'),
  'packages/rules/src/restricting-rules.ts': rules(
    'restricting-rules',
    'rule-set',
    'deny-paths',
    'deny-path-patterns',
    'unknown-actions',
    'shell/deny-dynamic-texts',
    'watch/watcher-set',
  ),
  'packages/rules/src/rule-validation.ts': rules('rule-validation'),
  'packages/rules/src/rule-file.ts': rules('rule-file'),
  'packages/rules/src/propose.ts': rules('propose', 'policy-attacks'),
  'packages/rules/src/shell/parse-command.ts': rules('shell/parse-command', 'shell/attacks'),
  'packages/rules/src/shell/same-reading.ts': rules('shell/same-reading'),
  'packages/rules/src/shell/canonical-command.ts': rules('shell/canonical-command'),
  'packages/engine/src/rule-answers.ts': engine('rule-answers', 'changed-rules', 'rules', 'data-folder-rule'),
}
