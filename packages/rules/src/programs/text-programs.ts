/** Grammars of programs that print files or what they get on standard input. None of them writes or runs anything with these options. */
import { flagsOf, type Grammar, type Operands } from './grammar.ts'
import { everything, type Program, programOf } from './grammar-check.ts'

function reads(operands: Operands, ...flags: readonly string[]): Program {
  return readsInStyle('clusters', operands, ...flags)
}
function readsInStyle(style: Grammar['style'], operands: Operands, ...flags: readonly string[]): Program {
  return programOf({ group: 'only-reads', style, flags: flagsOf(...flags), operands })
}
const files: Operands = { others: 'file' }
const listed: Operands = { others: 'listed' }
const texts: Operands = { others: 'text' }
const nothing: Operands = { others: 'none' }

const checksum = reads(files, '-b -t --binary --text --tag')

export const textPrograms: ReadonlyMap<string, Program> = new Map([
  ['cat', reads(files, '-A -b -e -E -n -s -t -T -u -v --number --number-nonblank --show-all --show-ends --show-tabs')],
  ['head', reads(files, '-# -n=number -c=number -q -v --lines=number --bytes=number --quiet --verbose')],
  // The list omits -f, which never ends, and --pid.
  ['tail', reads(files, '-# -n=number -c=number -q -v -r --lines=number --bytes=number --quiet --verbose')],
  ['wc', reads(files, '-c -m -l -L -w --bytes --chars --lines --words --max-line-length')],
  [
    'nl',
    reads(files, '-b=a|t|n -f=a|t|n -h=a|t|n -i=number -n=ln|rn|rz -s=text -v=number -w=number --body-numbering=a|t|n'),
  ],
  ['tac', reads(files, '')],
  ['rev', reads(files, '')],
  ['fold', reads(files, '-b -s -w=number --spaces --width=number')],
  // The list omits -n, which takes a value for some versions only.
  ['column', reads(files, '-t -s=text -o=text -x -c=number -N=text -R=text --table --separator=text')],
  ['paste', reads(files, '-s -d=text --serial --delimiters=text')],
  [
    'cut',
    reads(
      files,
      '-b=text -c=text -d=text -f=text -s --bytes=text --characters=text --delimiter=text --fields=text --complement --only-delimited --output-delimiter=text',
    ),
  ],
  [
    'tr',
    reads(
      { others: 'text', least: 1, most: 2 },
      '-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1',
    ),
  ],
  // The list omits -o, -T, -S and --compress-program, which write files or run a program, and --files0-from.
  [
    'sort',
    reads(
      files,
      '-b -d -f -g -h -i -M -n -R -r -V -c -C -m -s -u -z -k=text -t=text --key=text --field-separator=text --numeric-sort --reverse --unique --human-numeric-sort --version-sort --ignore-case --stable --general-numeric-sort',
    ),
  ],
  // The second operand of uniq and xxd is a file that they write.
  [
    'uniq',
    reads(
      { others: 'file', most: 1 },
      '-c -d -D -i -u -z -f=number -s=number -w=number --count --repeated --unique --ignore-case',
    ),
  ],
  [
    'xxd',
    programOf({
      group: 'only-reads',
      style: 'words',
      optionsFirst: true,
      flags: flagsOf('-a -b -c=number -g=number -i -l=number -p -s=number -u'),
      operands: { others: 'file', most: 1 },
    }),
  ],
  ['od', reads(files, '-A=d|o|x|n -c -b -d -x -o -s -v -j=number -N=number -t=word -w?=number')],
  ['hexdump', reads(files, '-b -c -C -d -o -x -v -n=number -s=number')],
  ['strings', reads(files, '-a -n=number -t=d|o|x')],
  ['comm', reads({ others: 'file', most: 2 }, '-1 -2 -3 -i --total')],
  ['cmp', reads({ others: 'file', most: 2 }, '-b -l -s --silent --quiet')],
  // The list omits -l, which runs pr, and --from-file and --to-file, which read more files. Of two folders, diff reads the files in them, and it follows links.
  [
    'diff',
    reads(
      { others: 'tree', most: 2, filter: { ...everything, followsLinks: true } },
      '-a -b -B -c -C=number -d -e -E -i -n -N -p -q -r -s -t -u -U=number -w -W=number -y -Z -x=text',
      '--brief --unified?=number --context?=number --side-by-side --recursive --new-file --ignore-all-space --ignore-case',
      '--ignore-space-change --ignore-blank-lines --color?=auto|always|never --strip-trailing-cr',
      '--suppress-common-lines --width=number --exclude=text --report-identical-files',
    ),
  ],
  ['sha1sum', checksum],
  ['sha256sum', checksum],
  ['sha512sum', checksum],
  ['md5sum', checksum],
  ['cksum', reads(files, '')],
  ['shasum', reads(files, '-a=1|224|256|384|512')],
  ['base64', reads({ others: 'file', most: 1 }, '-d -D -i -w=number --decode --wrap=number')],
  ['file', reads(files, '-b -i -I -k -L -h --brief --mime --mime-type --mime-encoding')],

  // The list omits -I, which takes a value for some versions only.
  [
    'ls',
    reads(
      listed,
      '-1 -a -A -b -B -c -C -d -F -f -g -G -h -H -i -k -l -m -n -N -o -p -q -Q -r -R -s -S -t -T?=number -u -U -v -x -X -Z -w=number --all --almost-all --author --color?=auto|always|never --directory --classify?=auto|always|never --file-type --full-time --group-directories-first --human-readable --ignore=text --hide=text --inode --numeric-uid-gid --reverse --recursive --size --sort=size|time|name|extension|version|none|width --time=atime|ctime|mtime|birth --time-style=iso|long-iso|full-iso|locale --width=number --no-group',
    ),
  ],
  // The list omits -o, and -R and -H, which together write files. It also omits -l, which follows links. In `-Po`, both letters take a word.
  [
    'tree',
    readsInStyle(
      'alone',
      listed,
      '-a -d -f -i -q -N -Q -p -u -g -s -h -D -F -r -t -v -c -U -C -n -A -S -J -X -x -L=number -P=text -I=text --prune --dirsfirst --filesfirst --noreport --filelimit=number --matchdirs --ignore-case --gitignore --du --si --inodes --sort=name|size|mtime|ctime|version --charset=word',
    ),
  ],
  // The list omits -X and --files0-from, which read lists of files.
  [
    'du',
    reads(
      listed,
      '-0 -a -b -c -h -k -m -s -S -x -d=number -t=number -B=word --all --apparent-size --bytes --total --human-readable --max-depth=number --summarize --separate-dirs --one-file-system --exclude=text --time --si',
    ),
  ],
  [
    'df',
    reads(
      listed,
      '-a -h -H -i -k -l -m -P -T -t=word -x=word -B=word --human-readable --inodes --local --total --print-type --output?=word',
    ),
  ],
  ['stat', reads(listed, '-c=text -f -t -x -L -s --format=text --printf=text --terse --file-system --dereference')],
  ['readlink', reads(listed, '-f -e -m -n -z --canonicalize')],
  ['realpath', reads(listed, '-e -m -q -s -z --relative-to=listed --relative-base=listed')],
  ['basename', reads(texts, '-a -s=text -z --suffix=text --multiple')],
  ['dirname', reads(texts, '-z --zero')],
  ['pwd', reads(nothing, '-L -P')],
  ['which', reads(texts, '-a -s --all')],

  ['true', reads(texts, '')],
  ['false', reads(texts, '')],
  [':', reads(texts, '')],
  ['whoami', reads(nothing, '')],
  ['nproc', reads(nothing, '--all')],
  ['arch', reads(nothing, '')],
  [
    'uname',
    reads(nothing, '-a -i -m -n -o -p -r -s -v --all --machine --kernel-name --kernel-release --operating-system'),
  ],
  // An operand would set the name or the clock. The list omits -f, -i and -d, which look up the name in the network.
  ['hostname', reads(nothing, '-s -I')],
  ['id', reads({ others: 'word', most: 1 }, '-a -g -G -n -r -u')],
  ['groups', reads({ others: 'word' }, '')],
  ['uptime', reads(nothing, '-p -s')],
  ['free', reads(nothing, '-b -k -m -g -h -t -w --human --mega --giga')],
  ['sleep', reads({ others: 'number', least: 1, most: 1 }, '')],
  ['seq', reads({ others: 'text', most: 3 }, '-w -s=text -f=text')],
])
