// Follows the system's light or dark theme. The script is not a module, because a module runs after
// the first paint and the page would flash. Without JavaScript, pages are light.
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () =>
    document.documentElement.setAttribute("data-bs-theme", dark.matches ? "dark" : "light");
  dark.addEventListener("change", follow);
  follow();
}
