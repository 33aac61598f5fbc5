"""The decisions behind the curves of a run."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.features.explain.qt.feature import ExplainFeature
from subflow_app.toolkit.action_spec import PLOTS_SHOWN, ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.vocabulary.language import translatable


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Its part of the Time menu."""
    yield ActionSpec(
        "explain.here",
        "E&xplain this point",
        "Show the decision behind the clicked point of a curve, or at the marked time of the chosen curve",
        "explain",
        ("Alt+Shift+Up",),
        lambda w, _: _explain(w).explain_here(),
        (possible("explain.here", PLOTS_SHOWN.otherwise),),
    )
    for step, by, text, key, otherwise in (
        (
            "previous",
            -1,
            "Earlier &decision",
            "Alt+Shift+Left",
            translatable("the Explain panel shows no decision, or the first one"),
        ),
        (
            "next",
            1,
            "L&ater decision",
            "Alt+Shift+Right",
            translatable("the Explain panel shows no decision, or the last one"),
        ),
    ):
        where = "before" if by < 0 else "after"
        yield ActionSpec(
            f"explain.{step}",
            text,
            f"Explain the decision {where} the one that the explain panel shows; a click on a curve chooses one",
            step,
            (key,),
            lambda w, _, by=by: _explain(w).step(by),  # type: ignore[misc]
            (possible(f"explain.{step}", otherwise),),
        )

    for step, by, text, key, otherwise in (
        (
            "previous",
            -1,
            "Line &before",
            "Alt+PgUp",
            translatable("the Explain panel shows no line of a script, or the first one"),
        ),
        (
            "next",
            1,
            "Line &after",
            "Alt+PgDown",
            translatable("the Explain panel shows no line of a script, or the last one"),
        ),
    ):
        yield ActionSpec(
            f"explain.{step}_line",
            text,
            f"Go to the {step} line that the script executed in the decision that the explain panel shows",
            "up" if by < 0 else "down",
            (key,),
            lambda w, _, by=by: _explain(w).step_line(by),  # type: ignore[misc]
            (possible(f"explain.{step}_line", otherwise),),
        )
    yield ActionSpec(
        "explain.open_script",
        "Open the s&cript there",
        "Open the deciding script at the line marked in Explain; a double-click on a line does the same",
        "script",
        ("Alt+Return",),
        lambda w, _: _explain(w).open_script(),
        (possible("explain.open_script", translatable("the Explain panel shows no line of a script")),),
    )
    yield ActionSpec(
        "explain.watch",
        "&Watch an expression",
        "Plot an expression of names in the script, with a value for each decision",
        "plots",
        ("Alt+Shift+Down",),
        lambda w, _: _explain(w).ask_watch(),
        (possible("explain.watch", translatable("the Explain panel shows no line of a script")),),
    )


def _explain(holder: FeatureHolder) -> ExplainFeature:
    return holder.features[ExplainFeature]
