/**
 * Adds missing optional dependencies to package-lock.json. Run this script after `npm install` has changed dependencies.
 * `npm install` leaves out binaries for other platforms that it did not resolve (https://github.com/npm/cli/issues/4828),
 * and `npm ci` then rejects the lock file as out of sync (https://github.com/npm/cli/issues/9846).
 */
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))
const platform =
  /(android|darwin|freebsd|linux|openharmony|win32|wasm32)-(arm64|arm|x64|ppc64|s390x|wasi)(?:-(gnu|musl|gnueabihf|eabi|msvc))?$/
const libc = { gnu: 'glibc', musl: 'musl' }

const missing = {}
for (const { optionalDependencies = {}, dev, license } of Object.values(lock.packages))
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (lock.packages[`node_modules/${name}`]) continue
    const [, os, cpu, abi] = platform.exec(name) ?? []
    if (!os) throw new Error(`Cannot read the platform from the package name ${name}; extend the pattern above.`)
    const platforms = os === 'wasm32' ? { cpu: ['wasm32'] } : { cpu: [cpu], os: [os] }
    const libcs = libc[abi] && os === 'linux' ? { libc: [libc[abi]] } : {}
    missing[`node_modules/${name}`] = {
      version,
      ...platforms,
      ...libcs,
      ...(dev ? { dev } : {}),
      license,
      optional: true,
    }
  }
const packages = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => (a < b ? -1 : 1))
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`)
console.log(`${Object.keys(missing).length} entries added to package-lock.json`)
