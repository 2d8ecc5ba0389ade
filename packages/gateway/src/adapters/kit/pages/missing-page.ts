// The 404 page for browsers. Programs get the documented error.
import type { FastifyReply } from 'fastify'
import { html } from '../html.ts'
import { sendSmall, wordmark } from './frame.ts'

export function sendMissingPage(reply: FastifyReply): FastifyReply {
  return sendSmall(reply.status(404), {
    title: 'Page not found · Tillgate',
    heading: 'Page not found',
    brand: wordmark(),
    content: html`<p>Check the address, or start again from the home page.</p>
<p class="acts"><a class="button" href="/">Go to the home page</a></p>`,
  })
}
