/** The version in this package's package.json. */
import { createRequire } from 'node:module'

const manifest = createRequire(import.meta.url)('holdpoint/package.json') as { version: string } // our own package.json always has a version
export const version = manifest.version
