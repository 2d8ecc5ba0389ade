// Notices in German.
import type { NoticeWords } from './words.ts'

export const de: NoticeWords = {
  frame: {
    unsubscribe: 'Solche Nachrichten nicht mehr senden',
    automatic: 'Diese Nachricht wurde automatisch gesendet; Antworten werden nicht gelesen.',
  },
  'member-invitation': {
    subject: 'Ihre Einladung zu {merchant}',
    body: [
      '{inviter} lädt Sie ein, im Konto von {merchant} mitzuarbeiten.',
      'Wählen Sie ein Passwort, um anzunehmen. Der Link gilt einmal, bis {until}.',
      'Wenn Sie das nicht erwarten, tun Sie nichts: Ohne den Link kommt niemand hinein.',
    ],
    link: 'Einladung annehmen',
  },
  'member-recovery': {
    subject: 'Neues Passwort festlegen',
    body: [
      'Jemand, vermutlich Sie selbst, hat für diese Adresse ein neues Passwort angefordert.',
      'Der Link gilt einmal, bis {until}. Ihr Passwort bleibt, wie es ist, bis Sie ein anderes festlegen.',
      'Wenn Sie es nicht waren, tun Sie nichts.',
    ],
    link: 'Neues Passwort festlegen',
  },
}
