"""The tables and texts of a paper, the analyses that they need, and the archive of the files."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.core.files.archive import Archive
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import Question, build_question
from evaluation.lab.paper.tables import FIRE_AP, FURTHER, TABLES, tables_tex
from evaluation.lab.paper.texts import methods_tex, references_bib
from evaluation.models import AnalysisResult, LabelSet
from evaluation.release.exports import DEFAULT
from evaluation.release.exports.release import release_facts
from hearth.shared.errors import InvalidInput
from pooling.enums import PoolStrategy
from pooling.models import Pool

# The options of an analysis that differ from its own defaults.
OPTIONS: dict[str, dict[str, str]] = {"scores": {"measures": f"C@1 C@5 C@10 AP {FIRE_AP}"}}


@dataclass(frozen=True, slots=True)
class Plan:
    """The questions that a paper needs, by the name of the analysis.

    missing: the reason why an analysis is undefined, by its name.
    """

    label_set: LabelSet
    questions: Mapping[str, Question]
    missing: Mapping[str, str]

    def stored_results(self) -> dict[str, AnalysisResult] | None:
        """Return the results by the name of the analysis, or None if one is not computed yet."""
        results = {name: question.stored_result() for name, question in self.questions.items()}
        found = {name: result for name, result in results.items() if result is not None}
        return found if len(found) == len(results) else None


def plan_paper(label_set: LabelSet) -> Plan:
    """Return the questions of a paper about these labels and all runs of the benchmark.

    Raises `InvalidInput` if there is no run, because a paper needs scores.
    """
    questions: dict[str, Question] = {}
    missing: dict[str, str] = {}
    benchmark = label_set.benchmark
    further = [name for name, found in FURTHER.items() if found.applies(benchmark)]
    for name in (*TABLES, *further):
        data = {"labels": str(label_set.reference), **OPTIONS.get(name, {})}
        try:
            questions[name] = build_question(get_analysis(name), benchmark, data)
        except InvalidInput as error:
            if name == "scores":
                raise
            missing[name] = str(error)
    return Plan(label_set, questions, missing)


@dataclass(frozen=True, slots=True)
class Paper:
    """The files of a paper, as texts. published: the date of the label set."""

    stem: str
    published: datetime.date
    tables: str
    methods: str
    references: str
    figures: str

    def archive(self) -> bytes:
        """Return a zip archive of the files."""
        files = {
            "tables.tex": self.tables,
            "methods.tex": self.methods,
            "references.bib": self.references,
            "figures.json": self.figures,
        }
        out = io.BytesIO()
        archive = Archive(out, self.stem, self.published)
        for path, text in files.items():
            archive.add(path, [text.encode()])
        archive.close()
        return out.getvalue()


def write_paper(plan: Plan, stored: Mapping[str, AnalysisResult]) -> Paper:
    """Return the paper. `figures.json` has the unrounded results with their inputs."""
    label_set = plan.label_set
    facts = release_facts(label_set, DEFAULT)
    results = {name: get_analysis(name).load(result.result) for name, result in stored.items()}
    figures = {name: {**result.result, "inputs": result.inputs} for name, result in stored.items()}
    pools = Pool.objects.filter(
        benchmark=label_set.benchmark,
        strategy=PoolStrategy.DEPTH_K,
        created_at__lte=label_set.created_at,
    )
    return Paper(
        stem=f"{facts.stem}-paper",
        published=label_set.created_at.date(),
        tables=tables_tex(results, plan.missing),
        methods=methods_tex(
            facts,
            results,
            [(depth, strata) for depth, strata in pools.values_list("depth", "strata") if depth],
            stored["scores"].inputs["code_version"],
        ),
        references=references_bib(facts),
        figures=json.dumps(figures, indent=1, ensure_ascii=False, sort_keys=True) + "\n",
    )
