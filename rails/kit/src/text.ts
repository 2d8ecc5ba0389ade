/** A reason has at most 256 characters in the protocol. */
export const shortened = (text: string, most = 256) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text
