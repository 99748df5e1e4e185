// Runs before the first paint: a page that is loaded in the dark never flashes white. Settings of the Account screen.
(() => {
  try {
    const theme = localStorage.getItem("daybook:theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is blocked: the system decides.
  }
})();
