// A message to one reader, and what a mail server did with it.

export interface OutgoingMail {
  /** The first half of its Message-ID, the same at every attempt. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

export type Sending =
  | { readonly kind: 'accepted' }
  /** It will never take this one. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Not now. */
  | { readonly kind: 'postponed'; readonly reason: string }
  /** Nothing can be sent at all, whoever it is for. */
  | { readonly kind: 'unreachable'; readonly reason: string }

/** One connection, opened when the first is sent. Never rejects. */
export interface MailSession {
  send(mail: OutgoingMail): Promise<Sending>
  close(): void
}
