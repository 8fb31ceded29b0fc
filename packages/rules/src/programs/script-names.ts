/** Which scripts and targets of a project may run without a question: those whose name says that they test, check or build. */

const usual =
  /^(?:tests?|unit|integration|e2e|spec|specs|vitest|jest|mocha|pytest|coverage|cov|build|compile|bundle|tsc|types?|typecheck|typescript|lint|linter|eslint|biome|prettier|format|fmt|check|checks|validate|verify|ci|bench|benchmark|docs?|analyze|static|quality|ruff|mypy|clippy|vet)$/
/** A part of the name that says that more happens than testing, checking or building, or that the script does not end. */
const unusual =
  /^(?:deploy|deployment|publish|release|ship|push|upload|sync|migrate|migration|migrations|seed|prod|production|live|staging|clean|reset|drop|destroy|remove|delete|purge|install|uninstall|start|serve|server|dev|watch|run|exec|docker|k8s|aws|gcp|db|database|tag|version|bump|changelog|login|token|secret|secrets)$/

/** `test`, `lint:fix`, `build-docs`: the first part says what the script does, and no other part says more. */
export function isUsualScript(name: string): boolean {
  if (!/^[a-zA-Z][\w:.@/-]*$/.test(name) || name.length > 60) return false
  const parts = name.toLowerCase().split(/[:._@/-]+/)
  return parts.some(part => usual.test(part)) && !parts.some(part => unusual.test(part))
}
