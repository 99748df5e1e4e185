// A link has its token behind the #, so that no server and no Referer sees it. It is moved into the form, and out of the
// address bar and the history, and the form is sent.
const token = globalThis.location.hash.slice(1);
const field = document.querySelector("#link");
if (token && field instanceof HTMLInputElement) {
  globalThis.history.replaceState(null, "", globalThis.location.pathname);
  field.value = token;
  field.form?.requestSubmit();
}
