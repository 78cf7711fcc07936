"""TREC topics with qrels: topics become captions, and relevant pairs become original positives.

Topics are `<top>` blocks with `<num>` and `<title>`, or lines of an id and a text. Qrels are lines
`topic iteration video relevance`: https://trec.nist.gov/data/qrels_eng/.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.lines import SourceFile
from pooling.core.problems import Problems
from pooling.core.readers.benchmarks import BenchmarkReader, Part, captions
from pooling.core.readers.layouts import FIVE_COLUMNS_LINE, QRELS_LINE, grade_of
from pooling.core.readers.registry import Fit, Head

_TOP = re.compile(r"<top\b[^>]*>", re.IGNORECASE)
_END = re.compile(r"</top>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(\w+)[^>]*>")
# The words, such as `Number:`, that classic topics have after their tags.
_LABEL = re.compile(r"^\s*(?:Number|Topic|Description)\s*:\s*", re.IGNORECASE)
_NUMBER_AND_TEXT = re.compile(r"[0-9]+[ \t]+[^0-9\s].*")
_SEPARATED = re.compile(r"[^\s,]+[ \t]+\S+")
_COLUMNS = (4, 5)
# TRECVID: <videoTopic num="1501"><textDescription text="Find shots of a sewing machine"/>.
_XML = ("<?xml", "<!DOCTYPE", "<video")
_NUMBERED_TAG = re.compile(r"""<(\w+)\b[^>]*?\bnum\s*=\s*["']([^"']+)["'][^>]*>""")
_TEXT_VALUE = re.compile(r"""\btext\s*=\s*(?:"([^"]*)"|'([^']*)')""")
MAX_TOPIC_LINES = 1_000


def read_trec(
    files: Mapping[str, SourceFile], _: Mapping[str, str], problems: Problems
) -> captions.CaptionsFile:
    topics, qrels = files[TOPICS.name], files.get(QRELS.name)
    builder, sha256 = parse_topics(topics, problems)
    read = [(topics.source, TOPICS.name, sha256)]
    notes: list[str] = []
    if qrels is not None:
        qrels_sha256, notes = add_qrels(qrels, builder, problems)
        read.append((qrels.source, QRELS.name, qrels_sha256))
    return builder.finish_files(notes, files=read)


def parse_topics(file: SourceFile, problems: Problems) -> tuple[captions.CaptionsBuilder, str]:
    """Read the topics as captions. Also return the hash of the content.

    The text of a `<top>` block is its title, or its description if it has no title. A topic without
    a number or a text is added to `problems`.
    """
    blocks, source = file.blocks(max_bytes=captions.MAX_BYTES), file.source
    builder = captions.CaptionsBuilder(source, problems)
    lines = enumerate(blocks.text_lines(), start=1)
    first = next(((line, text) for line, text in lines if text.strip()), None)
    if first is None:
        raise InvalidInput("the file has no topic", source=source, line=1)
    rest = _followed_by(first, lines)
    form = _blocks if _TOP.match(first[1].strip()) else _rows
    topics = (_xml_topics if first[1].lstrip().startswith(_XML) else form)(rest, builder)
    for line, key, text in topics:
        if len(builder) == captions.MAX_ROWS:
            raise InvalidInput(f"more than {captions.MAX_ROWS:,} topics", source=source, line=line)
        builder.add_query(line, key, text)
    return builder, blocks.sha256


def _followed_by(
    first: tuple[int, str], rest: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def _rows(
    lines: Iterator[tuple[int, str]], builder: captions.CaptionsBuilder
) -> Iterator[tuple[int, str, str]]:
    for line, text in lines:
        if not text.strip():
            continue
        key, _, words = text.strip("\n").partition("\t")
        if not words:
            key, _, words = text.strip().partition(" ")
        if words.strip():
            yield line, key, words.strip()
        else:
            builder.refuse("the line has an id but no text", line)


@dataclass(slots=True)
class _Topic:
    line: int
    fields: dict[str, list[str]] = field(default_factory=dict)
    tag: str = ""
    lines: int = 0

    def read(self, text: str) -> None:
        """Add a line to the fields. A field ends where another begins."""
        at = 0
        for tag in _TAG.finditer(text):
            self._add(text[at : tag.start()])
            self.tag = "" if tag[1] else tag[2].lower()
            at = tag.end()
        self._add(text[at:])
        self.lines += 1

    def _add(self, text: str) -> None:
        if self.tag != "top" and self.tag and text.strip():
            self.fields.setdefault(self.tag, []).append(text)

    def value(self, tag: str) -> str:
        text = _LABEL.sub("", " ".join(self.fields.get(tag, [])))
        return " ".join(html.unescape(text).split())


def _xml_topics(
    lines: Iterator[tuple[int, str]], builder: captions.CaptionsBuilder
) -> Iterator[tuple[int, str, str]]:
    """Yield the elements that have a `num`, each with the first `text` in it or after it.

    The file is not parsed as XML, so that no entity of it is ever loaded.
    """
    key, at = "", 0
    for line, text in lines:
        for match in re.finditer(r"<[^>]*>", text):
            if tag := _NUMBERED_TAG.match(match[0]):
                if key:
                    builder.refuse(f"topic {shown(key)} has no text", at)
                key, at = tag[2], line
            if key and (value := _TEXT_VALUE.search(match[0])):
                words = " ".join(html.unescape(value[1] or value[2] or "").split())
                yield at, key, words
                key = ""
    if key:
        builder.refuse(f"topic {shown(key)} has no text", at)


def _blocks(
    lines: Iterator[tuple[int, str]], builder: captions.CaptionsBuilder
) -> Iterator[tuple[int, str, str]]:
    topic: _Topic | None = None
    for line, text in lines:
        if _TOP.search(text):
            if topic is not None:
                builder.refuse("the topic has no </top>", topic.line)
            topic = _Topic(line)
        if topic is None:
            if text.strip():
                builder.refuse("the line is outside a <top> block", line)
            continue
        topic.read(text)
        if topic.lines > MAX_TOPIC_LINES:
            reason = f"the topic has more than {MAX_TOPIC_LINES:,} lines"
            raise InvalidInput(reason, source=builder.source, line=topic.line)
        if _END.search(text):
            yield from _finished(topic, builder)
            topic = None
    if topic is not None:
        builder.refuse("the topic has no </top>", topic.line)


def _finished(topic: _Topic, builder: captions.CaptionsBuilder) -> Iterator[tuple[int, str, str]]:
    key, text = topic.value("num"), topic.value("title") or topic.value("desc")
    if not key or not text:
        missing = "<num>" if not key else "<title> or <desc>"
        builder.refuse(f"the topic has no {missing}", topic.line)
        return
    yield topic.line, key, text


def add_qrels(
    file: SourceFile, builder: captions.CaptionsBuilder, problems: Problems
) -> tuple[str, list[str]]:
    """Add the pairs with a relevance above 0 as original positives.

    Return the hash of the content, and notes. The videos of the other lines are added, too. Lines
    with an unknown topic, a repeated pair or a relevance that is not an integer are added to
    `problems`.
    """
    blocks, source = file.blocks(max_bytes=captions.MAX_BYTES), file.source
    seen: set[tuple[str, str]] = set()
    others = unjudged = 0
    for line, text in enumerate(blocks.text_lines(), start=1):
        values = text.split()
        if not values:
            continue
        if fault := _qrels_fault(values, builder, seen):
            problems.add(fault, source, line)
            continue
        if len(seen) == captions.MAX_ROWS:
            raise InvalidInput(f"more than {captions.MAX_ROWS:,} rows", source=source, line=line)
        topic, video, relevance = values[0], values[2], values[-1]
        seen.add((topic, video))
        unjudged += (grade_of(relevance) or 0) < 0
        if (grade_of(relevance) or 0) > 0:
            builder.add_positive(line, topic, video, source)
        else:
            builder.add_video(line, video, source=source)
            others += 1
    note = f"Pairs with a relevance of 0 or less (only their videos are used): {others:,}."
    notes = [note] if others else []
    if unjudged:
        notes.append(
            f"Pairs in the pool of the qrels that are not judged (-1): {unjudged:,}. To keep them "
            "and the strata, import the qrels as judgments after the benchmark."
        )
    return blocks.sha256, notes


def _qrels_fault(
    values: list[str], builder: captions.CaptionsBuilder, seen: set[tuple[str, str]]
) -> str | None:
    if len(values) not in _COLUMNS:
        return f"the line has {len(values)} columns instead of {_COLUMNS[0]}"
    topic, video, relevance = values[0], values[2], values[-1]
    if topic not in builder:
        return f"unknown topic {shown(topic)}"
    if (topic, video) in seen:
        return f"topic {shown(topic)} with video {shown(video)} occurs twice"
    if grade_of(relevance) is None:
        return f"the relevance {shown(relevance)} is not an integer"
    return None


def _topics_fit(head: Head) -> Fit:
    """Topics alone have numbers; other lines of an id and a text are topics if qrels follow."""
    if head.text[:4].lower() == "<top":
        return Fit.SURE
    if head.text.startswith(_XML):
        return Fit.SURE if _NUMBERED_TAG.search(head.text) else Fit.NO
    if head.is_alone:
        return Fit.POSSIBLE if _NUMBER_AND_TEXT.fullmatch(head.first) else Fit.NO
    is_line = head.first[:1] not in ("{", "[") and _SEPARATED.match(head.first)
    return Fit.POSSIBLE if is_line and not _qrels_fit(head) else Fit.NO


def _qrels_fit(head: Head) -> Fit:
    is_qrels = QRELS_LINE.fullmatch(head.first) or FIVE_COLUMNS_LINE.fullmatch(head.first)
    return Fit.SURE if is_qrels else Fit.NO


TOPICS: Final = Part("topics", "TREC topics", _topics_fit)
QRELS: Final = Part(
    "qrels",
    "TREC qrels",
    _qrels_fit,
    otherwise="Judgments of a benchmark that exists are imported on its page Import judgments.",
)
READER: Final = BenchmarkReader(
    name="trec",
    title="TREC",
    place=4,
    about="Topics and qrels. Topics are <top> blocks, XML of TRECVID, or lines with an id and a "
    "text. Pairs with a relevance above 0 are the original positives. Topics alone need a table of "
    "the videos.",
    combinations=[[TOPICS, QRELS], [TOPICS]],
    files="TREC topics with qrels",
    alone="TREC topics, with or without qrels",
    option="topics and qrels",
    read=read_trec,
)
