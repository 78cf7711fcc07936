// Light or dark as the system is. In the head and not a module: a module runs after the first
// picture, and every page would flash. Without JavaScript all pages are light.
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () =>
    document.documentElement.setAttribute("data-bs-theme", dark.matches ? "dark" : "light");
  dark.addEventListener("change", follow);
  follow();
}
