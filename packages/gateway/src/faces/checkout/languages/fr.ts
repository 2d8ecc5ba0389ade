// La page de paiement en français.
import { plural } from '../../../http/languages/plural.ts'
import type { Words } from '../words.ts'

export const fr: Words = {
  title: 'Payer {merchant}',
  sandbox: 'Environnement de test : aucun argent réel n’est échangé.',
  language: 'Langue',
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
  },
  rails: {
    heading: 'Comment souhaitez-vous payer ?',
    go: 'Continuer vers {rail}',
    waiting: 'En attente de {rail}',
    text: 'Cette page change d’elle-même dès que {rail} a confirmé le paiement. Vous pouvez aussi y revenir plus tard.',
    starting: 'Connexion à {rail}',
    leaving: 'Fin du paiement chez {rail}',
    another: 'Payer autrement',
    copy: 'Copier',
    copied: 'Copié',
    code: 'Code QR pour payer avec {rail}',
    declined:
      '{rail} n’a pas accepté le paiement. Rien n’a été débité ; choisissez un autre moyen de paiement.',
  },
  testWallets: {
    heading: 'Payer avec un portefeuille de test',
    hint: 'Un geste suffit pour payer. Chaque portefeuille réagit toujours de la même façon.',
    approves: { name: 'Paie', does: 'Le paiement réussit aussitôt.' },
    declines: { name: 'Refuse', does: 'Le paiement échoue, rien n’est débité.' },
    too_little_money: {
      name: 'N’a pas assez d’argent',
      does: 'La commande reste ouverte pour un autre portefeuille.',
    },
    confirms_later: { name: 'Prend son temps', does: 'Réussit au bout de cinq secondes.' },
    refund_fails: {
      name: 'Paie, refuse les remboursements',
      does: 'Réussit ; un remboursement ultérieur échoue.',
    },
  },
  confirm: {
    heading: 'Bonjour, {name}',
    balance: 'Votre solde',
    after: 'Reste après paiement',
    pay: 'Payer {amount}',
    otherWallet: 'Utiliser un autre portefeuille',
    tooLittle: 'Votre solde ne suffit pas pour cette commande : il manque {missing}.',
    tooLittleNext: 'Rechargez votre portefeuille puis cette page, ou utilisez un autre portefeuille.',
  },
  confirming: {
    status: 'En cours',
    heading: 'Votre paiement est en cours de traitement.',
    text: 'L’argent est mis de côté. Cette page change d’elle-même dès que c’est terminé ; inutile de payer à nouveau.',
  },
  success: {
    status: 'Payé',
    heading: 'C’est fait. Vous avez payé {merchant}.',
    transaction: 'Numéro de transaction',
    refunded: '{amount} ont été remboursés sur votre portefeuille.',
    refunding: '{amount} sont en cours de remboursement sur votre portefeuille.',
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
    heading: '{merchant} a annulé cette commande.',
    text: 'Rien n’a été débité.',
    next: 'Si vous ne vous y attendiez pas, contactez la boutique.',
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
  },
  notices: {
    goOn: 'Vous êtes dirigé vers la page où vous payez.',
    railGone:
      'Ce moyen de paiement n’est pas disponible pour le moment. Rien n’a été débité ; choisissez-en un autre.',
    railBusy: 'Le paiement commencé est encore en train de se terminer. Patientez un instant.',
    wrong: 'Identifiant ou code PIN incorrect. Rien n’a été débité ; veuillez réessayer.',
    lockedUntil: 'Il y a eu trop d’essais erronés. Rien n’a été débité ; réessayez {when}.',
    locked:
      'Ce portefeuille est bloqué. Rien n’a été débité. Adressez-vous au fournisseur de votre portefeuille ou utilisez-en un autre.',
    tooLittle:
      'Ce portefeuille n’a pas assez d’argent. Rien n’a été débité ; veuillez utiliser un autre portefeuille.',
    alreadyPaid: 'Cette commande était déjà payée. Rien n’a été débité une seconde fois.',
    alreadyProcessing: 'Cette commande est déjà en cours de paiement. Rien ne sera débité une seconde fois.',
    gone: 'La commande était terminée avant l’arrivée de votre paiement. Rien n’a été débité.',
    again:
      'Cette page est restée ouverte trop longtemps, ou les cookies sont désactivés. Rien n’a été débité ; veuillez réessayer.',
    signedOut:
      'Vous avez été déconnecté pour protéger votre portefeuille. Rien n’a été débité ; veuillez vous reconnecter.',
    busy: 'Trop d’essais à la fois. Rien n’a été débité ; veuillez patienter un instant puis réessayer.',
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
