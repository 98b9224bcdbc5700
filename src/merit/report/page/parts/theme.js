// Light or dark, remembered by the browser.

/** Show the theme that was chosen last. */
function startTheme() {
  const theme = kept("merit-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}

function changeTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  keep("merit-theme", root.dataset.theme);
}

function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {} // the page also works where storage is forbidden
}

function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
