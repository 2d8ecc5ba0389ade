// Notices in Spanish.
import type { NoticeWords } from './words.ts'

export const es: NoticeWords = {
  frame: {
    unsubscribe: 'No enviar más mensajes como este',
    automatic: 'Este mensaje se envió automáticamente; nadie lee las respuestas.',
  },
  'member-invitation': {
    subject: 'Su invitación a {merchant}',
    body: [
      '{inviter} le invita a trabajar en la cuenta de {merchant}.',
      'Elija una contraseña para aceptar. El enlace funciona una sola vez, hasta {until}.',
      'Si no esperaba este mensaje, no haga nada: sin el enlace nadie puede entrar.',
    ],
    link: 'Aceptar la invitación',
  },
  'member-recovery': {
    subject: 'Elegir una contraseña nueva',
    body: [
      'Alguien, probablemente usted, pidió una contraseña nueva para esta dirección.',
      'El enlace funciona una sola vez, hasta {until}. Su contraseña no cambia hasta que elija otra.',
      'Si no fue usted, no haga nada.',
    ],
    link: 'Elegir una contraseña nueva',
  },
}
