"""The built-in cases are scenarios that the kernel can run, and they cover the intended ranges."""

from __future__ import annotations

from subflow_app.features.kernel.core import grid
from subflow_app.features.kernel.core.grid import grid_scenarios
from subflow_app.features.kernel.core.plan import plan_network


def test_every_case_is_a_scenario_that_can_be_mapped() -> None:
    scenarios = grid_scenarios()
    assert len({scenario.name for scenario in scenarios}) == len(scenarios)
    for scenario in scenarios:
        plan = plan_network(scenario, seed=1)
        assert plan.total_rate_bps <= 100e6
    # A part is chosen by name, and overrides apply to every case.
    chosen = grid_scenarios("newreno 20Mbit/s", ["duration=6s"])
    assert chosen
    assert all("newreno 20Mbit/s" in each.name for each in chosen)
    assert {each.duration_s for each in chosen} == {6.0}


def test_the_grid_meets_every_loss_rate_and_rtt() -> None:
    cases = [case for case in grid.grid_cases() if case.controller == "newreno"]
    assert {case.loss_percent for case in cases} == set(grid.LOSSES_PERCENT)
    assert {case.rate_mbit for case in cases if case.size_kb is None} == set(grid.RATES_MBIT)
    assert {case.rtt_ms for case in cases} == set(grid.RTTS_MS)
    assert any(case.is_mptcp for case in cases)
    assert any(case.is_short for case in cases)
    # A bandwidth-delay product is 20 Mbit/s * 50 ms / 12 000 bit = 83.3 packets.
    case = grid.GridCase("newreno", 20, 50, 0.5)
    assert case.name == "newreno 20Mbit/s 50ms 0.5%"
    assert ('queue = "84pkt"' in case.text(), 'delay = "25ms"' in case.text()) == (True, True)


def test_transfers_span_slow_start_and_begin_with_the_handshake() -> None:
    transfers = [scenario for scenario in grid_scenarios() if scenario.flows["bulk"].size_bytes is not None]
    assert {scenario.flows["bulk"].size_bytes for scenario in transfers} == {
        size_kb * 1000 for size_kb in grid.TRANSFERS_KB
    }
    assert all(scenario.warmup_s == 0 for scenario in transfers)
    assert "cubic 10Mbit/s 100ms 0% 1000kB" in {scenario.name for scenario in transfers}
