/**
 * Finds out whether the settings of a git repository name programs. Many commands that only read run such programs:
 * `core.fsmonitor` (status, diff, ls-files), filters of `.gitattributes` (status, diff, blame), `diff.external` and `textconv`
 * (diff, log -p, show, blame), `gpg.program` (log and show with signatures), the hook `post-index-change` (status), the pager,
 * and programs that fetch missing objects of a partial clone. Only settings that are known to be harmless are accepted.
 */
import { foldName, holdsCredentials } from '../files/path-names.ts'
import { joinPath, parentOf } from '../paths.ts'
import type { CallSite, FileLookup } from '../site.ts'

const harmlessSettings: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|longpaths|quotepath|abbrev|untrackedcache|splitindex|preloadindex|compression|protecthfs|protectntfs|commentchar|whitespace|sparsecheckout|sparsecheckoutcone|multipackindex|commitgraph|bigfilethreshold|sharedrepository|hidedotfiles|trustctime|checkstat|excludesfile|attributesfile)$/,
  /^extensions\.(?:objectformat|refstorage|worktreeconfig|noop)$/,
  /^remote\..*\.(?:url|pushurl|fetch|push|tagopt|mirror|prune|prunetags|gh-resolved|skipdefaultupdate|followremotehead)$/,
  /^branch\..*\.(?:remote|merge|rebase|pushremote|description|vscode-merge-base|gk-merge-base|gk-merge-target|gk-last-accessed|gk-last-modified|github-pr-owner-number|base|mergeoptions)$/,
  /^submodule\.(?:.*\.(?:url|active|branch|path|ignore|fetchrecursesubmodules|shallow)|active|recurse)$/,
  /^(?:user|author|committer)\.(?:name|email|signingkey|useconfigonly)$/,
  /^commit\.(?:gpgsign|verbose|template|cleanup|status)$/,
  /^tag\.(?:gpgsign|sort|forcesignannotated)$/,
  /^gpg\.format$/,
  /^url\..*\.(?:insteadof|pushinsteadof)$/,
  /^(?:alias|color|gui|gitflow|github)\..*$/,
  /^(?:pull|push|fetch|rebase|merge|init|gc|pack|index|color|advice|status|rerere|column|branch|maintenance|feature|receive|transfer|versionsort|http|lfs|blame|clone|checkout|am|apply|stash)\.(?:[\w-]+|.*\.(?:locksverify|access))$/,
  /^log\.(?:abbrevcommit|date|decorate|follow|graphcolors|showroot|mailmap)$/,
  /^diff\.(?:algorithm|colormoved|colormovedws|context|interhunkcontext|mnemonicprefix|noprefix|renames|renamelimit|ignoresubmodules|suppressblankempty|wserrorhighlight|indentheuristic|relative|dirstat|statgraphwidth)$/,
]
/** Settings that name a program although their section is accepted. */
const namesProgram =
  /^(?:merge\.(?:tool|guitool)|.*\.(?:driver|cmd|command|helper|program|uploadpack|receivepack|vcs|proxy|cookiefile|extraheader))$|^http\.(?:.*\.)?(?:sslcert|sslkey)|^maintenance\.(?!auto$|strategy$|repo$)|^status\.submodulesummary$|^submodule\.recurse$|^stash\.usebuiltin$/

const foldersMax = 64

/** The only hook that runs for commands that read: they update the index with what they learn about files. */
const readingHooks = ['post-index-change']

/** Returns why git may run programs of the project in this folder, or null if its settings name none and none of these hooks exists. */
export function gitSettingsProblem(site: CallSite, hooks: readonly string[] = readingHooks): string | null {
  const { files } = site
  if (!files?.readText) return 'The settings of git cannot be looked at.'
  const top = topFolder(site.cwd, files)
  if (typeof top === 'string') return top
  if (top === null) return null
  return repositoryProblem(top.folder, files, hooks) ?? submoduleProblem(top.folder, files, hooks)
}

/** Returns whether an address in the settings of the repository may contain a password or a token, which `git remote -v` would show. */
export function mayShowCredentials({ cwd, files }: CallSite): boolean {
  const top = files && topFolder(cwd, files)
  if (top === null) return false
  const folder = typeof top === 'string' ? null : gitFolderOf(top.folder, files as FileLookup) // a folder was found, so there are files
  if (folder === null) return true
  const common = commonFolderOf(folder, files as FileLookup) // as above
  return [`${common}/config`, `${folder}/config.worktree`].some(
    path => files?.realPath(path) !== null && holdsCredentials(files?.readText?.(path) ?? 'token'),
  )
}

/** Returns the folder of the repository, or null if there is none or it is not clear. Git ignores a `.git` that is not a repository, for example an empty folder. */
export function repositoryFolder({ cwd, files }: CallSite): string | null {
  const top = files && topFolder(cwd, files)
  if (!top || typeof top === 'string') return null
  return gitFolderOf(top.folder, files) === null ? null : top.folder
}

/**
 * Finds the folder with `.git`, like git. Returns a text if git might take one of the folders for a repository without `.git`:
 * anybody can commit the files of such a repository. Every such repository has an entry `HEAD`, which can be a link to nothing.
 */
function topFolder(cwd: string, files: FileLookup): { readonly folder: string } | string | null {
  let folder = files.realPath(cwd)
  for (let steps = 0; folder !== null && steps < foldersMax; steps++) {
    const inFolder = (name: string) => (folder === '/' ? `/${name}` : `${folder}/${name}`)
    const entries = files.list?.(folder)
    if (!entries) return 'The settings of git cannot be looked at.'
    if (entries.some(({ name }) => /^(?:head|commondir)$/.test(foldName(name))))
      return 'The folder looks like a repository of git without a folder of files.'
    if (files.realPath(inFolder('.git')) !== null) return { folder }
    if (folder === '/') return null
    folder = parentOf(folder)
  }
  return 'The repository of git was not found.'
}

function repositoryProblem(top: string, files: FileLookup, hooks: readonly string[]): string | null {
  const gitFolder = gitFolderOf(top, files)
  if (gitFolder === null) return 'The settings of git cannot be looked at.'
  const common = commonFolderOf(gitFolder, files)
  const config = files.readText?.(`${common}/config`) ?? null
  if (config === null) return 'The settings of git cannot be looked at.'
  const worktree = files.realPath(`${gitFolder}/config.worktree`)
  const settings = readSettings(config)
  const more = worktree ? readSettings(files.readText?.(worktree) ?? '[') : []
  if (settings === null || more === null) return 'The settings of git are hard to read.'
  for (const { name, value } of [...settings, ...more]) {
    if (name === 'core.hookspath' && isPlainPath(value)) {
      if (hasHook(joinPath(top, value), files, hooks)) return hookProblem
    } else if (name === 'core.worktree' && isPlainPath(value)) {
      if (files.realPath(joinPath(gitFolder, value)) !== files.realPath(top)) return worktreeProblem
    } else if (!isHarmless(name)) return `The setting ${name} of this repository may run a program of the project.`
  }
  return hasHook(`${common}/hooks`, files, hooks) ? hookProblem : null
}
const worktreeProblem = 'The repository keeps its files in another folder.'
const hookProblem = 'The repository has a hook that this command of git runs.'

function isHarmless(name: string): boolean {
  return !namesProgram.test(name) && harmlessSettings.some(pattern => pattern.test(name))
}

/** Returns whether a path has no quotes, comments, `~` and other characters that git replaces. */
function isPlainPath(path: string): boolean {
  return /^[\w./@+-]+$/.test(path)
}

function hasHook(folder: string, files: FileLookup, hooks: readonly string[]): boolean {
  return hooks.some(hook => files.realPath(`${folder}/${hook}`) !== null)
}

/** `.git` is a folder, or a file that names one. */
function gitFolderOf(top: string, files: FileLookup): string | null {
  if (files.realPath(`${top}/.git/HEAD`) !== null) return `${top}/.git`
  const text = files.readText?.(`${top}/.git`) ?? ''
  const target = text.startsWith('gitdir: ') ? text.slice('gitdir: '.length).trim() : ''
  return target === '' || target.includes('\n') ? null : joinPath(top, target)
}

/** A worktree shares the settings of its repository. */
function commonFolderOf(gitFolder: string, files: FileLookup): string {
  const common = files.readText?.(`${gitFolder}/commondir`)?.trim()
  return common ? joinPath(gitFolder, common) : gitFolder
}

/** Git also looks into the submodules that are checked out, each of which has settings of its own. */
function submoduleProblem(top: string, files: FileLookup, hooks: readonly string[]): string | null {
  if (files.realPath(`${top}/.gitmodules`) === null) return null
  const settings = readSettings(files.readText?.(`${top}/.gitmodules`) ?? '[')
  if (settings === null) return 'The settings of git are hard to read.'
  for (const { name, value } of settings) {
    if (!name.endsWith('.path')) continue
    const folder = joinPath(top, value)
    const problem = files.realPath(`${folder}/.git`) === null ? null : repositoryProblem(folder, files, hooks)
    if (problem) return problem
  }
  return null
}

interface Setting {
  /** In lower case, with its section: `remote.origin.url`. */
  readonly name: string
  readonly value: string
}

/** Reads the part of git's file format that git itself writes. Returns null for everything else. */
function readSettings(text: string): readonly Setting[] | null {
  const settings: Setting[] = []
  let section = ''
  for (const line of text.split('\n')) {
    const plain = line.trim()
    if (plain === '' || /^[#;]/.test(plain)) continue
    const header = /^\[([\w.-]+)(?: "((?:[^"\\]|\\.)*)")?\]$/.exec(plain)
    if (header) {
      section = [header[1], header[2]].filter(part => part !== undefined).join('.')
      continue
    }
    const setting = /^([a-zA-Z][\w-]*)(?:\s*=(.*))?$/.exec(plain)
    // A line that ends with a backslash continues on the next one.
    if (!setting || section === '' || plain.endsWith('\\')) return null
    settings.push({
      name: `${section}.${setting[1]}`.toLowerCase(),
      value: (setting[2] ?? '').trim().replace(/^"(.*)"$/, '$1'),
    })
  }
  return settings
}
