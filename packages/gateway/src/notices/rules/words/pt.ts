// Notices in Portuguese.
import type { NoticeWords } from './words.ts'

export const pt: NoticeWords = {
  frame: {
    unsubscribe: 'Não enviar mais mensagens como esta',
    automatic: 'Esta mensagem foi enviada automaticamente; as respostas não são lidas.',
    unsubscribed: 'Você não receberá mais mensagens como esta.',
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
  'application-question': {
    subject: 'Seu pedido: {business}',
    body: [
      'Temos uma pergunta sobre o pedido de {business}: {question}',
      'Responda na página do seu pedido, cujo endereço você guardou.',
    ],
  },
  'application-rejected': {
    subject: 'Seu pedido: {business}',
    body: [
      'O pedido de {business} foi recusado: {reason}',
      'Você pode fazer outro quando isso tiver mudado.',
    ],
  },
  'key-added': {
    subject: 'Uma chave foi adicionada para {merchant}',
    body: [
      'Uma nova chave foi adicionada à conta de {merchant} em {time}: {key}.',
      'Quem tem a parte privada, ou a chave secreta, pode agir em nome de {merchant}. Se você não a pediu, avise imediatamente quem opera este serviço.',
    ],
  },
  'bank-account-changed': {
    subject: 'Os pagamentos a {merchant} vão para outra conta bancária',
    body: [
      'A partir de {time}, os pagamentos a {merchant} em {currency} vão para esta conta bancária: {account}.',
      'Até lá é usada a conta anterior. Se não pediu isto, avise imediatamente quem gere este serviço: ainda pode ser impedido.',
    ],
  },
  'payout-paid': {
    subject: 'Um pagamento a {merchant}: {amount}',
    body: [
      'O banco executou o pagamento {payoutId} de {amount} para a conta de {merchant}.',
      'Ele está no seu extrato aqui, e no do seu banco em um ou dois dias.',
    ],
  },
  'payout-returned': {
    subject: 'Um pagamento a {merchant} foi devolvido',
    body: [
      'O banco devolveu o pagamento {payoutId} de {amount}: {reason}.',
      'O dinheiro está de novo na carteira de {merchant}. Verifique a conta bancária dos pagamentos.',
    ],
  },
  'callback-host-failing': {
    subject: 'Os callbacks não chegam a {host}',
    body: [
      'Os callbacks de {merchant} para {host} falham desde {since}. Última resposta: {reason}.',
      'Nada se perde: eles são tentados de novo durante sete dias. Verifique se {host} está no ar e responde HTTP 200.',
    ],
  },
  'callbacks-exhausted': {
    subject: 'Um callback foi abandonado',
    body: [
      'O callback {event} do pagamento {paymentId} não pôde ser entregue a {host} em sete dias e não é mais tentado automaticamente.',
      'Outros de {merchant} podem ter terminado da mesma forma: isto é avisado uma vez por dia. Consulte o estado dos seus pedidos; os callbacks podem ser reenviados a pedido.',
    ],
  },
  'registration-code': {
    subject: 'O seu código para abrir uma carteira',
    body: [
      'Alguém, provavelmente você, quer abrir uma carteira com este endereço.',
      'O código serve uma só vez, durante 15 minutos. Escreva-o na página onde começou.',
      'Se não foi você, não faça nada: sem o código não se abre nenhuma carteira.',
    ],
    link: 'O seu código',
  },
  'wallet-exists': {
    subject: 'Já tem uma carteira',
    body: [
      'Alguém, provavelmente você, queria abrir uma carteira com este endereço. Já existe uma, e nada foi alterado.',
      'Entre com este endereço e o seu PIN. Se o esqueceu, peça um código na página de entrada.',
    ],
  },
  'pin-code': {
    subject: 'O seu código para um novo PIN',
    body: [
      'Alguém, provavelmente você, pediu um novo PIN para a sua carteira.',
      'O código serve uma só vez, durante 15 minutos. O seu PIN não muda até definir outro. Nunca pedimos este código por telefone nem por e-mail.',
      'Se não foi você, não faça nada.',
    ],
    link: 'O seu código',
  },
  'pin-changed': {
    subject: 'O seu PIN foi alterado',
    body: [
      'O PIN da sua carteira foi alterado e todas as outras sessões foram terminadas.',
      'Se não foi você, peça já a quem gere a carteira que a bloqueie.',
    ],
  },
  'new-device': {
    subject: 'Nova sessão na sua carteira',
    body: [
      'Alguém, provavelmente você, entrou na sua carteira em {time} num dispositivo que não conhecemos: {device}.',
      'Se não foi você, altere já o seu PIN e termine todas as sessões nas definições, ou peça a quem gere a carteira que a bloqueie.',
    ],
  },
  'refund-arrived': {
    subject: 'Reembolso de {merchant}: {amount}',
    body: [
      '{merchant} reembolsou-lhe {amount}. O dinheiro está na sua carteira.',
      'Número da encomenda: {orderNo}',
    ],
  },
  'withdrawal-returned': {
    subject: 'O seu levantamento de {amount} voltou',
    body: [
      'O seu levantamento de {amount} não foi pago: {reason}',
      'O dinheiro está de novo na sua carteira. Verifique a conta bancária antes de tentar outra vez.',
    ],
  },
  receipt: {
    subject: 'O seu pagamento a {merchant}: {amount}',
    body: [
      'Você pagou {amount} a {merchant} em {time}.',
      'Número do pedido: {orderNo}',
      'Pagamento: {paymentId}',
      'Você pediu esta mensagem na página de pagamento. O seu endereço foi usado apenas para isso e não é guardado.',
    ],
  },
}
