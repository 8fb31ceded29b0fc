/** The names that rules may use for the paths of one call. A rule may name a path through symbolic links. */
import { LinkedNames, type RuleLinks } from './files/rule-links.ts'
import { foldPath } from './paths.ts'
import type { FileLookup } from './site.ts'

export interface Names {
  /** The names of the paths, in the form in which paths are compared. */
  readonly paths: ReadonlySet<string>
  /** The names of all folders that contain one of the paths and that a rule can name. A path counts as a folder that contains itself. */
  readonly folders: ReadonlySet<string>
}

export class RuleNames {
  readonly #links: RuleLinks
  readonly #files: FileLookup | null
  #linked: LinkedNames | undefined
  #hasTooMany = false

  constructor(links: RuleLinks, files: FileLookup | null) {
    this.#links = links
    this.#files = files
  }

  /** The names that lead through links, looked up once for a call. */
  get linked(): LinkedNames {
    if (this.#linked) return this.#linked
    const links = this.#links.find(this.#files)
    this.#hasTooMany = links === null
    this.#linked = new LinkedNames(
      (links ?? []).map(({ written, real }) => ({ written: foldPath(written), real: foldPath(real) })),
      this.#links.longest,
    )
    return this.#linked
  }

  /** Whether rules were compared only as they are written, because there are too many to look up. One of them may match, so the call must not be allowed. */
  get hasTooMany(): boolean {
    return this.#hasTooMany
  }

  /** Returns the names of absolute paths in the form in which paths are compared. */
  namesOf(absolute: Iterable<string>): Names {
    const names: Names & { readonly paths: Set<string>; readonly folders: Set<string> } = {
      paths: new Set(),
      folders: new Set(),
    }
    for (const path of absolute) this.linked.addTo(path, names.paths, names.folders)
    return names
  }
}
