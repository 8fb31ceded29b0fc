/** The version in this package's package.json. */
import { createRequire } from 'node:module'

const manifest = createRequire(import.meta.url)('holdpoint/package.json') as { version: string } // the shape of our own package.json
export const version = manifest.version
