"""A small WordNet in the format of the real one, wndb(5WN)."""

from __future__ import annotations

from pathlib import Path

HEAD = "  1 This is made for tests, in the form of WordNet 3.0 Copyright 2006.  \n"
# For each part of speech: the words of a synset, and its gloss. The senses of a word are numbered
# in this order.
SYNSETS: dict[str, list[tuple[str, str]]] = {
    "noun": [
        ("car auto automobile machine motorcar", 'a motor vehicle with wheels; "he needs a car"'),
        ("machine", "a device that does work"),
        ("hand manus", "the end of the arm"),
        ("hand worker", "a person who works on a farm"),
        ("plate", "a flat dish"),
        ("dish plate", "what is served at a meal; 'a fish' dish"),
        ("bank depository_financial_institution", "a house for money; it holds deposits"),
        ("bank", "the sloping land beside a river"),
        ("child kid", "a young person"),
        ("box", 'a container; "a box of" matches'),
        ("Paris", "a city"),
        ("man adult_male", "a grown person"),
        ("wash", "the work of washing"),
    ],
    "verb": [
        ("take get", "get into the hands"),
        ("take", "carry out"),
        ("wash rinse launder", "clean with water"),
        ("run", "move fast on foot"),
        ("go run", "move away"),
        ("leave", "go away from"),
    ],
    "adj": [("big large", "above average in size"), ("galore(ip)", "in great numbers")],
    "adv": [("quickly rapidly", "with speed"), ("large", "at a distance")],
}
EXCEPTIONS = {"noun": "children child\n", "verb": "took take\nleft leave left\n"}
TYPES = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


def make_wordnet(folder: Path) -> Path:
    """Write the files of WordNet that Hearth reads, and `lexnames`, which only NLTK needs."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, synsets in SYNSETS.items():
        index = _write_data(folder / f"data.{part}", part, synsets)
        lines = [_index_line(word, TYPES[part], places) for word, places in sorted(index.items())]
        (folder / f"index.{part}").write_text(HEAD + "".join(lines), encoding="ascii")
        (folder / f"{part}.exc").write_text(EXCEPTIONS.get(part, ""), encoding="ascii")
    (folder / "lexnames").write_text("00\tall\t1\n", encoding="ascii")
    return folder


def _write_data(path: Path, part: str, synsets: list[tuple[str, str]]) -> dict[str, list[int]]:
    text, index = HEAD, {}
    for words, gloss in synsets:
        names = words.split()
        for name in names:
            index.setdefault(name.partition("(")[0].lower(), []).append(len(text))
        columns = " ".join(f"{name} 0" for name in names)
        frames = " 01 + 02 00" if part == "verb" else ""
        head = f"{len(text):08d} 00 {TYPES[part]} {len(names):02x} {columns}"
        text += f"{head} 000{frames} | {gloss}  \n"
    path.write_text(text, encoding="ascii")
    return index


def _index_line(word: str, kind: str, places: list[int]) -> str:
    count = len(places)
    offsets = " ".join(f"{place:08d}" for place in places)
    return f"{word} {kind} {count} 0 {count} 0 {offsets}  \n"
