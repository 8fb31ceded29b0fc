/** Help texts of all commands, in one place so that they can be edited as prose. They are short and imperative, and end without a period. */

export const programDescription = 'The gateway where AI agents stop and ask people.\n\nWithout a command: holdpoint up'

export const groups = {
  start: 'Start and stop:',
  live: 'Live in this terminal:',
  answer: 'Answer:',
  sessions: 'Sessions:',
  scripts: 'From scripts:',
  maintenance: 'Maintenance:',
} as const

export const commandHelp = {
  status: 'Show where the gateway runs, and how many requests are pending',
  up: 'Start the gateway, a runner and the page; restart the gateway after a crash',
  gateway: 'Like `up`, but in one process and without restarts',
  down: 'Stop the gateway and its runner; pending requests are kept',
  runner: 'Run agents for a gateway (`up` starts a runner by itself)',
  link: 'Print a one-time link that signs a browser in',
  open: 'Open the page in a browser and sign it in, or print the link if there is no browser',
  service: 'Start Holdpoint when you log in (systemd, launchd)',
  hook: 'Let agents in your own terminal ask Holdpoint, too',
  mcp: 'Let MCP clients ask people, and require an approval for calls to MCP servers',
  run: 'Start or resume a session, and stay with it here',
  tui: 'Show the inbox and all sessions, live (? for help)',
  inbox: 'List pending requests, the most urgent first',
  show: 'Show a request with its outcome, or a session',
  allow: 'Approve requests (shows each in full, then asks you to confirm)',
  deny: 'Deny requests; the agents read your reason and continue',
  answer: 'Answer questions or fill in a form',
  next: 'Answer the pending requests here, one by one',
  sessions: 'List sessions; those that need you come first',
  start: 'Start a session with an agent in this folder',
  rehearse: 'Start the built-in demo agent, which asks every kind of question',
  send: 'Send a message to a session, and reopen it if it has ended and its agent can resume',
  watch: 'Stream events, one per line; list, check and turn on watchers',
  logs: 'Print the transcript of a session; -f follows it',
  stop: 'Interrupt the turns of all sessions',
  rename: 'Change the title of a session',
  delete: 'Delete an ended session with its history',
  interrupt: 'Interrupt the current turn; pending requests are withdrawn',
  end: 'End a session',
  mode: 'Ask the agent of a session to change its mode',
  model: 'Ask the agent of a session to use another model',
  vars: 'Show the variables of a session',
  set: 'Set a variable of a session; an agent can set only its own variables',
  ask: 'Ask people a question and print the answer',
  guard: 'Run a command only if someone allows it',
  doctor: 'Check the installation and suggest a fix for each problem',
  trust: 'Let a folder’s config file, rules and settings for agents apply (shows what they do, then asks)',
  rules: 'List, add, change, test and import rules',
  token: 'List, create, replace and revoke tokens',
  audit: 'Search the audit log, or check that nobody changed it',
  backup: 'Copy the database to a new file; the gateway may be running',
  restore: 'Replace the database with a backup; the old one is kept',
  completion: 'Print a completion script: source <(holdpoint completion bash)',
  help: 'Show help for a command',
} as const

export const hookHelp = {
  install: 'Add hooks to the settings of an agent, so that it also asks Holdpoint',
  remove: 'Remove the hooks; everything else in the settings stays as it is',
  status: 'Say where the hooks are installed (exit code 0: installed)',
} as const

export const mcpHelp = {
  install: 'Add `holdpoint mcp` to the settings of an agent',
  remove: 'Remove `holdpoint mcp` from the settings of an agent',
  wrap: 'Start an MCP server, and ask a person before each call of its tools',
} as const

export const watcherHelp = {
  list: 'List the watchers that are in force',
  check: 'Check the watchers of a file, and say which of their effects each agent does not support',
  on: 'Turn on ready-made watchers in your own holdpoint.rules.json',
  off: 'Turn ready-made watchers off again',
  ready: 'List the ready-made watchers and their settings',
} as const

export const serviceHelp = {
  install: 'Install and start a service that runs `holdpoint up` whenever you are logged in',
  remove: 'Stop and remove the service; the data is kept',
  status: 'Say whether the service is installed and running (exit code 0: running)',
} as const

export const auditHelp = {
  list: 'Print the newest decisions: who or which rule answered what, and when',
  verify: 'Check that nobody changed the log or the rows in the database',
} as const

export const tokenHelp = {
  list: 'List tokens and signed-in browsers: whose they are, when they were created and last used',
  add: 'Create a token and print its secret, once',
  rotate: 'Replace a token (default: your own); the old one and all that it created stop working at once',
  revoke: 'Revoke a token or sign a browser out; everything that it created is revoked, too',
} as const

export const rulesHelp = {
  list: 'List rules with their scope, limits and uses',
  add: 'Add a rule; pending requests that it covers are answered too',
  edit: 'Change the parts of a rule that the options name',
  pause: 'Pause a rule',
  resume: 'Put a paused rule into effect again',
  remove: 'Remove a rule',
  check: 'Show what the rules say about a shell command, and which watchers could deny it or ask',
  preview: 'Show which requests a rule would have matched',
  explain: 'Say which rule answered a request, or why a person is asked',
  import: 'Add the rules of a Claude Code settings file, and say what is left out',
} as const

export const ruleOptionHelp = {
  command:
    'A shell command: an allow rule matches exactly this one, other rules every command with these words in this order',
  args: 'With allow: exact (default), or grammar to accept further arguments that are known to be harmless',
  group: 'With allow: a group of commands with known arguments',
  path: 'A file, or a folder with everything in it: folder/**',
  host: 'A host, by its exact name',
  mcp: 'A tool of an MCP server',
  tool: 'Only this tool of the agent, such as Bash',
  action: 'Only this kind of action; a path needs read or write',
  cwd: 'Only sessions in this folder (default for commands that are allowed: the current folder)',
  session: 'Only this session',
  driver: 'Only sessions of this agent',
  expires: 'How long the rule is in effect: 30m, 12h, 7d',
  uses: 'How many times the rule may answer',
  until: 'The rule ends with the turn or the session; needs --session',
  message: 'With deny: the sentence that the agent reads',
  note: 'Why the rule exists, for people',
  checkCwd: 'The folder in which the command would run (default: the current folder)',
  importCwd: 'The folder that the rules apply to (default: the current folder)',
  dryRun: 'Only show what would be added',
} as const

export const argumentHelp = {
  rule: 'Rule id; the first few letters are enough',
  effect: 'What the rule does',
  checkedCommand: 'The command; put it in quotes if it contains characters that your shell interprets',
  settingsFile: 'The settings file (default: .claude/settings.json in the folder)',
  session: 'Session id; the first few letters are enough',
  variable: 'The name of the variable',
  watchFile: 'The file or its folder (default: holdpoint.rules.json in this folder, and your own)',
  readyMade: 'The name of ready-made watchers; `holdpoint watch ready` lists them',
  variableValue: 'The new value: true or false, a number or a string, depending on the variable',
  request: 'Request id; the first few letters are enough',
  shown: 'Id of a request or a session; the first few letters are enough',
  requests: 'Request ids; the first few letters of each are enough',
  runDriver: 'claude, rehearsal or one of your own agents (default: the first that is ready)',
  driver: 'claude, codex, gemini, rehearsal, … or one of your own agents',
  runPrompt: 'First message',
  prompt: 'First message; - reads stdin',
  trustPath: 'The file or its folder (default: the current folder)',
  rehearseMessage: 'First message; "short" asks only the first question',
  message: 'Message; - reads stdin',
  shell: 'bash, zsh or fish',
  newTitle: 'New title',
  token: 'Name or id of the token; the first few letters of the id are enough',
  rotatedToken: 'Name or id of the token (default: the one that this command uses, which is the owner’s)',
  mcpAgent: 'The agent, which must be installed',
  mcpServer: 'The command that starts the server, or its URL',
  tokenName: 'Name of the program or person that will use the token',
} as const

export const optionHelp = {
  hookAgent: 'The agent. Gemini’s hooks apply your deny and ask rules; answer Gemini itself in its terminal',
  hookUser: 'In your own settings, for every folder (default)',
  hookProject: 'Only in this folder (Claude Code: .claude/settings.local.json)',
  mcpHttp: 'Serve MCP clients over HTTP on this machine, instead of one client over stdin and stdout',
  mcpPort: 'Port for --http; 0 picks a free one (default: 4748)',
  mcpFolder: 'For --http: the folder of all clients. Without it, rules can deny their calls, but not allow them',
  mcpName: 'Name of the server, shown to people and used by rules (default: from the command)',
  allowReadOnly: 'Without asking, run tools that the server declares as read-only; deny and ask rules still apply',
  help: 'Show help',
  version: 'Print the version',
  home: 'Data folder (default: ~/.holdpoint)',
  url: 'Gateway URL (default: HOLDPOINT_URL, or the local gateway)',
  runnerUrl: 'Gateway URL (default: the local gateway)',
  store: 'file:PATH or postgres://…',
  port: 'Port to listen on; 0 picks a free one (default: 4747)',
  host: 'Address to listen on (default: 127.0.0.1 and ::1)',
  allowRemote: 'Let other machines reach the address of --host; use a reverse proxy with TLS',
  runner: 'Where agents run',
  acceptDataLoss: 'Start even if the store has lost events; revokes all credentials but yours',
  detach:
    'Run in the background, write the log to gateway.log in the data folder, and return when the gateway is ready',
  upJson: 'Print one JSON line: {"url","link","tokenFile"}',
  resume: 'Resume this session; any further arguments are sent as a message',
  cwd: 'Working folder (default: the current one)',
  mode: 'Mode to start in',
  newMode: 'Mode to change to',
  newModel: 'Model to use, by the name that the agent knows',
  model: 'Model to use',
  title: 'Title shown to people',
  onlySession: 'Only this session',
  watchSession: 'Only the watchers for this session, and what its agent does not support',
  watchCwd: 'Only sessions in this folder (default: all folders)',
  watchWith: 'A setting of the ready-made watchers (repeatable)',
  setSession: 'The session (default: the session of the agent that runs this command)',
  setFile: 'The file that declares the variable, if several do',
  count: 'Print only the number of pending requests, for a status line',
  watch: 'Keep the list up to date until you leave, and ring the bell for a new request',
  note: 'Note for the agent',
  input: 'JSON file with the complete tool input that replaces the agent’s; - reads stdin',
  digest: 'Digest of the request as you read it (see `show`)',
  always: 'Also add the rule, or accept the suggestion, with this number (see `show`; default: the first rule)',
  alwaysFor: 'How long the rule applies: turn, session, or a time such as 1h or 7d (default: no end)',
  planMode: 'Mode to continue in (plans only)',
  reason: 'Reason to give the agent',
  askBack: 'Ask the agent this before you answer, instead of denying; it asks again if it still needs to',
  comment: 'Comment on a line, as LINE=TEXT or PATH:LINE=TEXT; repeatable',
  stop: 'Also end the turn',
  choose: 'Option label or number; QUESTION=LABEL if there are several questions',
  text: 'Your own answer, or QUESTION=TEXT; - reads stdin',
  set: 'Form field; fields you leave out keep their default',
  values: 'Form fields as a JSON object; - reads stdin',
  decline: 'Decline to answer',
  declineReason: 'With --decline: reason to give the agent',
  declineStop: 'With --decline: also end the turn',
  all: 'Include ended sessions',
  state: 'Only sessions in this state',
  search: 'Search title, folder and agent',
  limit: 'Maximum number to list',
  follow: 'Keep printing what happens, until Ctrl+C',
  entries: 'Only the last entries (default: all)',
  toolOutput: 'Also print the output of tools',
  auditPerson: 'Only answers of this person (name or id)',
  auditBy: 'Only what was resolved by a person, a rule, the deadline or the agent',
  auditAnswer: 'Only this kind of answer',
  auditFolder: 'Only sessions in this folder or below it',
  since: 'From this time on: 2026-11-18, 2026-11-18T14:00, or how long ago: 2h, 7d',
  until: 'Before this time, written like --since',
  auditSearch: 'Only entries that contain this text',
  notices: 'Also list events that are not decisions, such as changed rules and refused attempts',
  auditLimit: 'Maximum number to list (default: 50)',
  csv: 'Print CSV, with a header line',
  attach: 'Image, PDF or text file; repeatable',
  after: 'Resume after this event cursor',
  choice: 'Option to choose from; repeatable',
  askText: 'Accept an answer in the person’s own words',
  deadline: 'How long to wait: 90s, 15m, 1h, 2d',
  as: 'Name of the script, shown to people',
  yes: 'Do not ask for confirmation',
  role: 'What the token may do: agents ask, people answer, runners run agents',
  tokenPerson: 'With --role person: give the token to this person (default: to a new one)',
  expires: 'How long the token is valid: 12h, 90d (default: until you revoke it)',
  listTrusted: 'List the trusted files and folders',
  removeTrust: 'Stop trusting the file or folder',
} as const

/** Help texts for `--json`, by what the option prints. */
export const jsonHelp = {
  rules: 'Print rules as JSON: {items, next}',
  watchers: 'Print watchers as JSON: {items}',
  watchFile: 'Print {items} as JSON, each with file, trusted, vars and watchers',
  readyMade: 'Print the ready-made watchers as JSON',
  variables: 'Print variables as JSON: {items}',
  variable: 'Print the variable as JSON',
  rule: 'Print the rule as JSON',
  verdict: 'Print the verdict as JSON',
  preview: 'Print the preview as JSON',
  requests: 'Print requests as JSON: {items, next}',
  sessions: 'Print sessions as JSON: {items, next}',
  request: 'Print the request or the session as JSON',
  resolvedRequest: 'Print the resolved request as JSON',
  resolvedRequests: 'Print the resolved request as JSON; for several requests, {items} with each result',
  session: 'Print the session as JSON',
  command: 'Print the command as JSON',
  events: 'Print each event as one line of JSON',
  findings: 'Print {ok, findings} as JSON',
  tokens: 'Print tokens as JSON: {items, next}',
  newToken: 'Print the token with its secret as JSON',
  revokedTokens: 'Print what was revoked as JSON: {revoked}',
  installedService: 'Print {url, link, file, logFile} as JSON',
  service: 'Print {installed, running, url, file} as JSON',
  hooks: 'Print {agent, canAnswer, gateway, settings} as JSON',
  status: 'Print {url, pending, dangerous, overdue, sessions, runners, agents} as JSON',
  stopped: 'Print {interrupted} as JSON',
  deleted: 'Print {deleted} as JSON',
  auditEntries: 'Print each entry as one line of JSON',
  report: 'Print {ok, events, rows} or {ok, problem, meaning} as JSON',
} as const

export const moreHelp = {
  watch: `
Without a subcommand, the command streams events until you stop it.

Examples:
  holdpoint watch --json
  holdpoint watch on tests-before-commit --cwd .
  holdpoint watch check`,
  rulesAdd: `
Examples:
  holdpoint rules add allow --command 'npm test'
      this command, in this folder
  holdpoint rules add allow --command 'git log' --args grammar
      with arguments that are known to be harmless
  holdpoint rules add allow --group only-reads --expires 8h
      commands that only read this folder
  holdpoint rules add deny --command 'git push' --message 'Ask me first.'
      with the sentence that the agent reads`,
  hookInstall:
    '\nThe hooks ask the gateway of this machine. While no gateway runs, or if it does\nnot accept a request within 2 seconds, the terminal asks as usual, and deny\nrules have no effect. No token is written into the settings.',
  mcp: `
The tools are ask_person, request_approval and set_variable. Usually an MCP
client starts this command and talks to it over stdin and stdout: holdpoint mcp
install AGENT adds it to an agent. With --http, it serves clients at a URL of
this machine; they send the token from the file mcp-token in the data folder.`,
  mcpInstall:
    '\nThe agent will run `holdpoint mcp` the next time it starts. No token is written\ninto its settings. Undo this with: holdpoint mcp remove AGENT',
  mcpWrap: `
Examples:
  holdpoint mcp wrap -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  holdpoint mcp wrap --name issues --allow-read-only -- https://example.com/mcp

Each call waits until a person or a rule allows it, and runs once. Everything
else passes through unchanged.`,
  serviceInstall:
    '\nThe service runs this program with this data folder and these options. It gets\nno variables of this terminal: put other settings into holdpoint.config.json in\nthe data folder. There is one service per person.',
  rulesImport: '\nPrefixes such as Bash(git log:*) are imported only for arguments that are known\nto be harmless.',
  program: `
Examples:
  holdpoint                                 start it, and print a link
  holdpoint start claude "fix the tests"    start an agent in this folder
  holdpoint next                            answer what is pending, one by one
  holdpoint show req_ab12                   show one; ids can be shortened
  holdpoint allow req_ab12                  read it, then confirm with y
  holdpoint deny ab12 --reason "not today"  deny it and tell the agent why
  holdpoint answer ab12 --choose Summary    answer a question
  holdpoint logs -f ses_cd34                follow what a session does
  holdpoint ask "Deploy?" --deadline 1h --as ci && make deploy
  holdpoint guard -- make deploy            run it only if someone allows it

Exit codes:
  0  done                    3  no such request or session
  1  failed, or you did      4  already resolved (stderr says by whom)
     not confirm             5  no gateway
  2  usage error
  ask and guard: 0 yes, 1 no, 124 nobody answered in time;
  guard: the exit code of the command once it is allowed

Commands that list or change something take --json. To use another gateway, set
HOLDPOINT_URL and HOLDPOINT_TOKEN. Set NO_COLOR to turn colors off.
See also: holdpoint COMMAND --help`,
  run: '\nIf no gateway is running, a temporary one runs until you leave. Ctrl+D leaves:\npending requests are kept, and you come back with --session ID. Ctrl+C on a\nrequest denies it and stops the turn. ? shows all keys.',
  allow:
    '\nSeveral requests are shown one after the other and confirmed together, dangerous\nones one by one. Without a terminal, pass --digest to prove which request you\nhave read.',
  answer:
    '\nWithout options, at a terminal, the request is shown with the keys of `run`.\n--choose, --text and --set can be repeated.',
  ask: '\nWithout --choice and --text, people allow or deny. Exit code: 0 allowed or\nanswered, 1 denied or declined, 124 nobody answered in time. Ctrl+C and SIGTERM\nwithdraw the question. A restart of the gateway does not.',
  trust:
    '\nThe file is trusted with its present content. The agents and executables that it\nnames are trusted with it, even if they change later.',
  tokenAdd:
    '\nInto a pipe, only the secret is printed:\n  export HOLDPOINT_TOKEN=$(holdpoint token add ci)\nA token for a runner goes into the file runner-token in the data folder of the\nother machine.',
  tokenRotate:
    '\nThe owner’s token and that of the local runner are in files of the data folder,\nand the gateway replaces them there: the runner and open commands continue. Any\nother new secret is printed once, for you to pass on.',
  guard:
    '\nExit code: that of the command if it ran, 1 denied (reason on stderr), 124\nnobody answered in time, 127 allowed, but the command was not found.',
} as const

export function unknownCommand(typed: string, similar: string | null): string {
  return `Unknown command "${typed}".${similar === null ? '' : ` Did you mean holdpoint ${similar}?`} See holdpoint --help`
}
/** Says the same as commander about a mistyped subcommand of a command that also runs without one. */
export function unknownSubcommand(typed: string): string {
  return `error: unknown command '${typed}'`
}
export const seeHelp = '(see holdpoint --help)'
export function seeCommandHelp(command: string): string {
  return `(see holdpoint ${command} --help)`
}
