"""Breaking claims: started, paused, stopped, and what is done with the networks that were found."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.features.breaking.qt.feature import BreakFeature
from subflow_app.toolkit.action_spec import NOT_RUNNING, WRITABLE, ActionSpec, possible
from subflow_app.toolkit.feature import FeatureHolder
from subflow_app.vocabulary.language import translatable

_NONE_SELECTED = translatable("select a network that was found first")
_NOT_SEARCHING = translatable("nothing is being looked for")


def rows() -> Iterator[ActionSpec[FeatureHolder]]:
    """Its part of the Study menu."""
    yield ActionSpec(
        "break.show",
        "Sho&w what breaks claims",
        "Look for networks in which a claim about a controller fails",
        "break",
        ("Ctrl+Alt+Shift+A",),
        lambda w, _: w.features[BreakFeature].show(),
    )
    yield ActionSpec(
        "break.start",
        "&Look for networks",
        "Look for networks in which the claim fails; an earlier search of the same kind is continued",
        "run",
        ("Ctrl+Alt+Shift+J",),
        lambda w, _: w.features[BreakFeature].start(),
        (
            WRITABLE,
            possible("break.start", translatable("a search is running, or the panel shows what is missing")),
        ),
    )
    yield ActionSpec(
        "break.pause",
        "&Pause or resume the run",
        "Pause or resume the search",
        "pause",
        ("Ctrl+Alt+Shift+F5",),
        lambda w, _: w.features[BreakFeature].pause(),
        (possible("break.pause", _NOT_SEARCHING),),
    )
    yield ActionSpec(
        "break.stop",
        "S&top the search",
        "End the search; networks tried so far are kept, and starting it again continues from there",
        "stop",
        ("Ctrl+Alt+Shift+F6",),
        lambda w, _: w.features[BreakFeature].stop(),
        (possible("break.stop", _NOT_SEARCHING),),
    )
    yield ActionSpec(
        "break.fill",
        "Fill in the &search",
        "Fill the form from the chosen search, to continue it or to change it",
        "retry",
        ("Ctrl+Alt+Shift+F11",),
        lambda w, _: w.features[BreakFeature].fill(),
        (possible("break.fill", translatable("choose an earlier search first")),),
    )
    yield ActionSpec(
        "break.open",
        "&Open the network",
        "Open the selected network as a scenario of its own",
        "scenario",
        ("Ctrl+Alt+Shift+F10",),
        lambda w, _: w.features[BreakFeature].open_selected(),
        (possible("break.open", _NONE_SELECTED),),
    )
    yield ActionSpec(
        "break.run_both",
        "&Run both",
        "Run the controller and one that keeps the claim, overlay them, and explain the moment at which they diverge",
        "overlay",
        ("Ctrl+Alt+Shift+F7",),
        lambda w, _: w.features[BreakFeature].run_selected(),
        (NOT_RUNNING, possible("break.run_both", _NONE_SELECTED)),
    )
    yield ActionSpec(
        "break.save",
        "&Save the network as…",
        "Write the selected network as a scenario, with a file on what fails there",
        "save_as",
        ("Ctrl+Alt+Shift+F8",),
        lambda w, _: w.features[BreakFeature].ask_save(),
        (possible("break.save", _NONE_SELECTED),),
    )
    yield ActionSpec(
        "break.page",
        "Save as &web page…",
        "Write the selected network as a web page with both runs, which any browser simulates again",
        "web_page",
        ("Ctrl+Alt+Shift+5",),
        lambda w, _: w.features[BreakFeature].ask_page(),
        (possible("break.page", _NONE_SELECTED),),
    )
    yield ActionSpec(
        "break.export",
        "&Export the search…",
        "Write every network that was tried as CSV, or the picture that is shown as SVG or PNG",
        "export_figure",
        ("Ctrl+Alt+Shift+F9",),
        lambda w, _: w.features[BreakFeature].ask_export(),
        (possible("break.export", translatable("no search with results is shown")),),
    )
