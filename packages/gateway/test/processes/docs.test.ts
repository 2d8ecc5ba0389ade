// The documentation as the gateway serves it, over HTTP.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fastify } from 'fastify'
import { highlight } from '../../src/adapters/docs/highlight.ts'
import { openLibrary } from '../../src/adapters/docs/library.ts'
import { renderMarkdown } from '../../src/adapters/docs/markdown.ts'
import { searchRates, serveDocs } from '../../src/adapters/docs/routes.ts'
import { makeSearch, searchLimits } from '../../src/adapters/docs/search.ts'
import { sectionsOf } from '../../src/adapters/docs/sections.ts'
import { TestClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/process.ts'

const root = join(import.meta.dirname, '../../../..')
const own = { publicUrl: 'https://pay.example', shopUrl: 'https://shop.pay.example' }
const clock = new TestClock()

function serve(folder: string, mode: 'sandbox' | 'live' = 'sandbox') {
  const listener = fastify()
  serveDocs(listener, { root: folder, mode, own: () => own, clock })
  return {
    get: (url: string, headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') =>
      listener.inject({ url, headers, remoteAddress }),
  }
}

const docs = serve(root)
const library = openLibrary({ root, mode: 'sandbox', own })

test('every paper is a page, and the same as Markdown', async () => {
  assert(library.papers.length > 15)
  for (const paper of library.papers) {
    const page = await docs.get(paper.slug === 'overview' ? '/docs' : `/docs/${paper.slug}`)
    assert.equal(page.statusCode, 200, paper.slug)
    assert.match(page.body, /<h1 id="[^"]+">/, paper.slug)
    assert.match(page.body, /aria-current="page"/, paper.slug)
    const markdown = await docs.get(`/docs/${paper.slug}.md`)
    assert.equal(markdown.headers['content-type'], 'text/markdown; charset=utf-8')
    assert.equal(markdown.body, paper.markdown)
  }
})

test('every link and image of every page leads to something that is there', async () => {
  const ids = new Map<string, Set<string>>()
  const pages = new Map<string, string>()
  for (const paper of library.papers) {
    const path = paper.slug === 'overview' ? '/docs' : `/docs/${paper.slug}`
    const { body } = await docs.get(path)
    pages.set(path, body)
    ids.set(path, new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)))
  }
  const known = new Set(['/', '/sandbox', '/sandbox/playground', '/platform-keys', '/docs/search'])
  for (const [path, body] of pages) {
    for (const [, link = ''] of body.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      if (/^(https?:|mailto:|\/assets\/)/.test(link)) continue
      const [target = '', anchor] = link.split('#')
      const to = target === '' ? path : target
      if (anchor) assert(ids.get(to)?.has(decodeURIComponent(anchor)), `${path} links to ${link}`)
      if (pages.has(to) || known.has(to)) continue
      assert.equal((await docs.get(to)).statusCode, 200, `${path} links to ${link}`)
    }
  }
})

test('a page is known by its tag, differs by its packing, and runs no script but ours', async () => {
  const page = await docs.get('/docs/protocol')
  const { etag, 'content-security-policy': policy, 'cache-control': cacheControl } = page.headers
  assert.match(`${policy}`, /default-src 'none'.*script-src 'self'/)
  assert.doesNotMatch(`${policy}`, /unsafe/)
  assert.equal(cacheControl, 'public, no-cache')
  const again = await docs.get('/docs/protocol', { 'if-none-match': `"other", W/${etag}` })
  assert.deepEqual([again.statusCode, again.body], [304, ''])
  assert.equal((await docs.get('/docs/protocol', { 'if-none-match': '"other"' })).statusCode, 200)
  const packed = await docs.get('/docs/protocol', { 'accept-encoding': 'gzip' })
  assert.equal(packed.headers['content-encoding'], 'gzip')
  assert.notEqual(packed.headers.etag, etag)
  assert(packed.rawPayload.length < page.rawPayload.length / 3)
})

test('images and vectors are served, and nothing beside them', async () => {
  const image = await docs.get('/docs/images/console-order-desktop.png')
  assert.deepEqual([image.statusCode, image.headers['content-type']], [200, 'image/png'])
  assert.equal((await docs.get('/docs/test-vectors.json')).json().requests.length > 5, true)
  for (const path of [
    '../package.json',
    '..%2fpackage.json',
    'images/../../package.json',
    '.env',
    'images/',
    '%00',
  ])
    assert.equal((await docs.get(`/docs/${path}`)).statusCode, 404, path)
})

test('a page that is not there says so and leads on; the overview has one address', async () => {
  const missing = await docs.get('/docs/nothing')
  assert.equal(missing.statusCode, 404)
  assert.match(missing.body, /Page not found.*href="\/docs"/s)
  for (const path of ['/docs/', '/docs/overview'])
    assert.deepEqual((await docs.get(path)).headers.location, '/docs')
})

test('the search finds sections by the beginnings of words, the best first, and marks them', async () => {
  const { body } = await docs.get('/docs/search?q=string+sign')
  assert.match(body, /<ol class="found">\s*<li>\s*<a href="\/docs\/protocol#5-the-string-to-sign">/)
  assert.match(body, /<mark>sign<\/mark>/)
  assert.match((await docs.get('/docs/search?q=zzzz')).body, /No results for “zzzz”/)
  assert.match((await docs.get('/docs/search?q=%3Czqz%3E')).body, /“&lt;zqz&gt;”/)
  for (const odd of ['', '?q=', '?q=a&q=b', '?q=...(((', `?q=${'x%20'.repeat(3000)}`])
    assert.equal((await docs.get(`/docs/search${odd}`)).statusCode, 200, odd)
})

test('the search forgives a typing error and knows what others call a thing', () => {
  const pagesFor = (question: string) => library.search(question).map(({ section }) => section.slug)
  const isAbout = (slug: string, questions: readonly string[]) => {
    for (const question of questions)
      assert.ok(pagesFor(question).slice(0, 3).includes(slug), `${question}: ${pagesFor(question)}`)
  }
  isAbout('callbacks', ['callback', 'webhook', 'webhooks', 'webhok', 'callbak', 'webhook retries'])
  isAbout('checkout', ['checkout', 'chekout', 'customer pays'])
  isAbout('console', ['dashboard', 'console', 'consle'])
  isAbout('quickstart', ['quickstart', 'quikstart'])
  isAbout('sandbox', ['test cards', 'test card', 'test wallets'])
  isAbout('api/refund', ['refund', 'refunds'])
  isAbout('protocol', ['signature', 'sign a request'])
  isAbout('errors', ['40001', 'error 40100'])
  isAbout('keys', ['replace master key'])
  const [customer] = library.search('customer')
  assert.match(`${customer?.section.heading} ${customer?.section.text}`, /consumer/i)
  const marked = library
    .search('webhook')
    .flatMap(({ excerpt }) => excerpt.filter(({ isMarked }) => isMarked))
  assert.ok(
    marked.some(({ text }) => /^callback/i.test(text)),
    'the word as the page has it is marked',
  )
})

test('the search leaves decisions and the changelog out unless it is asked for everything', async () => {
  const areFound = (everything: boolean) =>
    library
      .search('postgres ledger', everything)
      .concat(library.search('changelog', everything))
      .some(({ section }) => /^(decisions\/|changelog$)/.test(section.slug))
  assert.deepEqual([areFound(false), areFound(true)], [false, true])
  const { body } = await docs.get('/docs/search?q=refund')
  const [, link = ''] = /<a href="([^"]+)">Search decisions and the changelog too/.exec(body) ?? []
  assert.doesNotMatch((await docs.get(link.replaceAll('&amp;', '&'))).body, /changelog too/)
})

test('code in several languages becomes tabs, which work without a script', () => {
  const tab = (title: string, code: string) =>
    `**${title}**\n\n<!-- run: tab -->\n\`\`\`ts\n${code}\n\`\`\`\n\n`
  const { text } = renderMarkdown(
    `Before\n\n<!-- tabs -->\n\n${tab('One', 'a < b')}${tab('Two', 'c')}<!-- end of tabs -->\n\nAfter`,
    { locate: () => ({ kind: 'unserved' }), origin: own.publicUrl },
  )
  assert.match(text, /^<p>Before<\/p>\s*<div class="tabs"[\s\S]*<\/div>\s*<p>After<\/p>\s*$/)
  assert.equal(text.match(/<input type="radio" name="tabs-1"/g)?.length, 2)
  assert.match(text, /id="tabs-1-one" value="One" checked><label for="tabs-1-one">One<\/label>/)
  assert.match(text, /a &lt; b/)
})

test('one address asks so often, all together so often, and then are told to wait', async () => {
  const { address, all } = searchRates
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'docs'))
  writeFileSync(join(folder, 'docs/overview.md'), '# Refunds\n\nNothing else.\n')
  const asked = serve(folder)
  const ask = async (from: string) => (await asked.get('/docs/search?q=refund', {}, from)).statusCode
  for (let i = 0; i < address.burst; i++) assert.equal(await ask('192.0.2.1'), 200)
  const refused = await asked.get('/docs/search?q=refund', {}, '192.0.2.1')
  assert.equal(refused.statusCode, 429)
  assert.equal(refused.headers['retry-after'], '1')
  assert.match(refused.body, /Wait a moment/)
  assert.equal(await ask('192.0.2.2'), 200)
  for (let i = address.burst + 1; i < all.burst; i++) assert.equal(await ask(`198.51.100.${i}`), 200)
  assert.equal(await ask('192.0.2.3'), 429)
  assert.equal((await asked.get('/docs')).statusCode, 200)
  clock.advance(1_000)
  assert.equal(await ask('192.0.2.1'), 200)
})

test('every word must be there, and no more is answered than the bound', () => {
  const sections = Array.from({ length: 50 }, (_, at) => ({
    slug: 's',
    pageTitle: 'Page',
    level: 2,
    heading: `Part ${at}`,
    anchor: `part-${at}`,
    text: at === 7 ? 'a refund of the payment' : 'a payment',
  }))
  const search = makeSearch(sections)
  assert.equal(search('payment').length, searchLimits.results)
  assert.deepEqual(
    search('refund payment').map(({ section }) => section.anchor),
    ['part-7'],
  )
  assert.deepEqual(search('fund'), [])
  assert.deepEqual(search('pay.ent'), [])
})

test('headings get the addresses that code hosting sites give them', () => {
  const markdown = '# A `code` & more\n\n## Same\n\n```sh\n# no heading\n```\n\n## Same\n\n## [1.0.0](x) – ö'
  assert.deepEqual(
    sectionsOf(markdown).map(({ anchor }) => anchor),
    ['a-code--more', 'same', 'same-1', '100--ö'],
  )
})

test('what the search reads is without the marks of links, whichever way they are written', () => {
  const [section] = sectionsOf('# Title\n\nSee [this](a.md) and [that][b].\n\n[b]: https://b.example\n')
  assert.equal(section?.text, 'See this and that.')
})

test('raw HTML and foreign schemes in a paper are text', () => {
  const { text } = renderMarkdown(
    'a <b onclick="x()">b</b> <script>alert(1)</script>\n\n<img src=x onerror=y>\n\n[go](javascript:alert(1)) <!-- gone -->',
    { locate: () => ({ kind: 'unserved' }), origin: own.publicUrl },
  )
  assert.doesNotMatch(text, /<(script|img|b )|href|gone/)
  assert.match(text, /&lt;script&gt;/)
})

test('what papers say of the sandbox is a link at a sandbox, and words in live', async () => {
  assert.match((await docs.get('/docs')).body, /<a href="\/sandbox\/playground">/)
  const live = (await serve(root, 'live').get('/docs')).body
  assert.doesNotMatch(live, /href="[^"]*playground/)
  assert.match(live, /playground/)
})

test('papers name this gateway by its own addresses, as pages and as Markdown', async () => {
  for (const path of ['/docs/quickstart', '/docs/quickstart.md', '/docs/sandbox', '/llms-full.txt']) {
    const { body } = await docs.get(path)
    assert.doesNotMatch(body, /localhost:808[02]/, path)
    assert.match(body, /https:\/\/shop\.pay\.example/, path)
  }
  const install = 'npm install https://pay.example/sdk/tillgate-sdk.tgz'
  for (const mode of ['sandbox', 'live'] as const)
    for (const page of ['quickstart', 'sdk'])
      assert((await serve(root, mode).get(`/docs/${page}.md`)).body.includes(install), `${mode} ${page}`)
  // What is not known stays as it is usual.
  assert.match((await docs.get('/docs/quickstart.md')).body, /^(?!.*undefined)/s)
})

test('code is coloured by its language, and is the same text as before', () => {
  const rendered = (text: string, language: string) => highlight(text, language).text
  assert.equal(
    rendered("const a = '<b>' // why\n", 'js'),
    '<span class="keyword">const</span> a = <span class="string">&#39;&lt;b&gt;&#39;</span> <span class="comment">// why</span>\n',
  )
  assert.match(rendered('npx till create --amount 5 # five', 'sh'), /keyword">--amount<.*comment"># five</)
  assert.match(
    rendered('{"a": "b: c", "n": 1.5}', 'json'),
    /keyword">&quot;a&quot;<.*string">&quot;b: c&quot;<.*number">1.5</,
  )
  assert.equal(rendered('what // ever', 'text'), 'what // ever')
  const plain = (html: string) =>
    html.replace(/<[^>]+>/g, '').replace(/&#39;|&quot;|&lt;|&gt;|&amp;/g, (each) => entities[each] ?? each)
  const entities: Record<string, string> = {
    '&#39;': "'",
    '&quot;': '"',
    '&lt;': '<',
    '&gt;': '>',
    '&amp;': '&',
  }
  for (const { markdown } of library.papers)
    for (const [, language = '', code = ''] of markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm))
      assert.equal(plain(rendered(code, language)), code)
})

test('llms.txt lists every paper by an address that works', async () => {
  const { body, headers } = await docs.get('/llms.txt')
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
  assert.match(body, /^# Tillgate\n\n> /)
  const addresses = [...body.matchAll(/^- \[[^\]]+\]\(https:\/\/pay\.example(\/docs\/[^)]+\.md)\): \S/gm)]
  assert.equal(addresses.length, library.papers.length)
  for (const [, path = ''] of addresses) assert.equal((await docs.get(path)).statusCode, 200, path)
  const full = (await docs.get('/llms-full.txt')).body
  assert(full.includes('# The protocol') && full.includes('# Quickstart'))
})

test('a gateway that was installed without its papers says so and goes on', async () => {
  const bare = serve(temporaryFolder())
  const page = await bare.get('/docs')
  assert.equal(page.statusCode, 404)
  assert.match(page.body, /installed without its docs folder/)
  assert.match((await bare.get('/docs/search?q=x')).body, /No results/)
  assert.match((await bare.get('/llms.txt')).body, /^# Tillgate/)
})

test('a paper that is not in the table of contents is there all the same', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'docs'))
  writeFileSync(join(folder, 'docs/another.md'), '# Another\n\nIt is new. It is short.\n')
  const page = await serve(folder).get('/docs/another')
  assert.match(page.body, /<h2>More<\/h2>/)
  assert.match((await serve(folder).get('/llms.txt')).body, /another\.md\): It is new\.\n/)
})
