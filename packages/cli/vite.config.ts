/** The program as it starts: the rooms and what checks their words in a few files instead of hundreds, which halves the time to the first line. What else it needs is loaded from its packages. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const rooms = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client']
const built = (name: string) => fileURLToPath(new URL(`../${name}/dist/index.js`, import.meta.url))
const ours = (name: string) => fileURLToPath(new URL(`./dist/${name}.js`, import.meta.url))

/** Whoever passes zod on passes its licence on. */
const zodLicence = {
  name: 'zod-licence',
  generateBundle(this: { emitFile(file: object): void }) {
    const source = readFileSync(join(createRequire(import.meta.url).resolve('zod/package.json'), '../LICENSE'))
    this.emitFile({ type: 'asset', fileName: 'zod.LICENSE', source })
  },
}

export default {
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [zodLicence],
  ssr: { noExternal: [/^@holdpoint\//, 'zod'] },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'dist/whole',
    emptyOutDir: true,
    rolldownOptions: {
      input: {
        main: ours('main'),
        'module-resolver': ours('runner/module-resolver'),
        // Each by its name, for a person's agent.
        ...Object.fromEntries(rooms.map(name => [`rooms/${name}`, built(name)])),
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
