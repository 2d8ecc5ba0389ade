// Generates passwords and recovery codes, which are shown once.
import type { RandomBytes } from '@tillgate/protocol'

// Without letters and digits that look alike.
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789'
const passwordGroups = 4
const groupLength = 5

/** 99 bits by default, in groups that can be read aloud. */
export function makePassword(random: RandomBytes, groups = passwordGroups): string {
  let text = ''
  while (text.length < groups * groupLength) {
    for (const byte of random(groups * groupLength)) {
      // 248 is the largest multiple of 31 in a byte. Larger values would make some letters more likely.
      if (byte < 248 && text.length < groups * groupLength) text += alphabet[byte % alphabet.length]
    }
  }
  return text.match(/.{5}/g)?.join('-') ?? text
}
