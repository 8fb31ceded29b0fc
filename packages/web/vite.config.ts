/** Builds the page's files for the gateway: nothing inline, no third-party origins, hashed file names. */
import { fileURLToPath } from 'node:url'

const packageSource = (name: string) => fileURLToPath(new URL(`../${name}/src/index.ts`, import.meta.url))

/** Warnings that are not useful here. They are about "use client" directives in libraries, and about slow plugins. */
const ignoredWarnings = new Set(['MODULE_LEVEL_DIRECTIVE', 'PLUGIN_TIMINGS'])

/** The page does not show the API reference, so its descriptions need not be downloaded: `schema.describe('…')` becomes `schema`. */
const stripDescriptions = {
  name: 'strip-descriptions',
  enforce: 'pre' as const,
  transform: (code: string, id: string) =>
    id.includes('/protocol/src/') ? code.replace(/\s*\.describe\(\s*'[^']*',?\s*\)/g, '') : null,
}

export default {
  plugins: [stripDescriptions],
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: {
    alias: ['protocol', 'client'].map(name => ({ find: `@holdpoint/${name}`, replacement: packageSource(name) })),
  },
  build: {
    outDir: 'dist/page',
    emptyOutDir: true,
    target: 'es2023',
    // These are the first browser versions that support light-dark(). For older versions, Vite would emit every color twice.
    cssTarget: ['chrome123', 'safari17.5', 'firefox120'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onLog: (level: string, log: { code?: string }, handle: (level: string, log: object) => void) => {
        if (!ignoredWarnings.has(log.code ?? '')) handle(level, log)
      },
    },
  },
}
