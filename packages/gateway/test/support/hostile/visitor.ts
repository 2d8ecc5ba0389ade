// Opens pages in a browser and notes whatever a hostile text brought about: a script that ran, an element that it became, a
// request to another host, an objection of the browser.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type Inspected, inspection } from './inspect.ts'
import { hitFunction } from './texts.ts'

export interface Looked extends Inspected {
  readonly status: number
}

export interface PageForm {
  readonly action: string
  readonly fields: readonly { readonly name: string; readonly type: string; readonly value: string }[]
}

export class HostileVisitor {
  /** What happened, each with the page where it did. */
  readonly faults: string[] = []
  readonly #context: BrowserContext
  readonly #page: Page
  /** For texts of pages that are read and not opened. */
  readonly #reader: Page
  readonly #origins: readonly string[]
  #at = ''

  private constructor(
    context: BrowserContext,
    { page, reader, origins }: { page: Page; reader: Page; origins: readonly string[] },
  ) {
    this.#context = context
    this.#page = page
    this.#reader = reader
    this.#origins = origins
  }

  /** With the cookies of somebody who is signed in. */
  static async open(
    browser: Browser,
    { origins, cookies = new Map() }: { origins: readonly string[]; cookies?: ReadonlyMap<string, string> },
  ): Promise<HostileVisitor> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(120_000)
    const [url = ''] = origins
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url })))
    const page = await context.newPage()
    const visitor = new HostileVisitor(context, { page, reader: await context.newPage(), origins })
    await visitor.#watch()
    return visitor
  }

  async #watch(): Promise<void> {
    const page = this.#page
    await page.exposeFunction(hitFunction, (marker: string) => this.#note(`a text ran: ${marker}`))
    page.on('dialog', (dialog) => {
      this.#note(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('pageerror', (error) => this.#note(`script error: ${error.message}`))
    page.on('console', (message) => {
      // What is not there is what the page says itself.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
        this.#note(`console: ${message.text()}`)
    })
    const request = (url: string) => {
      const { origin, protocol } = new URL(url)
      if (!this.#origins.includes(origin) && protocol !== 'about:') this.#note(`a request: ${url}`)
    }
    page.on('requestfinished', (done) => request(done.url()))
    page.on('requestfailed', (failed) => {
      // What the page's policy stops is told on the console.
      if (!/csp/i.test(failed.failure()?.errorText ?? '')) request(failed.url())
    })
    page.on('popup', (popup) => this.#note(`a window: ${popup.url()}`))
  }

  #note(what: string): void {
    this.faults.push(`${this.#at}: ${what}`)
  }

  /** Opens it as a person does. */
  async look(url: string, prepare?: (page: Page) => Promise<void>): Promise<Looked> {
    this.#at = url
    const response = await this.#page.goto(url)
    await prepare?.(this.#page)
    return this.#judge(response?.status() ?? 0, await this.#page.evaluate<Inspected>(inspection()))
  }

  /** Reads it as a browser does, and runs nothing of it: for many pages that are alike. */
  async read(url: string, form?: Readonly<Record<string, string>>): Promise<Looked> {
    this.#at = `${form ? 'POST' : 'GET'} ${url}`
    const { request } = this.#context
    const options = { maxRedirects: 0, failOnStatusCode: false }
    const response = form
      ? await request.post(url, {
          ...options,
          form: { ...form },
          headers: { 'sec-fetch-site': 'same-origin' },
        })
      : await request.get(url, options)
    const isPage = response.headers()['content-type']?.startsWith('text/html')
    return isPage ? this.readHtml(await response.text(), response.status()) : this.#judge(response.status())
  }

  async readHtml(html: string, status = 200): Promise<Looked> {
    return this.#judge(status, await this.#reader.evaluate<Inspected>(inspection(html)))
  }

  /** The forms of a page that are sent as text. */
  async forms(url: string): Promise<readonly PageForm[]> {
    const { text } = await this.text(url)
    return this.#reader.evaluate<readonly PageForm[]>(`
      [...new DOMParser().parseFromString(${JSON.stringify(text)}, 'text/html').forms]
        .filter(({ method, enctype }) => method === 'post' && enctype !== 'multipart/form-data')
        .map((form) => ({
          action: form.getAttribute('action') ?? '',
          fields: [...form.elements]
            .filter(({ name }) => name)
            .map(({ name, type, value }) => ({ name, type, value })),
        }))`)
  }

  /** Opens what is no page, such as a picture; only what it does counts. */
  async run(url: string): Promise<readonly string[]> {
    this.#at = url
    const before = this.faults.length
    await this.#page.goto(url)
    return this.faults.splice(before).filter((fault) => !fault.includes(': console: '))
  }

  /** A text as a document of its own, such as a mail. */
  async show(name: string, html: string): Promise<Looked> {
    this.#at = name
    await this.#page.goto('about:blank')
    await this.#page.setContent(html)
    return this.#judge(200, await this.#page.evaluate<Inspected>(inspection()))
  }

  async text(url: string): Promise<{ text: string; type: string }> {
    const response = await this.#context.request.get(url)
    return { text: await response.text(), type: response.headers()['content-type'] ?? '' }
  }

  close(): Promise<void> {
    return this.#context.close()
  }

  #judge(status: number, { seen, faults }: Inspected = { seen: [], faults: [] }): Looked {
    for (const fault of faults) this.#note(fault)
    if (status >= 500) this.#note(`HTTP ${status}`)
    return { status, seen, faults }
  }
}
