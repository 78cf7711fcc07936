// Connects a button to allauth's functions for passkeys, and shows their errors.

const box = document.querySelector("[data-passkey]");
const notice = document.querySelector("[data-passkey-error]");
const { passkey, button, credential, passwordless, options } = box.dataset;

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  // Browsers have passkeys only on pages that came over HTTPS, or from this machine.
  const { passkeyError, passkeyInsecure } = notice.dataset;
  notice.textContent = globalThis.isSecureContext ? passkeyError : passkeyInsecure;
  notice.hidden = false;
});

globalThis.allauth.webauthn.forms[passkey]({
  ids: { add: button, authenticate: button, login: button, credential, passwordless, data: options },
});
