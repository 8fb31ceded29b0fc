/** The page's files as the gateway serves them: nothing inline, nothing from elsewhere, names that carry their hash. */
import { fileURLToPath } from 'node:url'

const room = (name: string) => fileURLToPath(new URL(`../${name}/src/index.ts`, import.meta.url))

/** That a library names the side of a server it is for (there is only one here), and how long a busy machine took. */
const needless = new Set(['MODULE_LEVEL_DIRECTIVE', 'PLUGIN_TIMINGS'])

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
  resolve: { alias: ['protocol', 'client'].map(name => ({ find: `@holdpoint/${name}`, replacement: room(name) })) },
  build: {
    outDir: 'dist/page',
    emptyOutDir: true,
    target: 'es2023',
    // The first that know light-dark(): older ones would get every colour twice, and the script none.
    cssTarget: ['chrome123', 'safari17.5', 'firefox120'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onLog: (level: string, log: { code?: string }, handle: (level: string, log: object) => void) => {
        if (!needless.has(log.code ?? '')) handle(level, log)
      },
    },
  },
}
