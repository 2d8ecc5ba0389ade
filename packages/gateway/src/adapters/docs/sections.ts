// Splits a page at its headings into plain text: the units of the search, and the source of heading anchors. Anchors
// match those of code hosting sites, so that a link works in both places.

export interface Section {
  /** 1 for the title. */
  readonly level: number
  readonly heading: string
  readonly anchor: string
  readonly text: string
}

export function sectionsOf(markdown: string): Section[] {
  const anchorOf = makeAnchors()
  const sections: { level: number; heading: string; anchor: string; lines: string[] }[] = []
  let fence: string | undefined
  for (const line of markdown.split('\n')) {
    const [, mark] = /^ {0,3}(```+|~~~+)/.exec(line) ?? []
    if (mark !== undefined && (fence === undefined || line.trim() === fence)) {
      fence = fence === undefined ? mark : undefined
      continue
    }
    const [, hashes, title] = (fence === undefined && /^(#{1,6}) +(.+?) *#*$/.exec(line)) || []
    if (hashes !== undefined && title !== undefined) {
      const heading = plainText(title)
      sections.push({ level: hashes.length, heading, anchor: anchorOf(heading), lines: [] })
    } else sections.at(-1)?.lines.push(fence === undefined ? plainText(line) : line)
  }
  return sections.map(({ lines, ...section }) => ({
    ...section,
    text: lines.join(' ').replace(/\s+/g, ' ').trim(),
  }))
}

/** Without Markdown syntax. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/<!--.*?-->/g, '')
    .replace(/^\[[^\]]+\]: \S+$/, '')
    .replace(/!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/\*\*|`/g, '')
    .replace(/^\s*\|?[\s|:-]*\|[\s|:-]*$/, '')
    .replace(/(^|\s)\|(?=\s|$)/g, '$1')
    .replace(/\\\|/g, '|')
    .replace(/^\s*[-*>] /, '')
    .trim()
}

/** Assigns anchors to the headings of a page; repeated headings get a number. */
export function makeAnchors(): (heading: string) => string {
  const given = new Map<string, number>()
  return (heading) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = given.get(anchor) ?? 0
    given.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  }
}
