/** Removes compiled files in packages/NAME/dist whose source no longer exists. `tsc -b` leaves them behind, and they would be published. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))
for (const name of readdirSync(packages)) {
  const dist = join(packages, name, 'dist')
  if (!existsSync(dist)) continue
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const match = /^(?!page\/|bundle\/|types\/)(.+?)\.(?:d\.ts|js)(?:\.map)?$/.exec(file)
    const hasSource = ['ts', 'tsx'].some(
      type => match && existsSync(join(packages, name, 'src', `${match[1]}.${type}`)),
    )
    if (match && !hasSource) rmSync(join(dist, file))
  }
}
