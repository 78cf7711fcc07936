// Plays videos. A browser can refuse to play, for example before the person has used the page.

export function play(video) {
  video.play().catch(() => {});
}

export function toggle(video) {
  if (video.paused) play(video);
  else video.pause();
}
