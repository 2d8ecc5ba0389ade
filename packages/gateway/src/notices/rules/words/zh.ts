// Notices in Chinese.
import type { NoticeWords } from './words.ts'

export const zh: NoticeWords = {
  frame: {
    unsubscribe: '不再接收此类消息',
    automatic: '此邮件由系统自动发送，回复不会被阅读。',
    unsubscribed: '您将不再收到此类消息。',
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
  'application-question': {
    subject: '您的申请：{business}',
    body: ['关于 {business} 的申请，我们有一个问题：{question}', '请在您保存了地址的申请页面上回答。'],
  },
  'application-rejected': {
    subject: '您的申请：{business}',
    body: ['{business} 的申请未获通过：{reason}', '情况改变后您可以再次申请。'],
  },
  'key-added': {
    subject: '{merchant} 添加了密钥',
    body: [
      '{merchant} 的账户于 {time} 添加了新密钥：{key}。',
      '持有私钥或对称密钥的人可以代表 {merchant} 操作。如果这不是您要求的，请立即联系本服务的运营方。',
    ],
  },
  'bank-account-changed': {
    subject: '向 {merchant} 的付款将转到另一个银行账户',
    body: [
      '自 {time} 起，向 {merchant} 的 {currency} 付款将转到以下银行账户：{account}',
      '在此之前仍使用原账户。如果这不是您的要求，请立即通知本服务的运营方：现在还可以阻止。',
    ],
  },
  'payout-paid': {
    subject: '向 {merchant} 的付款：{amount}',
    body: [
      '银行已将金额为 {amount} 的付款 {payoutId} 付到 {merchant} 的账户。',
      '它已列入您在这里的对账单，一两天内也会出现在银行对账单上。',
    ],
  },
  'payout-returned': {
    subject: '向 {merchant} 的一笔付款被退回',
    body: [
      '银行退回了金额为 {amount} 的付款 {payoutId}：{reason}',
      '款项已回到 {merchant} 的钱包。请检查收款银行账户。',
    ],
  },
  'callback-host-failing': {
    subject: '回调无法送达 {host}',
    body: [
      '{merchant} 发往 {host} 的回调自 {since} 起失败。最后的响应：{reason}。',
      '不会丢失任何内容：系统会在七天内重试。请检查 {host} 是否正常运行并返回 HTTP 200。',
    ],
  },
  'callbacks-exhausted': {
    subject: '一个回调已放弃发送',
    body: [
      '支付 {paymentId} 的回调 {event} 在七天内未能送达 {host}，不再自动重试。',
      '{merchant} 的其他回调可能也是如此：此通知每天发送一次。请查询订单状态；回调可按要求重新发送。',
    ],
  },
  'registration-code': {
    subject: '您的开户验证码',
    body: [
      '有人（很可能是您本人）想用此邮箱开通钱包。',
      '验证码只能使用一次，15 分钟内有效。请在开始注册的页面输入。',
      '如非本人操作，请忽略：没有验证码就无法开通钱包。',
    ],
    link: '您的验证码',
  },
  'wallet-exists': {
    subject: '您已有钱包',
    body: [
      '有人（很可能是您本人）想用此邮箱开通钱包。该邮箱已有钱包，未作任何更改。',
      '请用此邮箱和 PIN 登录。如忘记 PIN，请在登录页面获取验证码。',
    ],
  },
  'pin-code': {
    subject: '您的 PIN 重置验证码',
    body: [
      '有人（很可能是您本人）要为您的钱包设置新的 PIN。',
      '验证码只能使用一次，15 分钟内有效。在您设置新 PIN 之前，原 PIN 不变。我们绝不会通过电话或邮件向您索要此验证码。',
      '如非本人操作，请忽略。',
    ],
    link: '您的验证码',
  },
  'pin-changed': {
    subject: '您的 PIN 已更改',
    body: ['您钱包的 PIN 已更改，其他设备均已退出登录。', '如非本人操作，请立即联系钱包运营方锁定钱包。'],
  },
  'new-device': {
    subject: '您的钱包有新的登录',
    body: [
      '有人（很可能是您本人）于 {time} 在一台我们不认识的设备上登录了您的钱包：{device}。',
      '如非本人操作，请立即更改 PIN 并在设置中退出所有设备，或联系钱包运营方锁定钱包。',
    ],
  },
  'refund-arrived': {
    subject: '{merchant} 退款：{amount}',
    body: ['{merchant} 已向您退款 {amount}，款项已到您的钱包。', '订单号：{orderNo}'],
  },
  'withdrawal-returned': {
    subject: '您的 {amount} 提现已退回',
    body: ['您的 {amount} 提现未能付出：{reason}', '款项已退回您的钱包。重试前请核对银行账户。'],
  },
  receipt: {
    subject: '您向 {merchant} 的付款：{amount}',
    body: [
      '您于 {time} 向 {merchant} 支付了 {amount}。',
      '订单号：{orderNo}',
      '支付：{paymentId}',
      '您在支付页面请求了此邮件。您的地址仅用于此次发送，不会保存。',
    ],
  },
}
