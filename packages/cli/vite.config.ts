/** Bundles our packages and every library written in JavaScript into a few files. The program starts in half the time, and an installation is small. */
import { fileURLToPath } from 'node:url'
import { thirdPartyNotices } from '../../scripts/third-party-notices.ts'

const packages = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client']
const packageEntry = (name: string) => fileURLToPath(new URL(`../${name}/dist/index.js`, import.meta.url))
const cliFile = (name: string) => fileURLToPath(new URL(`./dist/${name}.js`, import.meta.url))

/** Libraries that are loaded from node_modules: SQLite is a binary, people choose whether to install the SDK, and ws can use the other two. */
const external = ['@photostructure/sqlite', '@anthropic-ai/claude-agent-sdk', 'bufferutil', 'utf-8-validate']

/** The modules of client and drivers that a hook of a person's terminal needs, and no others. */
const terminalHooks =
  /client\/dist\/agent\/(?!external-agent)|drivers\/dist\/(?:terminal\/|claude\/(?:approvals\/|messages)|folder-settings\/messages|shell-quote|process-(?:record|group))/

export default {
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [thirdPartyNotices],
  ssr: { noExternal: true as const, external },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'dist/bundle',
    emptyOutDir: true,
    rolldownOptions: {
      input: {
        main: cliFile('main'),
        index: cliFile('index'),
        supervisor: cliFile('supervisor/supervisor'),
        'module-resolver': cliFile('runner/module-resolver'),
        // One entry per package, so that a person's agent can import it.
        ...Object.fromEntries(packages.map(name => [`packages/${name}`, packageEntry(name)])),
      },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        codeSplitting: {
          groups: [
            // Every command reads the data folder and the settings, which need only these modules of drivers.
            { name: 'agent-environment', test: /drivers\/dist\/(?:process-start-time|agent-environment)\.js/ },
            { name: 'protocol', test: /protocol\/dist|node_modules\/zod/, priority: 1 },
            // Most commands only call the gateway, and start quicker without what draws requests and transcripts.
            { name: 'http-call', test: /client\/dist\/(?:http-call|connection|send-request)\.js/ },
            // A hook runs before every call of an agent, and starts quicker without the drivers.
            { name: 'terminal-hooks', test: terminalHooks },
          ],
        },
      },
    },
  },
}
