"""What an entry compares: methods, named variants of them, datasets and networks.

`settings` are RCExplainer's: those of the profile, then those of the variant that one is `like`, then its own. `own`
are the settings of a variant that is a baseline, on top of its tuned ones. What a variant sets `on` a dataset comes
last; with `datasets` or `models` it is there for those alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rcexplainer.benchmark.methods import Caps
from rcexplainer.benchmark.results import OURS
from rcexplainer.paper.job import Tags
from rcexplainer.paper.result_groups import EntrySettings


@dataclass(frozen=True)
class Variant:
    """One of the things that an entry compares.

    Attributes:
        tags: What tells it apart from the others.
        method: A key of `METHODS`.
        preset: Of RCExplainer.
        settings: Of RCExplainer.
        own: Of a baseline, on top of its tuned settings.
    """

    tags: Tags
    method: str
    preset: str
    settings: dict[str, Any]
    own: Mapping[str, Any] = field(default_factory=dict)


def variants(settings: EntrySettings, dataset: str | None = None, model: str | None = None) -> list[Variant]:
    """What an entry compares: methods, named variants, both, or values of one setting.

    Args:
        settings: The entry's: `methods`, `variants`, or `vary` and `values`.
        dataset: The dataset; what a variant sets `on` it alone comes last. None: of all.
        model: The network; None: of all.

    Returns:
        The variants, in order.
    """
    preset, common = settings.get("preset", "default"), own_settings(settings)
    if "vary" in settings:
        name = settings["vary"]
        return [
            Variant({"variant": f"{name} = {value}", "value": value}, OURS, preset, common | {name: value})
            for value in settings["values"]
        ]
    named = settings.get("variants", {})
    known = {
        name: one
        for name, one in named.items()
        if (dataset is None or dataset in one.get("datasets", [dataset]))
        and (model is None or model in one.get("models", [model]))
    }
    return [
        *(Variant({"variant": method}, method, preset, common) for method in settings.get("methods", ())),
        *(
            Variant(
                {"variant": name},
                one.get("method", OURS),
                one.get("preset", preset),
                common | _inherited(named, name) | one.get("on", {}).get(dataset, {}),
                one.get("own", {}),
            )
            for name, one in known.items()
        ),
    ]


def own_settings(level: Mapping[str, Any]) -> dict[str, Any]:
    """RCExplainer's settings of one level."""
    return dict(level.get("settings", {}))


def panels(settings: EntrySettings) -> list[tuple[str, str]]:
    """Datasets and networks: the pairs in `panels`, or every one of `datasets` with every one of `models`."""
    if "panels" in settings:
        return [(dataset, model) for dataset, model in settings["panels"]]
    models = settings.get("models", [settings.get("model")])
    return [(dataset, model) for dataset in settings["datasets"] for model in models]


def caps_of(settings: EntrySettings, method: str) -> Caps:
    """How much a method is measured: `caps` of a profile, for `all` methods and for single ones; else in full."""
    caps = settings.get("caps", {})
    return Caps(**(caps.get("all", {}) | caps.get(method, {})))


def _inherited(known: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The settings of a variant, on top of those of the one it is `like`."""
    variant = known[name]
    return (_inherited(known, variant["like"]) if "like" in variant else {}) | own_settings(variant)
