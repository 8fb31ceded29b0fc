/** Finds out whether other users of this machine could change or replace a file or a folder, as far as owners and modes show it. */
import { lstatSync, readFileSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { shellQuote } from '../output/shell-quote.ts'

export interface AccessProblem {
  readonly path: string
  /** The users who could change the path, with its owner and mode. The text follows the path in a sentence. */
  readonly detail: string
  /** The command that fixes the problem. */
  readonly remedy: string
}

const groupWrite = 0o020
const otherWrite = 0o002
const sticky = 0o1000
const rootId = 0
const linksMax = 40

/** Returns why another user could change or replace the file or folder at `path`, or null if nobody can. For a path that does not exist yet, only its folders are checked. */
export function accessProblem(path: string): AccessProblem | null {
  return ownUserId() === null ? null : (folderProblem(path) ?? entryProblem(path, isSharedWrite))
}

/** Like `accessProblem`, for files with secrets: only the current user may own them, and no group may write to them. */
export function privateAccessProblem(path: string): AccessProblem | null {
  return ownUserId() === null ? null : (folderProblem(path) ?? privateEntryProblem(path))
}

/** Checks the entry alone, for files in a folder that has already been checked. */
export function privateEntryProblem(path: string): AccessProblem | null {
  const uid = ownUserId()
  if (uid === null) return null
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.uid === rootId && uid !== rootId
    ? ownerProblem(path, stats)
    : entryProblem(path, ({ mode }) => (mode & (groupWrite | otherWrite)) !== 0)
}

function entryProblem(path: string, isWritable: (stats: Stats) => boolean): AccessProblem | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return null
  if (!isTrustedOwner(stats)) return ownerProblem(path, stats)
  return isWritable(stats) ? modeProblem(path, stats) : null
}

/** Checks every folder on the way to `path`, because a user who can write to one of them can replace the entry in it. */
function folderProblem(path: string): AccessProblem | null {
  for (const { folder, entry } of stepsTo(resolve(path), linksMax)) {
    const stats = statSync(folder, { throwIfNoEntry: false })
    if (!stats) return null
    if (!isTrustedOwner(stats)) return ownerProblem(folder, stats)
    if (!isSharedWrite(stats)) continue
    // In a folder with the sticky bit, such as /tmp, only its owner can replace an entry.
    if ((stats.mode & sticky) === 0) return modeProblem(folder, stats)
    const owned = lstatSync(entry, { throwIfNoEntry: false })
    if (owned && !isTrustedOwner(owned)) return ownerProblem(entry, owned)
  }
  return null
}

interface Step {
  readonly folder: string
  readonly entry: string
}

/** Returns the folders on the way to `path`, each with the entry in it that leads to `path`, including the folders of symbolic links' targets. */
function stepsTo(path: string, linksLeft: number): readonly Step[] {
  const steps: Step[] = []
  let folder = '/'
  for (const name of path.split('/').filter(part => part !== '')) {
    const entry = join(folder, name)
    steps.push({ folder, entry })
    const isLink = lstatSync(entry, { throwIfNoEntry: false })?.isSymbolicLink() === true
    if (isLink && linksLeft > 0) {
      steps.push(...stepsTo(resolve(folder, readlinkSync(entry)), linksLeft - 1))
      if (!statSync(entry, { throwIfNoEntry: false })) return steps
    }
    folder = isLink ? realpathSync(entry) : entry
  }
  return steps
}

/** Returns whether somebody other than the owner may write: everybody, or a group that is not the user's own. */
function isSharedWrite({ mode, gid }: Stats): boolean {
  return (mode & otherWrite) !== 0 || ((mode & groupWrite) !== 0 && !isOwnGroup(gid))
}

/** Root counts as trusted, because root can change every file anyway. */
function isTrustedOwner({ uid }: Stats): boolean {
  return uid === rootId || uid === ownUserId() || uid === unmappedUserId()
}

/** Returns the id that represents root in a user namespace without root, as sandboxes have; otherwise null. */
function unmappedUserId(): number | null {
  return unmappedUserIdIn(textOf('/proc/self/uid_map'), textOf('/proc/sys/kernel/overflowuid'))
}
/** The first argument lists ranges of ids: the first id in this namespace, the first id outside, and how many. */
export function unmappedUserIdIn(uidMap: string, overflowId: string): number | null {
  const ranges = uidMap.split('\n').map(line => line.trim().split(/\s+/).map(Number))
  const id = overflowId === '' ? Number.NaN : Number(overflowId)
  const hasRoot = ranges.some(([, outside]) => outside === rootId)
  // If the id is mapped, it also represents a user of this namespace, who may be anybody.
  const isMapped = ranges.some(([first = 0, , count = 0]) => id >= first && id < first + count)
  return uidMap === '' || Number.isNaN(id) || hasRoot || isMapped ? null : id
}

/** Null on Windows, where owners and modes do not exist. */
function ownUserId(): number | null {
  return process.geteuid?.() ?? null
}

/** Returns whether the current user is the only member of the group. Many systems give every user such a group and create files that this group may write. */
function isOwnGroup(gid: number): boolean {
  // macOS does not list the members of its groups in a file. Members of wheel and admin can become root anyway.
  if (process.platform === 'darwin') return gid === 0 || gid === 80
  const { username } = userInfo()
  const group = linesOf('/etc/group').find(([, , id]) => Number(id) === gid)
  const members = (group?.[3] ?? '').split(',').filter(name => name !== '')
  const users = linesOf('/etc/passwd').filter(([, , , id]) => Number(id) === gid)
  return (
    group !== undefined &&
    [...members, ...users.map(([name]) => name)].every(name => name === username || name === 'root')
  )
}

function nameOf(uid: number): string {
  return linesOf('/etc/passwd').find(([, , id]) => Number(id) === uid)?.[0] ?? `user ${uid}`
}

function linesOf(file: string): readonly (readonly string[])[] {
  return textOf(file)
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.split(':'))
}
/** Returns an empty text if the file does not exist on this system. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}

function ownerProblem(path: string, stats: Stats): AccessProblem {
  return {
    path,
    detail: `is owned by ${describe(stats)}, so that user could change or replace it`,
    remedy: `${asRoot()}chown ${shellQuote(userInfo().username)} ${shellQuote(path)}`,
  }
}

function modeProblem(path: string, stats: Stats): AccessProblem {
  const who = (stats.mode & otherWrite) !== 0 ? 'other users' : 'the users of its group'
  return {
    path,
    detail: `is owned by ${describe(stats)}, and ${who} can write to it`,
    remedy: `${stats.uid === ownUserId() ? '' : asRoot()}chmod go-w ${shellQuote(path)}`,
  }
}

function asRoot(): string {
  return ownUserId() === rootId ? '' : 'sudo '
}

function describe({ uid, mode }: Stats): string {
  return `${nameOf(uid)} with mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`
}
