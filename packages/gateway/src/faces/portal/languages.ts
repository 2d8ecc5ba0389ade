// The portal in its languages, and the choice among them.
import {
  chooseAmong,
  type LanguageTag,
  languagesWith,
  type SpokenLanguage,
} from '../../http/languages/languages.ts'
import { ar } from './languages/ar.ts'
import { de } from './languages/de.ts'
import { en } from './languages/en.ts'
import { es } from './languages/es.ts'
import { fr } from './languages/fr.ts'
import { ja } from './languages/ja.ts'
import { pt } from './languages/pt.ts'
import { zh } from './languages/zh.ts'
import type { Words } from './words.ts'

export type Language = SpokenLanguage<Words>

const words: Record<LanguageTag, Words> = { en, zh, ja, es, fr, de, pt, ar }

export const languages: readonly Language[] = languagesWith(words)

export const chooseLanguage = chooseAmong(languages)
