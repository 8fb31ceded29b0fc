import { describeFolderSettings } from './folder-settings.ts'
import { describeAgent } from './suite.ts'

describeAgent('gemini')
describeFolderSettings('gemini')
