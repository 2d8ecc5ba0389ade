// Notices in French.
import type { NoticeWords } from './words.ts'

export const fr: NoticeWords = {
  frame: {
    unsubscribe: 'Ne plus recevoir ce type de message',
    automatic: 'Ce message a été envoyé automatiquement ; les réponses ne sont pas lues.',
    unsubscribed: 'Vous ne recevrez plus ce type de message.',
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
  'application-question': {
    subject: 'Votre demande : {business}',
    body: [
      'Nous avons une question sur la demande de {business} : {question}',
      'Répondez sur la page de votre demande, dont vous avez gardé l’adresse.',
    ],
  },
  'application-rejected': {
    subject: 'Votre demande : {business}',
    body: [
      'La demande de {business} a été refusée : {reason}',
      'Vous pouvez en faire une autre quand cela aura changé.',
    ],
  },
  'key-added': {
    subject: 'Une clé a été ajoutée pour {merchant}',
    body: [
      'Une nouvelle clé a été ajoutée au compte de {merchant} le {time} : {key}.',
      'Qui détient la partie privée, ou la clé secrète, peut agir au nom de {merchant}. Si vous ne l’avez pas demandée, prévenez immédiatement les exploitants de ce service.',
    ],
  },
  'bank-account-changed': {
    subject: 'Les versements à {merchant} iront sur un autre compte bancaire',
    body: [
      'À partir du {time}, les versements à {merchant} en {currency} iront sur ce compte bancaire : {account}.',
      'D’ici là, l’ancien compte est utilisé. Si vous ne l’avez pas demandé, prévenez tout de suite les responsables de ce service : il est encore temps de l’arrêter.',
    ],
  },
  'payout-paid': {
    subject: 'Un versement à {merchant} : {amount}',
    body: [
      'La banque a exécuté le versement {payoutId} de {amount} sur le compte de {merchant}.',
      'Il figure sur votre relevé ici, et sur celui de votre banque d’ici un jour ou deux.',
    ],
  },
  'payout-returned': {
    subject: 'Un versement à {merchant} est revenu',
    body: [
      'La banque a renvoyé le versement {payoutId} de {amount} : {reason}.',
      'L’argent est de nouveau dans le portefeuille de {merchant}. Vérifiez le compte bancaire des versements.',
    ],
  },
  'callback-host-failing': {
    subject: 'Les callbacks n’atteignent pas {host}',
    body: [
      'Les callbacks de {merchant} vers {host} échouent depuis {since}. Dernière réponse : {reason}.',
      'Rien n’est perdu : ils sont réessayés pendant sept jours. Veuillez vérifier que {host} fonctionne et répond HTTP 200.',
    ],
  },
  'callbacks-exhausted': {
    subject: 'Un callback a été abandonné',
    body: [
      'Le callback {event} du paiement {paymentId} n’a pas pu être remis à {host} en sept jours et n’est plus réessayé automatiquement.',
      'D’autres de {merchant} ont pu connaître le même sort : ceci est signalé une fois par jour. Interrogez l’état de vos commandes ; les callbacks peuvent être renvoyés sur demande.',
    ],
  },
  'registration-code': {
    subject: 'Votre code pour ouvrir un portefeuille',
    body: [
      'Quelqu’un, sans doute vous, veut ouvrir un portefeuille avec cette adresse.',
      'Le code sert une seule fois, pendant 15 minutes. Saisissez-le sur la page où vous avez commencé.',
      'Si ce n’était pas vous, ne faites rien : sans le code, aucun portefeuille n’est ouvert.',
    ],
    link: 'Votre code',
  },
  'wallet-exists': {
    subject: 'Vous avez déjà un portefeuille',
    body: [
      'Quelqu’un, sans doute vous, voulait ouvrir un portefeuille avec cette adresse. Il en existe déjà un, et rien n’a été modifié.',
      'Connectez-vous avec cette adresse et votre code PIN. Si vous l’avez oublié, demandez un code sur la page de connexion.',
    ],
  },
  'pin-code': {
    subject: 'Votre code pour un nouveau PIN',
    body: [
      'Quelqu’un, sans doute vous, a demandé un nouveau PIN pour votre portefeuille.',
      'Le code sert une seule fois, pendant 15 minutes. Votre PIN reste le même tant que vous n’en choisissez pas un autre. Nous ne demandons jamais ce code par téléphone ni par e-mail.',
      'Si ce n’était pas vous, ne faites rien.',
    ],
    link: 'Votre code',
  },
  'pin-changed': {
    subject: 'Votre PIN a été changé',
    body: [
      'Le PIN de votre portefeuille a été changé et toutes les autres sessions ont été fermées.',
      'Si ce n’était pas vous, demandez tout de suite à l’exploitant de votre portefeuille de le bloquer.',
    ],
  },
  'new-device': {
    subject: 'Nouvelle connexion à votre portefeuille',
    body: [
      'Quelqu’un, sans doute vous, s’est connecté à votre portefeuille le {time} sur un appareil que nous ne connaissons pas : {device}.',
      'Si ce n’était pas vous, changez tout de suite votre PIN et déconnectez-vous partout dans les réglages, ou demandez à l’exploitant de votre portefeuille de le bloquer.',
    ],
  },
  'refund-arrived': {
    subject: 'Remboursement de {merchant} : {amount}',
    body: [
      '{merchant} vous a remboursé {amount}. L’argent est dans votre portefeuille.',
      'Numéro de commande : {orderNo}',
    ],
  },
  'withdrawal-returned': {
    subject: 'Votre retrait de {amount} est revenu',
    body: [
      'Votre retrait de {amount} n’a pas été versé : {reason}',
      'L’argent est de nouveau dans votre portefeuille. Vérifiez le compte bancaire avant de réessayer.',
    ],
  },
  receipt: {
    subject: 'Votre paiement à {merchant} : {amount}',
    body: [
      'Vous avez payé {amount} à {merchant} le {time}.',
      'Numéro de commande : {orderNo}',
      'Paiement : {paymentId}',
      'Vous avez demandé ce message sur la page de paiement. Votre adresse n’a servi qu’à cela et n’est pas conservée.',
    ],
  },
}
