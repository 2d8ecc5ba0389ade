// Looks at a page, as a browser has read it, for whatever a text in it could have become: an element, an attribute, an
// address that runs, a comment, a sum. Runs inside the browser, so it names nothing from outside of itself.

export interface Inspected {
  /** The markers that can be read on the page, or stand in a field. */
  readonly seen: readonly string[]
  readonly faults: readonly string[]
}

/** For `page.evaluate`: over the page as it is, or over the text of one. */
export function inspection(html?: string): string {
  const root =
    html === undefined ? 'document' : `new DOMParser().parseFromString(${JSON.stringify(html)}, 'text/html')`
  return `(${inspect})(${root}, ${html === undefined})`
}

// biome-ignore lint/suspicious/noExplicitAny: the types of a browser's document are not among ours
function inspect(root: any, isLive: boolean): Inspected {
  const marker = /hx[0-9a-z]{3}xh/g
  const forbidden =
    'iframe,object,embed,base,frame,frameset,applet,math,marquee,portal,[srcdoc],[data-hostile]'
  const addresses = [
    'href',
    'src',
    'action',
    'formaction',
    'xlink:href',
    'data',
    'poster',
    'background',
    'ping',
  ]
  const faults: string[] = []
  const seen = new Set<string>()
  const fault = (what: string, found: { outerHTML: string }) =>
    faults.push(`${what}: ${found.outerHTML.slice(0, 300)}`)
  const read = (text: string) => {
    for (const found of text.match(marker) ?? []) seen.add(found)
    if (/1337hx[0-9a-z]{3}xh/.test(text)) faults.push(`a sum was made: ${text.slice(0, 300)}`)
  }

  for (const element of root.querySelectorAll(forbidden))
    fault('an element that no page of ours has', element)
  for (const element of root.querySelectorAll('*')) {
    if (element.localName.startsWith('hostile')) fault('a text became an element', element)
    const isCode = ['script', 'style'].includes(element.localName)
    if (isCode && element.textContent.search(marker) >= 0) fault('a text stands in code', element)
    for (const { name, value } of element.attributes) {
      if (name.startsWith('on') || name.search(marker) >= 0) fault('a text became an attribute', element)
      // Control characters and spaces before it change nothing for a browser.
      const scheme = value.replace(/[\p{Cc} \u200b\ufeff]/gu, '').toLowerCase()
      // What a script of ours offers for download.
      const isOffered = scheme.startsWith('blob:') && element.hasAttribute('download')
      if (addresses.includes(name) && /^(javascript|data|vbscript|blob|file):/.test(scheme) && !isOffered)
        fault('an address that runs', element)
      if (name === 'style' && value.search(marker) >= 0) fault('a text stands in a style', element)
      if (name !== 'href' && addresses.includes(name) && /^(https?:)?\/\//.test(scheme))
        fault('a page asks another host', element)
      read(value)
    }
    if (['input', 'textarea'].includes(element.localName)) read(element.value)
  }
  const walker = root.createTreeWalker(root, 0x84)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === 8 && node.data.search(marker) >= 0)
      faults.push(`a text stands in a comment: ${node.data}`)
    if (node.nodeType === 4) read(node.data)
  }
  const texts = root.createTreeWalker(root, 0x4)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    read(node.data)
    if (isLive && /[\u202a-\u202e\u2066-\u2069]/.test(node.data) && node.parentElement.checkVisibility())
      if (turnsAround(node)) fault('a text turns its neighbours around', node.parentElement)
  }
  return { seen: [...seen], faults }

  /** Nothing between it and the next block keeps its direction in, and something else stands on its lines. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  function turnsAround(node: any): boolean {
    for (let box = node.parentElement; box; box = box.parentElement) {
      const { unicodeBidi, display } = root.defaultView.getComputedStyle(box)
      // Blocks are isolated too, from other blocks.
      if (display !== 'inline' && display !== 'contents') return hasNeighbours(node, box)
      if (/isolate|plaintext/.test(unicodeBidi)) return false
    }
    return false
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  function hasNeighbours(node: any, box: any): boolean {
    const line: unknown[] = []
    const nodes = root.createTreeWalker(box, 0x5)
    for (let each = nodes.nextNode(); each; each = nodes.nextNode()) {
      // A direction ends with its paragraph.
      if (each.localName === 'br') {
        if (line.includes(node)) break
        line.length = 0
      } else if (each.nodeType === 3 && each.data.trim() !== '') line.push(each)
    }
    return line.length > 1
  }
}
