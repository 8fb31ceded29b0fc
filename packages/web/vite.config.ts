/** The page's files as the gateway serves them: nothing inline, nothing from elsewhere, names that carry their hash. */
import { fileURLToPath } from 'node:url'

const room = (name: string) => fileURLToPath(new URL(`../${name}/src/index.ts`, import.meta.url))

export default {
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { alias: ['protocol', 'client'].map(name => ({ find: `@holdpoint/${name}`, replacement: room(name) })) },
  build: {
    outDir: 'dist/page',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
}
