// The checkout's languages and their selection.
import ar from '../../../locales/checkout/ar.json' with { type: 'json' }
import de from '../../../locales/checkout/de.json' with { type: 'json' }
import en from '../../../locales/checkout/en.json' with { type: 'json' }
import es from '../../../locales/checkout/es.json' with { type: 'json' }
import fr from '../../../locales/checkout/fr.json' with { type: 'json' }
import ja from '../../../locales/checkout/ja.json' with { type: 'json' }
import pt from '../../../locales/checkout/pt.json' with { type: 'json' }
import zh from '../../../locales/checkout/zh.json' with { type: 'json' }
import {
  chooseAmong,
  type LanguageTag,
  languagesWith,
  type SpokenLanguage,
} from '../kit/languages/languages.ts'
import type { Words } from './words.ts'

export type Language = SpokenLanguage<Words>

const words: Record<LanguageTag, Words> = { en, zh, ja, es, fr, de, pt, ar }

export const languages: readonly Language[] = languagesWith(words)

export const chooseLanguage = chooseAmong(languages)
