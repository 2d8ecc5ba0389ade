// A message to one reader, and the mail server's response.

export interface OutgoingMail {
  /** The local part of the Message-ID, the same at every attempt. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

export type Sending =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'postponed'; readonly reason: string }
  /** No message can be sent at all. */
  | { readonly kind: 'unreachable'; readonly reason: string }

/** One connection, opened for the first message. Never rejects. */
export interface MailSession {
  send(mail: OutgoingMail): Promise<Sending>
  close(): void
}
