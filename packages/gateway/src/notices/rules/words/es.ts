// Notices in Spanish.
import type { NoticeWords } from './words.ts'

export const es: NoticeWords = {
  frame: {
    unsubscribe: 'No enviar más mensajes como este',
    automatic: 'Este mensaje se envió automáticamente; nadie lee las respuestas.',
    unsubscribed: 'No recibirá más mensajes como este.',
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
  'application-question': {
    subject: 'Su solicitud: {business}',
    body: [
      'Tenemos una pregunta sobre la solicitud de {business}: {question}',
      'Responda en la página de su solicitud, cuya dirección guardó.',
    ],
  },
  'application-rejected': {
    subject: 'Su solicitud: {business}',
    body: [
      'La solicitud de {business} fue rechazada: {reason}',
      'Puede presentar otra cuando esto haya cambiado.',
    ],
  },
  'key-added': {
    subject: 'Se añadió una clave para {merchant}',
    body: [
      'Se añadió una clave nueva a la cuenta de {merchant} el {time}: {key}.',
      'Quien tenga la parte privada, o la clave secreta, puede actuar en nombre de {merchant}. Si no la pidió, avise de inmediato a quienes gestionan este servicio.',
    ],
  },
  'bank-account-changed': {
    subject: 'Los pagos a {merchant} irán a otra cuenta bancaria',
    body: [
      'Desde {time}, los pagos a {merchant} en {currency} irán a esta cuenta bancaria: {account}.',
      'Hasta entonces se usa la cuenta anterior. Si no lo ha pedido, avise de inmediato a quienes gestionan este servicio: todavía se puede detener.',
    ],
  },
  'payout-paid': {
    subject: 'Un pago a {merchant}: {amount}',
    body: [
      'El banco ha ejecutado el pago {payoutId} de {amount} a la cuenta de {merchant}.',
      'Está en su extracto aquí, y en el de su banco en uno o dos días.',
    ],
  },
  'payout-returned': {
    subject: 'Un pago a {merchant} fue devuelto',
    body: [
      'El banco devolvió el pago {payoutId} de {amount}: {reason}.',
      'El dinero está de nuevo en el monedero de {merchant}. Compruebe la cuenta bancaria de los pagos.',
    ],
  },
  'callback-host-failing': {
    subject: 'Los callbacks no llegan a {host}',
    body: [
      'Los callbacks de {merchant} a {host} fallan desde {since}. Última respuesta: {reason}.',
      'No se pierde nada: se reintentan durante siete días. Compruebe que {host} funciona y responde HTTP 200.',
    ],
  },
  'callbacks-exhausted': {
    subject: 'Se abandonó un callback',
    body: [
      'El callback {event} del pago {paymentId} no se pudo entregar a {host} en siete días y no se reintenta automáticamente.',
      'Es posible que otros de {merchant} hayan terminado igual: esto se avisa una vez al día. Consulte el estado de sus pedidos; los callbacks pueden reenviarse a petición.',
    ],
  },
  'registration-code': {
    subject: 'Tu código para abrir un monedero',
    body: [
      'Alguien, seguramente tú, quiere abrir un monedero con esta dirección.',
      'El código sirve una sola vez, durante 15 minutos. Escríbelo en la página donde empezaste.',
      'Si no has sido tú, no hagas nada: sin el código no se abre ningún monedero.',
    ],
    link: 'Tu código',
  },
  'wallet-exists': {
    subject: 'Ya tienes un monedero',
    body: [
      'Alguien, seguramente tú, quería abrir un monedero con esta dirección. Ya existe uno y no se ha cambiado nada.',
      'Inicia sesión con esta dirección y tu PIN. Si lo has olvidado, pide un código en la página de inicio de sesión.',
    ],
  },
  'pin-code': {
    subject: 'Tu código para un PIN nuevo',
    body: [
      'Alguien, seguramente tú, ha pedido un PIN nuevo para tu monedero.',
      'El código sirve una sola vez, durante 15 minutos. Tu PIN no cambia hasta que elijas otro. Nunca pedimos este código por teléfono ni por correo.',
      'Si no has sido tú, no hagas nada.',
    ],
    link: 'Tu código',
  },
  'pin-changed': {
    subject: 'Tu PIN ha cambiado',
    body: [
      'Se ha cambiado el PIN de tu monedero y se han cerrado las demás sesiones.',
      'Si no has sido tú, pide enseguida a quienes gestionan tu monedero que lo bloqueen.',
    ],
  },
  'new-device': {
    subject: 'Nuevo inicio de sesión en tu monedero',
    body: [
      'Alguien, seguramente tú, inició sesión en tu monedero el {time} en un dispositivo que no conocemos: {device}.',
      'Si no has sido tú, cambia tu PIN enseguida y cierra todas las sesiones en Ajustes, o pide a quienes gestionan tu monedero que lo bloqueen.',
    ],
  },
  'refund-arrived': {
    subject: 'Reembolso de {merchant}: {amount}',
    body: [
      '{merchant} te ha reembolsado {amount}. El dinero está en tu monedero.',
      'Número de pedido: {orderNo}',
    ],
  },
  'withdrawal-returned': {
    subject: 'Tu retirada de {amount} ha vuelto',
    body: [
      'Tu retirada de {amount} no se ha pagado: {reason}',
      'El dinero está de nuevo en tu monedero. Revisa la cuenta bancaria antes de volver a intentarlo.',
    ],
  },
  receipt: {
    subject: 'Su pago a {merchant}: {amount}',
    body: [
      'Ha pagado {amount} a {merchant} el {time}.',
      'Número de pedido: {orderNo}',
      'Pago: {paymentId}',
      'Usted pidió este mensaje en la página de pago. Su dirección se usó solo para esto y no se conserva.',
    ],
  },
}
