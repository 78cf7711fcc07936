"""The facts of a release as JSON: Croissant (MLCommons, 1.0), DataCite 4 and PROV-JSON (W3C)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.core.files.release.facts import (
    CONTENTS,
    JUDGMENTS,
    JUDGMENTS_TABLE,
    SPANS,
    SPANS_TABLE,
    TABLE,
    FileFacts,
    ReleaseFacts,
)
from evaluation.core.files.release.licences import spdx_address, spdx_id
from evaluation.core.files.rows import Column, Kind
from evaluation.core.files.span_file import TABLE_COLUMNS

CROISSANT = "http://mlcommons.org/croissant/1.0"
RESPONSIBLE_AI = "http://mlcommons.org/croissant/RAI/1.0"
DATACITE = "http://datacite.org/schema/kernel-4"
# The context that the specification prescribes.
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
SPAN_KEY = ("caption_id", "video_id", "start", "end")
MEDIA_TYPES = {
    ".parquet": "application/x-parquet",
    ".gz": "application/gzip",
    ".qrels": "text/plain",
}


def croissant(facts: ReleaseFacts, files: Sequence[FileFacts]) -> str:
    """Return the description of the data set in the Croissant format 1.0.

    files: the data files, each with its SHA-256.
    """
    publisher, known = facts.publisher, spdx_id(facts.licence)
    return _json(
        {
            "@context": CONTEXT,
            "@type": "sc:Dataset",
            "conformsTo": [CROISSANT, RESPONSIBLE_AI],
            "name": facts.stem,
            "description": f"Relevance labels of {facts.name} for text-to-video retrieval: "
            f"{facts.labels.pairs} pairs of a caption and a video.",
            "version": facts.labels.version,
            "datePublished": facts.labels.published,
            "license": spdx_address(known) if known else facts.licence or "not stated",
            "url": publisher.website or f"urn:sha256:{facts.labels.sha256}",
            "citeAs": f"Labels of {facts.name}, version {facts.labels.version}, "
            f"sha256 {facts.labels.sha256}",
            "creator": {
                "@type": "sc:Organization",
                "name": publisher.name or "unknown",
                **({"url": publisher.website} if publisher.website else {}),
            },
            **_responsible(facts),
            "distribution": [_file_object(file) for file in files],
            "recordSet": [
                _record_set("labels", TABLE, ("caption_id", "video_id"), facts.columns),
                _record_set(
                    "judgments",
                    JUDGMENTS_TABLE,
                    ("caption_id", "video_id", "annotator", "queue"),
                    facts.judgment_columns,
                ),
                *([_record_set("spans", SPANS_TABLE, SPAN_KEY, TABLE_COLUMNS)] * bool(facts.spans)),
            ],
        }
    )


def _responsible(facts: ReleaseFacts) -> dict[str, Any]:
    """Return how the labels were made, in the words of Croissant's extension Responsible AI."""
    labels, found = facts.labels, facts.agreement
    each = labels.judgments / labels.pairs if labels.pairs else 0
    analysis = "The agreement is unknown: no pair has two planned labels."
    if found is not None and found.agreement is not None:
        alpha = "" if found.alpha is None else f"; Krippendorff's alpha: {found.alpha:.3f}"
        analysis = (
            f"Pairs with two or more planned labels: {found.pairs}; share with equal labels: "
            f"{found.agreement:.3f}{alpha}."
        )
    return {
        "rai:dataCollection": f"Pairs of a caption and a video were pooled from {len(facts.runs)} "
        "runs of retrieval systems, and people judged whether the caption is relevant to the "
        "video.",
        "rai:dataCollectionType": ["Manual Human Curation"],
        "rai:dataAnnotationProtocol": f"{facts.annotators} annotators in {facts.campaigns} "
        "campaigns watched the video of a pair and chose a label. A label of the set is the "
        "majority of the judgments, or the ruling of a lead.",
        "rai:dataAnnotationPlatform": [f"Hearth {facts.code_version}"],
        "rai:dataAnnotationAnalysis": [analysis],
        "rai:annotationsPerItem": f"{each:.2f} judgments per pair on average",
        "rai:machineAnnotationTools": ["none: no label comes from a machine"],
        "rai:annotatorDemographics": ["not recorded"],
        "rai:personalSensitiveInformation": [
            "The files contain no names of people. Annotators have pseudonyms of this release."
        ],
        "rai:dataUseCases": ["scoring text-to-video and video-to-text retrieval"],
        "rai:dataLimitations": [
            "A pair that is not in the tables is unjudged, which does not mean that it is not "
            "relevant. Systems that were not pooled return more unjudged videos.",
            f"Pairs without a decision: {facts.undecided}.",
        ],
        "rai:dataReleaseMaintenancePlan": "A published version never changes. Corrections are "
        "published as a new version.",
    }


def datacite(facts: ReleaseFacts) -> str:
    """Return the metadata with which a DOI for the labels can be registered (DataCite 4.5).

    The DOI itself is missing, because only a registry assigns it.
    """
    publisher, known = facts.publisher, spdx_id(facts.licence)
    name = publisher.name or "unknown"
    rights: dict[str, str] = {"rights": facts.licence} if facts.licence else {}
    if known:
        rights |= {
            "rightsUri": spdx_address(known),
            "rightsIdentifier": known,
            "rightsIdentifierScheme": "SPDX",
            "schemeUri": "https://spdx.org/licenses/",
        }
    return _json(
        {
            "schemaVersion": DATACITE,
            "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Relevance labels"},
            "creators": [{"name": name, "nameType": "Organizational"}],
            "titles": [{"title": f"{facts.name}: relevance labels {facts.labels.version}"}],
            "publisher": {"name": name},
            "publicationYear": facts.labels.published[:4],
            "dates": [{"date": facts.labels.published, "dateType": "Issued"}],
            "version": facts.labels.version,
            "subjects": [{"subject": "text-to-video retrieval"}],
            "alternateIdentifiers": [
                {
                    "alternateIdentifier": f"sha256:{facts.labels.sha256}",
                    "alternateIdentifierType": "SHA-256",
                }
            ],
            **({"rightsList": [rights]} if rights else {}),
            "descriptions": [
                {
                    "description": f"Relevance labels of {facts.labels.pairs} pairs of a caption "
                    f"and a video, from {facts.labels.judgments} judgments.",
                    "descriptionType": "Abstract",
                }
            ],
            **(
                {
                    "relatedIdentifiers": [
                        {
                            "relatedIdentifier": publisher.website,
                            "relatedIdentifierType": "URL",
                            "relationType": "IsDescribedBy",
                        }
                    ]
                }
                if publisher.website
                else {}
            ),
        }
    )


def _file_object(file: FileFacts) -> dict[str, Any]:
    ending = file.path[file.path.rindex(".") :]
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "description": CONTENTS[file.path],
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": MEDIA_TYPES[ending],
        "sha256": file.sha256,
    }


def _record_set(
    name: str, path: str, key: Sequence[str], columns: Sequence[Column]
) -> dict[str, Any]:
    """Return the description of a table. key: the columns that together identify a row."""
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": CONTENTS[path],
        "key": [{"@id": f"{name}/{column}"} for column in key],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column.name}",
                "name": column.name,
                "dataType": _data_type(column),
                "source": {"fileObject": {"@id": path}, "extract": {"column": column.name}},
            }
            for column in columns
        ],
    }


def _data_type(column: Column) -> str:
    if column.kind is Kind.NUMBER:
        # A field of integers cannot be empty. The label of an unsettled pair is.
        return "sc:Float" if column.may_be_empty else "sc:Integer"
    if column.kind is Kind.SECONDS:
        return "sc:Float"
    return "sc:Boolean" if column.kind is Kind.FLAG else "sc:Text"


def provenance(facts: ReleaseFacts) -> str:
    """Return the origin of the labels as PROV-JSON."""
    entities: dict[str, Mapping[str, Any]] = {
        "h:captions": {
            "prov:label": f"Captions of {facts.benchmark}",
            **_hash(facts.captions_sha256),
        },
        "h:judgments": {"prov:label": JUDGMENTS, **_hash(facts.judgments_sha256)},
        "h:labels": {
            "prov:label": facts.stem,
            "h:version": facts.labels.version,
            **_hash(facts.labels.sha256),
        },
    }
    if facts.spans:
        entities["h:spans"] = {"prov:label": SPANS, **_hash(facts.spans.sha256)}
    runs = {
        f"h:run-{number}": {
            "prov:label": run.name,
            "h:system": run.system,
            "h:direction": run.direction,
            "h:withdrawn": run.is_withdrawn,
            **_hash(run.sha256),
        }
        for number, run in enumerate(facts.runs, start=1)
    }
    used = ["h:captions", *runs]
    return _json(
        {
            "prefix": {"h": f"urn:hearth:{facts.stem}:"},
            "entity": entities | runs,
            "activity": {
                "h:judging": {"prov:label": "Annotators judge pairs"},
                "h:publishing": {
                    "prov:label": "Judgments are resolved to labels",
                    "h:code-version": facts.code_version,
                },
            },
            "agent": {
                "h:publisher": {"prov:label": facts.publisher.name or "unknown"},
                "h:annotators": {"h:number": facts.annotators},
            },
            "used": {
                **{f"_:u{n}": _link("judging", "entity", to) for n, to in enumerate(used)},
                "_:u": _link("publishing", "entity", "h:judgments"),
            },
            "wasGeneratedBy": {
                "_:g1": {"prov:entity": "h:judgments", "prov:activity": "h:judging"},
                "_:g2": {"prov:entity": "h:labels", "prov:activity": "h:publishing"},
            },
            "wasAssociatedWith": {
                "_:a1": _link("judging", "agent", "h:annotators"),
                "_:a2": _link("publishing", "agent", "h:publisher"),
            },
            "wasDerivedFrom": {
                "_:d1": {"prov:generatedEntity": "h:labels", "prov:usedEntity": "h:judgments"}
            },
        }
    )


def _hash(sha256: str) -> dict[str, str]:
    return {"h:sha256": sha256}


def _link(activity: str, kind: str, to: str) -> dict[str, str]:
    return {"prov:activity": f"h:{activity}", f"prov:{kind}": to}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
