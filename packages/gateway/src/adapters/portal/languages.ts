// The portal's languages and their selection.
import ar from '../../../locales/portal/ar.json' with { type: 'json' }
import de from '../../../locales/portal/de.json' with { type: 'json' }
import en from '../../../locales/portal/en.json' with { type: 'json' }
import es from '../../../locales/portal/es.json' with { type: 'json' }
import fr from '../../../locales/portal/fr.json' with { type: 'json' }
import ja from '../../../locales/portal/ja.json' with { type: 'json' }
import pt from '../../../locales/portal/pt.json' with { type: 'json' }
import zh from '../../../locales/portal/zh.json' with { type: 'json' }
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
