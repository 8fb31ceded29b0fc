/** Builds the page's files for the gateway: nothing inline, no third-party origins, hashed file names. */
import { fileURLToPath } from 'node:url'
import { operationRoutes } from '@holdpoint/protocol'
// biome-ignore lint/correctness/noUndeclaredDependencies: the workspace declares Vite
import { type ESTree, parseSync } from 'vite'
import { thirdPartyNotices } from '../../scripts/third-party-notices.ts'

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

/** The page needs the method and path of each operation, but not the schemas of the contract, which would be a third of its script. */
const operationRoutesOnly = {
  name: 'operation-routes-only',
  enforce: 'pre' as const,
  transform: (_code: string, id: string) =>
    id.endsWith('/protocol/src/operation-routes.ts')
      ? `export const operationRoutes = ${JSON.stringify(operationRoutes)}`
      : null,
}

/** Marks the schemas of the protocol as free of side effects, so that schemas which the page does not use are left out: `const a = f()` becomes `const a = (() => f())()` with a pure call. */
const pureSchemas = {
  name: 'pure-schemas',
  transform(code: string, id: string) {
    if (!id.includes('/protocol/src/')) return null
    const isFields = (init: ESTree.Expression) =>
      init.type === 'ObjectExpression' && code.slice(init.start, init.end).includes('z.')
    const { body } = parseSync('schemas.js', code).program
    const schemas = body
      .map(statement => (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement))
      .flatMap(statement => (statement?.type === 'VariableDeclaration' ? statement.declarations : []))
      .flatMap(({ init }) => (init && (init.type === 'CallExpression' || isFields(init)) ? [init] : []))
    return schemas.reduceRight(
      (before, { start, end }) =>
        `${before.slice(0, start)}/* @__PURE__ */ (() => (${before.slice(start, end)}))()${before.slice(end)}`,
      code,
    )
  },
}

/** Replaces Lucide's icon component with one that only draws the shapes of an icon. The styles of the page set size, color and strokes, so the code that reads these settings is not needed. It would be a third of the size of all icons. */
const shapesOfIconsOnly = {
  name: 'shapes-of-icons-only',
  enforce: 'pre' as const,
  transform: (_code: string, id: string) =>
    id.endsWith('/lucide-react/dist/esm/createLucideIcon.mjs')
      ? `import { createElement } from 'react'
        const draw = ([tag, attributes]) => createElement(tag, attributes)
        export default ({ name, node }) => ({ className = '' }) =>
          createElement('svg', { className: 'lucide lucide-' + name + ' ' + className, viewBox: '0 0 24 24', 'aria-hidden': true }, node.map(draw))`
      : null,
}

/** Lets the browser load the monospace font before it has read the styles. An optional font that comes later is not used. */
const preloadFont = {
  name: 'preload-font',
  transformIndexHtml: {
    order: 'post' as const,
    handler: (_html: string, { bundle = {} }: { readonly bundle?: object }) =>
      Object.keys(bundle)
        .filter(file => /-latin-wght-.*\.woff2$/.test(file))
        .map(file => ({
          tag: 'link',
          attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href: `/${file}` },
        })),
  },
}

export default {
  plugins: [stripDescriptions, operationRoutesOnly, pureSchemas, shapesOfIconsOnly, preloadFont, thirdPartyNotices],
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
      output: {
        // Puts the code of the first screen into one file. Otherwise, Rolldown makes a file for every set of screens that share a module, and the first screen needs forty such files.
        codeSplitting: { groups: [{ name: 'first-screen', tags: ['$initial'] }] },
      },
      onLog: (level: string, log: { code?: string }, handle: (level: string, log: object) => void) => {
        if (!ignoredWarnings.has(log.code ?? '')) handle(level, log)
      },
    },
  },
}
