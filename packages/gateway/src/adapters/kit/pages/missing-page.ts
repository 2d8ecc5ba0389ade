// What stands at an address where nothing is: a page for whoever came by a browser. Programs get the documented answer.
import type { FastifyReply } from 'fastify'
import { html } from '../html.ts'
import { sendPage } from '../layout.ts'

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
