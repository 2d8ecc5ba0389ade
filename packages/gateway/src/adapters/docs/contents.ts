// The table of contents: the docs pages, their order and chapters. A listed page that does not exist is omitted, and an
// unlisted one comes last, so that neither breaks the contents.

export interface Entry {
  /** The end of its address: /docs/<slug>. */
  readonly slug: string
  /** Relative to the repository's root. */
  readonly file: string
  /** For lists, if shorter than the title. */
  readonly label?: string
}

export interface Chapter {
  readonly title: string
  readonly entries: readonly Entry[]
}

const paper = (slug: string): Entry => ({ slug, file: `docs/${slug}.md` })

export const overviewSlug = 'overview'

export const changelogSlug = 'changelog'

const operations = ['create', 'query', 'cancel', 'refund', 'callback', 'events']

const clientLanguages = ['python', 'php', 'go', 'java']

export const chapters: readonly Chapter[] = [
  {
    title: 'Start',
    entries: [
      { ...paper(overviewSlug), label: 'Overview' },
      ...['quickstart', 'sandbox', 'going-live'].map(paper),
    ],
  },
  {
    title: 'Integrate',
    entries: [
      ...['callbacks', 'sdk'].map(paper),
      { slug: 'clients', file: 'clients/README.md' },
      ...clientLanguages.map((name) => ({ slug: `clients/${name}`, file: `clients/${name}/README.md` })),
      ...['checkout', 'links', 'bills', 'portal'].map(paper),
    ],
  },
  {
    title: 'Reference',
    entries: [
      ...['interface', 'api'].map(paper),
      ...operations.map((name) => paper(`api/${name}`)),
      ...['errors', 'protocol', 'extensions', 'command-line', 'versioning'].map(paper),
    ],
  },
  {
    title: 'Operate',
    entries: [
      ...['operating', 'backup', 'keys', 'scaling', 'console', 'admin-api', 'email', 'privacy'].map(paper),
      { slug: 'security', file: 'SECURITY.md' },
    ],
  },
  {
    title: 'Money',
    entries: [
      paper('rails'),
      { slug: 'stripe', file: 'rails/stripe/README.md' },
      { slug: 'adyen', file: 'rails/adyen/README.md' },
      { slug: 'mollie', file: 'rails/mollie/README.md' },
      { slug: 'alipay', file: 'rails/alipay/README.md' },
      { slug: 'wechatpay', file: 'rails/wechatpay/README.md' },
      ...['treasury', 'payouts', 'reconciliation', 'wallet'].map(paper),
    ],
  },
  {
    title: 'About',
    entries: [
      ...['comparison', 'architecture', 'performance', 'reliability'].map(paper),
      { slug: changelogSlug, file: 'CHANGELOG.md' },
      { slug: 'contributing', file: 'CONTRIBUTING.md' },
    ],
  },
]

export function pathOf({ slug }: Pick<Entry, 'slug'>): string {
  return slug === overviewSlug ? '/docs' : `/docs/${slug}`
}

export const unlistedTitle = 'More'
/** The API reference of methods beyond the specification. */
export const extensionsTitle = 'Extensions'
export const decisionsTitle = 'Decisions'
