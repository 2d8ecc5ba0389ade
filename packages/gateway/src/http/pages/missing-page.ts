// What stands at an address where nothing is: a page for whoever came by a browser. Programs get the documented answer.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { html } from '../html.ts'
import { sendPage } from '../layout.ts'

/** Browsers ask for pages by name, programs take whatever comes. */
export function isBrowser({ method, headers }: FastifyRequest): boolean {
  return /^(GET|HEAD)$/.test(method) && /\btext\/html\b/.test(headers.accept ?? '')
}

export function sendMissingPage(reply: FastifyReply): FastifyReply {
  return sendPage(reply.status(404), {
    title: 'Not here · Tillgate',
    content: html`<main>
<p class="badge wait">404</p>
<h1>There is nothing here</h1>
<p>The address may be old, or have lost a letter on its way. <a href="/">Start at the beginning</a>.</p>
</main>`,
  })
}
