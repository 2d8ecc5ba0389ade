// Notices in French.
import type { NoticeWords } from './words.ts'

export const fr: NoticeWords = {
  frame: {
    unsubscribe: 'Ne plus recevoir ce type de message',
    automatic: 'Ce message a été envoyé automatiquement ; les réponses ne sont pas lues.',
  },
  'member-invitation': {
    subject: 'Votre invitation chez {merchant}',
    body: [
      '{inviter} vous invite à travailler sur le compte de {merchant}.',
      'Choisissez un mot de passe pour accepter. Le lien fonctionne une seule fois, jusqu’au {until}.',
      'Si vous n’attendez pas ce message, ne faites rien : sans le lien, personne n’entre.',
    ],
    link: 'Accepter l’invitation',
  },
  'member-recovery': {
    subject: 'Choisir un nouveau mot de passe',
    body: [
      'Quelqu’un, sans doute vous, a demandé un nouveau mot de passe pour cette adresse.',
      'Le lien fonctionne une seule fois, jusqu’au {until}. Votre mot de passe reste le même tant que vous n’en choisissez pas un autre.',
      'Si ce n’était pas vous, ne faites rien.',
    ],
    link: 'Choisir un nouveau mot de passe',
  },
}
