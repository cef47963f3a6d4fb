// Texts of signing in and of changing a password.

export const session = {
  title: 'Sign in',
  text: 'For operators of this service.',
  name: 'Name',
  password: 'Password',
  showPassword: 'Show or hide the password',
  action: 'Sign in',
  wrong: 'The name or the password is wrong.',
  pause: (seconds: number) =>
    `Too many wrong passwords. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
  signOutFailed: 'Signing out failed. You are still signed in. Try again.',
  ended: 'Your session has ended',
  endedText: 'Sign in to continue. Your input is still there. If your password was reset, use the new one.',
  passwordTitle: 'Change password',
  firstText: 'Your first password has to be replaced. Choose your own to continue.',
  current: 'Current password',
  next: 'New password',
  nextHint: '12 characters or more. A sentence is easy to remember.',
  tooShort: 'Use 12 to 200 characters.',
  again: 'Repeat new password',
  different: 'The passwords do not match.',
  sameAsBefore: 'This is your current password.',
  wrongCurrent: 'The current password is wrong.',
  save: 'Save password',
  saved: 'Password changed. Your other sessions have ended.',
}
