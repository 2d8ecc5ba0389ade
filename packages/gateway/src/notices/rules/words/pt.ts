// Notices in Portuguese.
import type { NoticeWords } from './words.ts'

export const pt: NoticeWords = {
  frame: {
    unsubscribe: 'Não enviar mais mensagens como esta',
    automatic: 'Esta mensagem foi enviada automaticamente; as respostas não são lidas.',
  },
  'member-invitation': {
    subject: 'O seu convite para {merchant}',
    body: [
      '{inviter} convida você a trabalhar na conta de {merchant}.',
      'Escolha uma senha para aceitar. O link funciona uma única vez, até {until}.',
      'Se você não esperava esta mensagem, não faça nada: sem o link ninguém entra.',
    ],
    link: 'Aceitar o convite',
  },
  'member-recovery': {
    subject: 'Definir uma nova senha',
    body: [
      'Alguém, provavelmente você, pediu uma nova senha para este endereço.',
      'O link funciona uma única vez, até {until}. A sua senha continua a mesma até você definir outra.',
      'Se não foi você, não faça nada.',
    ],
    link: 'Definir uma nova senha',
  },
}
