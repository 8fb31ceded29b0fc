/** Decides which scripts and targets of a project may run without a question: those whose name says that they test, check or build, and nothing else. */

const usual =
  /^(?:tests?|unit|integration|e2e|spec|specs|vitest|jest|mocha|pytest|coverage|cov|build|compile|bundle|tsc|types?|typecheck|typescript|lint|linter|eslint|biome|prettier|format|fmt|check|checks|validate|verify|ci|bench|benchmark|docs?|analyze|static|quality|ruff|mypy|clippy|vet)$/
/** Words in a name that say for which part of the project the script is, or how it runs. Any other word could mean that the script does more. */
const qualifying =
  /^(?:\d+|all|fix|write|fast|quick|full|once|only|strict|silent|quiet|verbose|debug|parallel|serial|single|changed|affected|failed|smoke|regression|snapshot|snapshots|update|browser|chrome|chromium|firefox|webkit|node|web|ui|api|app|apps|core|lib|libs|common|shared|utils?|cli|sdk|client|frontend|backend|packages?|modules?|workspaces?|plugins?|components?|js|ts|jsx|tsx|mjs|cjs|esm|css|scss|styles?|html|md|markdown|json|yaml|yml|py|python|go|rust|java|src|source|sources|scripts|examples?|demo|storybook|schema|schemas|deps|dependencies|imports?|exports?|links?|spelling|size|lockfile|style|code|files|unused|cycles|circular|licenses?|i18n|a11y|rules|config|playwright|cypress|stylelint|oxlint|tslint|rollup|vite|webpack|esbuild|swc|babel|pre|post|local|mock|mocks|fixtures|report|and|no|without|with)$/

/**
 * Returns whether a name says that the script only tests, checks or builds, such as `test`, `lint:fix` or `build-docs`. A name with
 * a slash could also be a path: pnpm and bun run the file if there is no such script.
 */
export function isUsualScript(name: string): boolean {
  if (!/^[a-zA-Z][\w:.@-]*$/.test(name) || name.length > 60) return false
  const parts = name.toLowerCase().split(/[:._@-]+/)
  return parts.some(part => usual.test(part)) && parts.every(part => usual.test(part) || qualifying.test(part))
}
