// The wallets as the gateway names them, with their English names.
export const wallets: Record<string, string> = {
  토스페이: 'Toss Pay',
  네이버페이: 'Naver Pay',
  카카오페이: 'Kakao Pay',
  페이코: 'PAYCO',
}
