// A link to a video plays it on the page: as a page of its own it cannot, for what comes with a
// stored file lets nothing in it run. Without this script, or with a key held, it is downloaded.

const player = document.querySelector("[data-player]");
const caption = player.querySelector("p");
const video = player.querySelector("video");

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-play]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  caption.textContent = link.dataset.play;
  video.src = link.href;
  player.showModal();
  video.play().catch(() => {});
});

player.addEventListener("close", () => {
  video.pause();
  video.removeAttribute("src");
});
