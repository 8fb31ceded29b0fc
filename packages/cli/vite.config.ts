/** Bundles our packages and zod into a few files, which halves the start-up time. Other libraries are loaded from node_modules. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client']
const packageEntry = (name: string) => fileURLToPath(new URL(`../${name}/dist/index.js`, import.meta.url))
const cliFile = (name: string) => fileURLToPath(new URL(`./dist/${name}.js`, import.meta.url))

/** The bundle contains zod, so its license must be included. */
const zodLicense = {
  name: 'zod-license',
  generateBundle(this: { emitFile(file: object): void }) {
    const source = readFileSync(join(createRequire(import.meta.url).resolve('zod/package.json'), '../LICENSE'))
    this.emitFile({ type: 'asset', fileName: 'zod.LICENSE', source })
  },
}

export default {
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [zodLicense],
  ssr: { noExternal: [/^@holdpoint\//, 'zod'] },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'dist/bundle',
    emptyOutDir: true,
    rolldownOptions: {
      input: {
        main: cliFile('main'),
        supervisor: cliFile('supervisor/supervisor'),
        'module-resolver': cliFile('runner/module-resolver'),
        // One entry per package, so that a person's agent can import it.
        ...Object.fromEntries(packages.map(name => [`packages/${name}`, packageEntry(name)])),
      },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        // Every command reads the data folder, which needs only this one module of drivers.
        codeSplitting: { groups: [{ name: 'process-start-time', test: /process-start-time/ }] },
      },
    },
  },
}
