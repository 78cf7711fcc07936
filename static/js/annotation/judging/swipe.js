// A swipe to the left or right across the video submits an answer, like the two buttons.

const MIN_DISTANCE = 80; // pixels
// The browser does not wait for passive listeners. It waits for others, and cancels a swipe if they are slow.
const PASSIVE = { passive: true };

export function onSwipe(element, { left, right }) {
  let start = null;
  element.addEventListener("touchstart", (event) => {
    const [touch] = event.touches;
    start = event.touches.length === 1 ? { x: touch.clientX, y: touch.clientY } : null;
  }, PASSIVE);
  element.addEventListener("touchend", (event) => {
    if (!start) return;
    const [touch] = event.changedTouches;
    const across = touch.clientX - start.x;
    const along = touch.clientY - start.y;
    start = null;
    if (Math.abs(across) < MIN_DISTANCE || Math.abs(across) < 2 * Math.abs(along)) return;
    (across < 0 ? left : right)();
  }, PASSIVE);
}
