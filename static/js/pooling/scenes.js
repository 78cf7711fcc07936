// The scenes on the page of a video. A click on a scene plays it once, in the player above.

import { play } from "../shared/videos.js";

const player = document.querySelector("video.entry-video");
const list = document.querySelector("[data-scenes]");
let end = Infinity;

list?.addEventListener("click", ({ target }) => {
  const scene = target.closest("[data-start]");
  if (!scene || !player) return;
  end = Number(scene.dataset.end);
  player.currentTime = Number(scene.dataset.start);
  player.scrollIntoView({ block: "nearest" });
  play(player);
});

player?.addEventListener("timeupdate", () => {
  if (player.currentTime < end) return;
  end = Infinity;
  player.pause();
});
