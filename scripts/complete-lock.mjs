/** Completes package-lock.json: npm leaves out optional binaries of platforms it could not look up, and `npm ci` then refuses the lock. Run after changing dependencies. */
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
    if (!os) throw new Error(`${name} does not say which platform it is for`)
    const fits = os === 'wasm32' ? { cpu: ['wasm32'] } : { cpu: [cpu], os: [os] }
    const on = libc[abi] && os === 'linux' ? { libc: [libc[abi]] } : {}
    missing[`node_modules/${name}`] = { version, ...fits, ...on, ...(dev ? { dev } : {}), license, optional: true }
  }
const packages = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => (a < b ? -1 : 1))
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`)
console.log(`${Object.keys(missing).length} entries added`)
