// What a language says: a text for each kind that its readers may get, with {gaps}, and what stands under every notice.
import type { NoticeKind, OperatorKind } from '../../rules/kinds.ts'

export interface NoticeText {
  readonly subject: string
  /** Paragraphs. */
  readonly body: readonly string[]
  /** What the link is called, where there is one. */
  readonly link?: string
}

export interface NoticeFrame {
  /** Under what its reader may switch off. */
  readonly unsubscribe: string
  readonly automatic: string
  readonly unsubscribed: string
}

export type NoticeWords = Readonly<Record<Exclude<NoticeKind, OperatorKind>, NoticeText>> & {
  readonly frame: NoticeFrame
}
