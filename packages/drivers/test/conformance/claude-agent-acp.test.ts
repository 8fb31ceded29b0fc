import { describeFolderSettings } from './folder-settings.ts'
import { describeAgent } from './suite.ts'

describeAgent('claude-agent-acp')
describeFolderSettings('claude-agent-acp')
