// Arrows go from caption to caption; one video plays at a time.

const step = { ArrowLeft: "prev", ArrowRight: "next" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.repeat) return;
  // Fields and players have their own use for arrows.
  if (event.target.closest("input, select, textarea, video")) return;
  document.querySelector(`a[rel="${step[event.key]}"]`)?.click();
});

const videos = [...document.querySelectorAll(".found video")];
for (const video of videos) {
  // A player's bar covers half of so small a picture: it shows while it is used.
  video.controls = false;
  video.tabIndex = 0;
  for (const type of ["pointerenter", "focus"]) video.addEventListener(type, () => (video.controls = true));
  video.addEventListener("pointerleave", () => (video.controls = document.activeElement === video));
  video.addEventListener("blur", () => (video.controls = false));
  video.addEventListener("play", () => {
    for (const other of videos) if (other !== video) other.pause();
  });
}
