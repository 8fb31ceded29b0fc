import { describeFolderSettings } from './folder-settings.ts'
import { describeAgent } from './suite.ts'

describeAgent('codex-acp')
describeFolderSettings('codex-acp')
