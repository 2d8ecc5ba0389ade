// La page de paiement en français.
import { plural } from '../../../http/languages/plural.ts'
import type { Words } from '../words.ts'

export const fr: Words = {
  title: 'Payer {merchant}',
  sandbox: 'Environnement de test : aucun argent réel n’est échangé.',
  language: 'Langue',
  operator: { help: 'Aide', privacy: 'Confidentialité', imprint: 'Mentions légales' },
  time: {
    left: 'Il reste {time} pour payer',
    soon: 'Plus que {time} pour payer',
    announceSoon: 'Il reste moins d’une minute pour payer.',
  },
  signIn: {
    heading: 'Payer avec votre portefeuille',
    login: 'Numéro de téléphone ou e-mail',
    pin: 'Code PIN',
    submit: 'Continuer',
    next: 'Vous verrez d’abord votre solde. Rien n’est encore payé.',
    instead: 'Se connecter à un portefeuille',
    limit:
      'Les portefeuilles paient {limit} au maximum en une fois. Si le vôtre n’a pas de plafond plus élevé, choisissez un autre moyen de paiement.',
    triesLeft: plural({
      one: 'Il reste {count} tentative.',
      many: 'Il reste {count} tentatives.',
      other: 'Il reste {count} tentatives.',
    }),
  },
  forgotten: {
    link: 'Code PIN oublié ?',
    heading: 'Choisir un nouveau code PIN',
    text: 'Demandez un code à usage unique à l’exploitant de votre portefeuille. Il s’assure que c’est bien vous ; le code est valable 15 minutes. Personne d’autre n’en a jamais besoin.',
    code: 'Code à usage unique',
    newPin: 'Nouveau code PIN',
    hint: '6 à 12 chiffres',
    again: 'Nouveau code PIN, encore une fois',
    submit: 'Enregistrer le nouveau code PIN',
    back: 'Retour au paiement à {merchant}',
  },
  rails: {
    heading: 'Comment souhaitez-vous payer ?',
    go: 'Continuer vers {rail}',
    waiting: 'En attente de {rail}',
    transfer:
      'Virez ce montant sur ce compte depuis votre banque. Indiquez la référence exactement ainsi : elle nous fait reconnaître votre paiement.',
    text: 'Cette page change d’elle-même dès que {rail} a confirmé le paiement. Vous pouvez aussi y revenir plus tard.',
    starting: 'Connexion à {rail}',
    leaving: 'Annulation du paiement chez {rail}',
    another: 'Payer autrement',
    copy: 'Copier',
    copied: 'Copié',
    code: 'Code QR pour payer avec {rail}',
    declined:
      '{rail} n’a pas accepté le paiement. Rien n’a été débité ; choisissez un autre moyen de paiement.',
    lines: {
      holder: 'Titulaire du compte',
      amount: 'Montant',
      received: 'Reçu jusqu’ici',
      reference: 'Référence',
    },
  },
  testBank: {
    hint: 'Ou laissez la banque de test faire aussitôt ceci :',
    approve: 'Accepter',
    decline: 'Refuser',
    delay: 'Accepter après 5 secondes',
    late: 'Accepter trop tard',
    twice: 'Accepter, annoncé deux fois',
    never: 'Ne jamais conclure',
  },
  testWallets: {
    heading: 'Payer avec un portefeuille de test',
    hint: 'Un geste suffit pour payer. Chaque portefeuille réagit toujours de la même façon.',
    approves: { name: 'Paie', does: 'Le paiement réussit aussitôt.' },
    declines: { name: 'Refuse', does: 'Le paiement échoue, rien n’est débité.' },
    too_little_money: {
      name: 'Solde insuffisant',
      does: 'La commande reste ouverte pour un autre portefeuille.',
    },
    confirms_later: { name: 'Prend son temps', does: 'Réussit au bout de cinq secondes.' },
    refund_fails: {
      name: 'Paie, refuse les remboursements',
      does: 'Réussit ; un remboursement ultérieur échoue.',
    },
  },
  confirm: {
    heading: 'Bonjour {name}',
    balance: 'Votre solde',
    after: 'Reste après paiement',
    pay: 'Payer {amount}',
    otherWallet: 'Utiliser un autre portefeuille',
    tooLittle: 'Votre solde ne suffit pas pour cette commande : il manque {missing}.',
    topUp: 'Rechargez votre portefeuille',
    tooLittleNext: '{topUp} puis cette page, ou utilisez un autre portefeuille.',
    overPayment:
      'C’est plus que ce que votre portefeuille peut payer en une fois : le plafond est de {limit}.',
    overDay:
      'C’est plus que ce que votre portefeuille peut encore payer aujourd’hui : il reste {left} sur {limit}.',
  },
  confirming: {
    status: 'En cours',
    heading: 'Votre paiement est en cours de traitement.',
    text: 'Le montant est réservé. Cette page change d’elle-même dès que c’est terminé ; inutile de payer à nouveau.',
  },
  success: {
    status: 'Payé',
    heading: 'Vous avez payé {merchant}.',
    transaction: 'Numéro de transaction',
    refunded: '{amount} ont été remboursés sur votre portefeuille.',
    refunding: '{amount} sont en cours de remboursement sur votre portefeuille.',
    time: 'Date et heure',
    print: 'Imprimer le reçu',
  },
  failed: {
    status: 'Échec',
    heading: 'Le paiement n’a pas abouti.',
    text: 'Rien n’a été débité.',
    reason: 'Motif : {reason}',
    declined: 'le portefeuille a refusé le paiement.',
    next: 'Pour réessayer, passez une nouvelle commande dans la boutique.',
  },
  timeout: {
    status: 'Délai écoulé',
    heading: 'Le temps pour payer est écoulé.',
    text: 'Rien n’a été débité.',
    next: 'Si vous voulez toujours acheter, passez une nouvelle commande dans la boutique.',
  },
  cancelled: {
    status: 'Annulée',
    heading: 'Cette commande a été annulée.',
    text: 'Rien n’a été débité.',
    next: 'Si vous ne vous y attendiez pas, contactez la boutique.',
  },
  late: {
    asking:
      'Nous demandons encore à {rail} si vous avez payé. Si oui, le paiement est arrivé trop tard pour cette commande et l’argent vous sera renvoyé.',
    returning:
      'Votre paiement par {rail} est arrivé trop tard pour cette commande. L’argent vous est en cours de retour.',
    returned:
      'Votre paiement par {rail} est arrivé trop tard pour cette commande. L’argent vous a été renvoyé.',
    held: 'Votre paiement par {rail} est arrivé trop tard pour cette commande. L’argent est conservé pour vous ; adressez-vous à l’exploitant de cette page.',
  },
  suspended: {
    status: 'Indisponible',
    heading: 'Cette boutique ne peut pas recevoir de paiements pour le moment.',
    text: 'Rien n’a été débité. Veuillez contacter la boutique.',
  },
  back: {
    button: 'Retour à {merchant}',
    soon: 'Retour à {merchant} dans {time}',
    stay: 'Rester ici',
    staying: 'Vous restez sur cette page.',
    close: 'Vous pouvez fermer cette page.',
    again: 'Réessayer',
  },
  receipt: {
    offer: 'Reçu par e-mail',
    email: 'Adresse e-mail',
    send: 'Envoyer le reçu',
    text: 'Votre adresse ne sert qu’à ce message et n’est pas conservée.',
  },
  notices: {
    receiptSent: 'Le reçu est en route vers votre boîte de réception.',
    receiptWrong: 'Nous ne pouvons pas écrire à cette adresse e-mail. Veuillez la vérifier.',
    receiptBusy: 'Assez de reçus ont été envoyés pour l’instant. Veuillez réessayer plus tard.',
    goOn: 'Redirection vers la page de paiement.',
    railGone:
      'Ce moyen de paiement n’est pas disponible pour le moment. Rien n’a été débité ; choisissez-en un autre.',
    railBusy: 'Le paiement commencé est en cours d’annulation. Patientez un instant.',
    wrong: 'Identifiant ou code PIN incorrect. Rien n’a été débité ; veuillez réessayer.',
    lockedUntil: 'Trop de tentatives incorrectes. Rien n’a été débité ; réessayez {when}.',
    pinChanged: 'Votre code PIN est changé et vous êtes connecté. Rien n’est encore payé.',
    codeWrong:
      'L’identifiant ou le code est faux, ou le code est trop ancien. Rien n’a été changé ; demandez un nouveau code.',
    pinUnfit:
      'Le nouveau code PIN doit compter 6 à 12 chiffres et être identique les deux fois. Rien n’a été changé.',
    locked:
      'Ce portefeuille est bloqué. Rien n’a été débité. Adressez-vous au fournisseur de votre portefeuille ou utilisez-en un autre.',
    tooLittle:
      'Le solde de ce portefeuille est insuffisant. Rien n’a été débité ; veuillez utiliser un autre portefeuille.',
    overLimit:
      'Ce montant dépasse le plafond du portefeuille par paiement ou par jour. Rien n’a été débité ; veuillez utiliser un autre portefeuille.',
    alreadyPaid: 'Cette commande était déjà payée. Rien n’a été débité une seconde fois.',
    alreadyProcessing: 'Cette commande est déjà en cours de paiement. Rien ne sera débité une seconde fois.',
    gone: 'La commande était terminée avant l’arrivée de votre paiement. Rien n’a été débité.',
    again:
      'Cette page est restée ouverte trop longtemps, ou les cookies sont désactivés. Rien n’a été débité ; veuillez réessayer.',
    signedOut:
      'Vous avez été déconnecté pour protéger votre portefeuille. Rien n’a été débité ; veuillez vous reconnecter.',
    busy: 'Trop de tentatives à la fois. Rien n’a été débité ; veuillez patienter un instant puis réessayer.',
    offline: 'Pas de connexion. La page reprendra dès que vous serez de nouveau en ligne.',
  },
  phone: {
    heading: 'Continuer sur votre téléphone',
    text: 'Scannez avec l’appareil photo pour y payer.',
    code: 'Code QR avec l’adresse de cette page',
  },
  details: {
    heading: 'Détails de la commande',
    items: plural({ one: '{count} article', many: '{count} d’articles', other: '{count} articles' }),
    number: 'Numéro de commande',
    each: '{quantity} × {amount}',
    taxEach: 'dont {amount} de taxe par unité',
    subtotal: 'Articles',
    tips: 'Pourboire',
    discount: 'Remise',
    tax: 'Taxe',
    insurance: 'Assurance',
    handling: 'Frais de traitement',
    shipping: 'Livraison',
    shippingDiscount: 'Remise sur la livraison',
    total: 'Total à payer',
    SHIPPING: 'Livré à',
    PICKUP_IN_STORE: 'Retiré en magasin par',
    PICKUP_FROM_PERSON: 'Retiré auprès d’une personne par',
  },
  link: {
    heading: 'Payer ici',
    amount: 'Combien souhaitez-vous payer ?',
    between: 'De {least} à {most}.',
    least: '{least} au minimum.',
    most: '{most} au maximum.',
    submit: 'Continuer',
    next: 'Vous choisirez le moyen de paiement à la page suivante. Rien n’est encore payé.',
    until: 'Payable jusqu’au {time}.',
    wrong: 'Veuillez saisir un montant, par exemple {example}.',
    tooLittle: 'Le montant minimum est de {least}.',
    tooMuch: 'Le montant maximum est de {most}.',
    paused: {
      status: 'En pause',
      heading: 'Ce lien n’accepte pas de paiement pour le moment.',
      text: 'Rien n’a été débité. Contactez {merchant} ou réessayez plus tard.',
    },
    closed: {
      status: 'Fermé',
      heading: 'Ce lien est fermé.',
      text: 'Rien n’a été débité. Demandez un nouveau lien à {merchant}.',
    },
    expired: {
      status: 'Expiré',
      heading: 'Ce lien a expiré.',
      text: 'Rien n’a été débité. Demandez un nouveau lien à {merchant}.',
    },
    paid: {
      status: 'Payé',
      heading: 'Ce paiement a déjà été effectué.',
      text: 'Il n’y a plus rien à payer ici. Pour toute question, contactez {merchant}.',
    },
  },
  notFound: {
    heading: 'Ce lien ne mène nulle part.',
    text: 'Il est peut-être incomplet ou mal saisi. Rien n’a été débité.',
    next: 'Retournez à la boutique et ouvrez la page de paiement depuis celle-ci.',
  },
  trouble: {
    heading: 'Un problème est survenu de notre côté.',
    text: 'Si vous aviez déjà appuyé sur le bouton pour payer, ne payez pas ailleurs une seconde fois : cette page indique si cela a fonctionné.',
    again: 'Vérifier à nouveau',
  },
  tooMany: {
    heading: 'Un instant, s’il vous plaît.',
    text: 'Il y a eu trop de demandes. Celle-ci n’a rien débité. Réessayez dans {time}.',
    again: 'Réessayer',
  },
}
