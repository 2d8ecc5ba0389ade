// The wallet's words in any language.
import type { Widened } from '../../http/languages/words.ts'
import type { en } from './languages/en.ts'

export type Words = Widened<typeof en>
