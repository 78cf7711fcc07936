// Functions for orders of captions. They do not use the page.

// Return the list with the element at `from` moved to the place `to`.
export function moved(list, from, to) {
  const rest = list.toSpliced(from, 1);
  return rest.toSpliced(to, 0, list[from]);
}

// Return the nearest place from 0 to `count - 1`.
export function nearest(place, count) {
  return Math.min(Math.max(place, 0), count - 1);
}

// Return the captions in the order of an answer, which contains their places on the screen. Without
// an answer, the captions keep their places.
export function inOrder(captions, places) {
  if (!places) return captions;
  return places.map((place) => captions.find((caption) => caption.place === place));
}

// Return the place of a dragged row with these edges, which was at `from`. `middles`: the middle of
// each row where it is now. A row passes another when its edge passes the other's middle, so that
// rows of different heights do not swap back and forth.
export function placeOfDragged(from, { top, bottom }, middles) {
  const below = middles.findLastIndex((middle, place) => place > from && bottom > middle);
  const above = middles.findIndex((middle, place) => place < from && top < middle);
  return [below, above, from].find((place) => place !== -1);
}
