import { describeFolderSettings } from './folder-settings.ts'
import { describeAgent } from './suite.ts'

describeAgent('opencode')
describeFolderSettings('opencode')
