// Notices in Chinese.
import type { NoticeWords } from './words.ts'

export const zh: NoticeWords = {
  frame: {
    unsubscribe: '不再接收此类消息',
    automatic: '此邮件由系统自动发送，回复不会被阅读。',
  },
  'member-invitation': {
    subject: '{merchant} 的邀请',
    body: [
      '{inviter} 邀请您加入 {merchant} 的账户。',
      '设置密码即可接受邀请。链接在 {until} 之前有效，仅可使用一次。',
      '如果您并不知情，请忽略此邮件：没有链接，任何人都无法进入。',
    ],
    link: '接受邀请',
  },
  'member-recovery': {
    subject: '设置新密码',
    body: [
      '有人（很可能是您本人）为此邮箱地址申请了新密码。',
      '链接在 {until} 之前有效，仅可使用一次。在您设置新密码之前，原密码保持不变。',
      '如果不是您本人，请忽略此邮件。',
    ],
    link: '设置新密码',
  },
}
