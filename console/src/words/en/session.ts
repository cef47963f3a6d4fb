// What signing in and changing a password say.

export const session = {
  title: 'Sign in',
  text: 'For the people who run this service.',
  name: 'Name',
  password: 'Password',
  showPassword: 'Show or hide the password',
  action: 'Sign in',
  wrong: 'The name or the password is wrong.',
  pause: (seconds: number) =>
    `Too many wrong passwords. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
  signOutFailed: 'You are still signed in: the service did not sign you out. Try again.',
  ended: 'Your session has ended',
  endedText: 'Sign in to go on. What you typed is still there.',
  passwordTitle: 'Change password',
  firstText: 'The password you were given is for once. Choose your own to go on.',
  current: 'Current password',
  next: 'New password',
  nextHint: '12 characters or more. A sentence is easier to remember than a word.',
  tooShort: 'It needs 12 to 200 characters.',
  again: 'New password again',
  different: 'The two are not the same.',
  sameAsBefore: 'This is the password you have.',
  wrongCurrent: 'The current password is wrong.',
  save: 'Save password',
  saved: 'The password is changed. Your other sessions have ended.',
}
