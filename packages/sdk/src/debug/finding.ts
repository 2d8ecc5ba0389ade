// What the debugger found: the mistake by a stable name, what it is in plain words, what to do, and what shows it.

export interface Finding {
  readonly kind: string
  readonly problem: string
  readonly fix: string
  /** Lines such as the place where two texts part. Never any part of a key. */
  readonly evidence?: readonly string[]
}
