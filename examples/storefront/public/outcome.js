// Checks an unknown outcome again, replacing this page, so that going back leads to the shop.

const retry = document.querySelector('#retry')
if (retry) setTimeout(() => window.location.replace(retry.href), Number(retry.dataset.afterMs))
