// The table of contents: which papers there are, in which order and under which heads. A paper that is listed and not
// there is left out, and one that is there and not listed comes at the end, so that neither breaks a page.

export interface Entry {
  /** The last part of its address: /docs/<slug>. */
  readonly slug: string
  /** Where it is, from the root of the repository. */
  readonly file: string
  /** In lists, where its title says more than is needed there. */
  readonly label?: string
}

export interface Chapter {
  readonly title: string
  readonly entries: readonly Entry[]
}

const paper = (slug: string): Entry => ({ slug, file: `docs/${slug}.md` })

export const overviewSlug = 'overview'

export const chapters: readonly Chapter[] = [
  {
    title: 'Start',
    entries: [
      { ...paper(overviewSlug), label: 'Overview' },
      ...['quickstart', 'concepts', 'sandbox'].map(paper),
    ],
  },
  {
    title: 'Integrate',
    entries: [
      ...['callbacks', 'sdk'].map(paper),
      { slug: 'clients', file: 'clients/README.md' },
      ...['command-line', 'checkout', 'links', 'wallet', 'bills', 'portal', 'rails', 'going-live'].map(paper),
    ],
  },
  { title: 'Reference', entries: ['interface', 'api', 'protocol', 'extensions', 'versioning'].map(paper) },
  {
    title: 'Operate',
    entries: [
      ...[
        'operating',
        'scaling',
        'console',
        'treasury',
        'payouts',
        'admin-api',
        'notices',
        'privacy',
        'performance',
        'reliability',
      ].map(paper),
      { slug: 'security', file: 'SECURITY.md' },
    ],
  },
  {
    title: 'About',
    entries: [
      ...['comparison', 'architecture'].map(paper),
      { slug: 'changelog', file: 'CHANGELOG.md' },
      { slug: 'contributing', file: 'CONTRIBUTING.md' },
    ],
  },
]

export function pathOf({ slug }: Pick<Entry, 'slug'>): string {
  return slug === overviewSlug ? '/docs' : `/docs/${slug}`
}

export const unlistedTitle = 'More'
export const decisionsTitle = 'Decisions'
