// Plays linked videos on this page. Opened as a separate page, a video would not play, because stored
// files are served with a restrictive Content-Security-Policy. Without this script, or with a modifier
// key, the link downloads the video.

import { play } from "../../shared/videos.js";

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
  play(video);
});

player.addEventListener("close", () => {
  video.pause();
  video.removeAttribute("src");
});
