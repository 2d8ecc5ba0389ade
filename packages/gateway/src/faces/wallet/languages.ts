// The wallet in its languages; the choice among them is the checkout's, whose frame stands around every page.
import type { LanguageTag } from '../../http/languages/languages.ts'
import { ar } from './languages/ar.ts'
import { de } from './languages/de.ts'
import { en } from './languages/en.ts'
import { es } from './languages/es.ts'
import { fr } from './languages/fr.ts'
import { ja } from './languages/ja.ts'
import { pt } from './languages/pt.ts'
import { zh } from './languages/zh.ts'
import type { Words } from './words.ts'

export const wordsOf: Readonly<Record<LanguageTag, Words>> = { en, zh, ja, es, fr, de, pt, ar }
