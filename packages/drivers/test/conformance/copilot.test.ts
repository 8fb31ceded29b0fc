import { describeFolderSettings } from './folder-settings.ts'
import { describeAgent } from './suite.ts'

describeAgent('copilot')
describeFolderSettings('copilot')
