// Maps the consumer's language to one that Adyen's payment page supports. Without one, Adyen uses the browser's.
const locales =
  'ar cs-CZ da-DK de-DE el-GR en-US es-ES fi-FI fr-FR hr-HR hu-HU it-IT ja-JP ko-KR nl-NL no-NO pl-PL pt-BR pt-PT ro-RO ru-RU sk-SK sl-SI sv-SE zh-CN zh-TW'.split(
    ' ',
  )

/** The tag itself, or the supported tag of its language. Tags are completed: zh-Hant is zh-TW. */
export function adyenLocale(tag: string): string | undefined {
  const { language, region } = new Intl.Locale(tag).maximize()
  const atAdyen = language === 'nb' || language === 'nn' ? 'no' : language
  return (
    locales.find((locale) => locale === `${atAdyen}-${region}`) ??
    locales.find((locale) => locale.split('-')[0] === atAdyen)
  )
}
