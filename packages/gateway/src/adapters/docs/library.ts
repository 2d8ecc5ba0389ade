// The docs pages of this installation, each rendered at its first request. An installation without them has an empty
// library.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Html } from '../kit/html.ts'
import { type Prepared, prepare } from '../kit/prepared.ts'
import { type OwnAddresses, withOwnAddresses } from './addresses.ts'
import {
  changelogSlug,
  chapters,
  decisionsTitle,
  type Entry,
  extensionsTitle,
  pathOf,
  unlistedTitle,
} from './contents.ts'
import { type ImageSize, renderMarkdown, type Target } from './markdown.ts'
import { makeSearch, type Search } from './search.ts'
import { type Section, sectionsOf } from './sections.ts'

export interface Paper extends Entry {
  readonly chapter: string
  readonly title: string
  /** The first sentences, for lists of pages. */
  readonly summary: string
  readonly markdown: string
  readonly sections: readonly Section[]
}

export interface Library {
  readonly papers: readonly Paper[]
  /** Searches all pages about using Tillgate; with `everything` also decisions and the changelog. */
  search(question: string, everything?: boolean): ReturnType<Search>
  find(slug: string): Paper | undefined
  render(paper: Paper): Html
  /** Images and other files that pages link to. */
  file(name: string): Prepared | undefined
}

const fileTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
}

export interface LibraryOptions {
  /** The folder that contains docs/. */
  readonly root: string
  readonly mode: 'sandbox' | 'live'
  readonly own: OwnAddresses
}

export function openLibrary({ root, mode, own }: LibraryOptions): Library {
  const read = (path: string) => withOwnAddresses(readFileSync(join(root, path), 'utf8'), { mode, own })
  const papers = entriesOf(root).map((entry) => readPaper(entry, read))
  const bySlug = new Map(papers.map((paper) => [paper.slug, paper]))
  const byFile = new Map(papers.map((paper) => [paper.file, paper]))
  const file = makeFiles(root)
  const rendered = new Map<string, Html>()
  const searches = new Map<boolean, Search>()

  const locate =
    (from: string) =>
    (href: string): Target => {
      const [path = '', fragment] = href.split('#')
      const wanted = posix.join(posix.dirname(from), path)
      const paper = byFile.get(wanted)
      if (paper) return { kind: 'page', href: `${pathOf(paper)}${fragment ? `#${fragment}` : ''}` }
      const found = wanted.startsWith('docs/') ? file(wanted.slice('docs/'.length)) : undefined
      if (!found) return { kind: 'unserved' }
      const address = `/${wanted}`
      return found.type.startsWith('image/')
        ? { kind: 'image', href: address, size: sizeOf(found) }
        : { kind: 'page', href: address }
    }

  return {
    papers,
    search(question, everything = false) {
      const isSearched = ({ slug, chapter }: Paper) =>
        everything || (chapter !== decisionsTitle && slug !== changelogSlug)
      const search =
        searches.get(everything) ??
        makeSearch(
          papers
            .filter(isSearched)
            .flatMap(({ slug, title, sections }) =>
              sections.map((section) => ({ ...section, slug, pageTitle: title })),
            ),
        )
      searches.set(everything, search)
      return search(question)
    },
    find: (slug) => bySlug.get(slug),
    render(paper) {
      const known =
        rendered.get(paper.slug) ??
        renderMarkdown(paper.markdown, { locate: locate(paper.file), origin: own.publicUrl })
      rendered.set(paper.slug, known)
      return known
    },
    file,
  }
}

function entriesOf(root: string): (Entry & { chapter: string })[] {
  const listed = chapters
    .flatMap(({ title, entries }) => entries.map((entry) => ({ ...entry, chapter: title })))
    .filter(({ file }) => existsSync(join(root, file)))
  const inFolder = (folder: string, chapter: string) =>
    namesIn(join(root, 'docs', folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => posix.join(folder, name))
      .map((name) => ({ slug: name.slice(0, -'.md'.length), file: `docs/${name}`, chapter }))
  const isUnlisted = ({ file }: Entry) => !listed.some((each) => each.file === file)
  // Without the folder there is no library, whatever else lies beside it.
  if (namesIn(join(root, 'docs')).length === 0) return []
  return [
    ...listed,
    ...inFolder('', unlistedTitle).filter(isUnlisted),
    ...inFolder('api', extensionsTitle).filter(isUnlisted),
    ...inFolder('decisions', decisionsTitle),
  ]
}

function readPaper(entry: Entry & { chapter: string }, read: (path: string) => string): Paper {
  const markdown = read(entry.file)
  const sections = sectionsOf(markdown)
  const [first] = sections
  return {
    ...entry,
    title: first?.heading ?? entry.slug,
    summary: firstSentence(sections.find(({ text }) => text !== '')?.text ?? ''),
    markdown,
    sections,
  }
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?= |$)/.exec(text)?.[0] ?? text.slice(0, 160)
}

/** Names are looked up in the list of files and never become paths, which prevents path traversal. */
function makeFiles(root: string): Library['file'] {
  const images = namesIn(join(root, 'docs/images')).map((name) => `images/${name}`)
  const names = new Set([...images, 'test-vectors.json', 'rail-test-vectors.json'])
  const known = new Map<string, Prepared>()
  return (name) => {
    const type = fileTypes[name.split('.').at(-1) ?? '']
    const path = join(root, 'docs', name)
    if (type === undefined || !names.has(name) || !existsSync(path)) return undefined
    const prepared = known.get(name) ?? prepare(type, readFileSync(path))
    known.set(name, prepared)
    return prepared
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : []
}

/** Reserves space for images, so that the page does not jump. */
function sizeOf({ type, content }: Prepared): ImageSize | undefined {
  if (type === 'image/png') return { width: content.readUInt32BE(16), height: content.readUInt32BE(20) }
  const [, width, height] =
    /<svg[^>]* width="(\d+)" height="(\d+)"/.exec(content.toString('utf8', 0, 400)) ?? []
  return width === undefined || height === undefined
    ? undefined
    : { width: Number(width), height: Number(height) }
}
