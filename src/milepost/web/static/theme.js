// Before the first paint: the theme that was chosen here.
try {
  const theme = JSON.parse(localStorage.getItem('milepost.theme'));
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be refused: the system's theme, then.
}
