// The wallet's languages. Their selection is the checkout's, whose frame surrounds every page.
import ar from '../../../locales/wallet/ar.json' with { type: 'json' }
import de from '../../../locales/wallet/de.json' with { type: 'json' }
import en from '../../../locales/wallet/en.json' with { type: 'json' }
import es from '../../../locales/wallet/es.json' with { type: 'json' }
import fr from '../../../locales/wallet/fr.json' with { type: 'json' }
import ja from '../../../locales/wallet/ja.json' with { type: 'json' }
import pt from '../../../locales/wallet/pt.json' with { type: 'json' }
import zh from '../../../locales/wallet/zh.json' with { type: 'json' }
import type { LanguageTag } from '../kit/languages/languages.ts'
import type { Words } from './words.ts'

export const wordsOf: Readonly<Record<LanguageTag, Words>> = { en, zh, ja, es, fr, de, pt, ar }
