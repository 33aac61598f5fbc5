"""Numbers as text: enough decimals for printed differences to agree with printed values."""

from __future__ import annotations

import math

from tests.helpers.members import for_each

from subflow_app.vocabulary.number_text import agreeing_decimals


@for_each(
    ("reference", "others", "decimals"),
    [
        # 0.50 - 0.25 = 0.25 with two decimals already.
        (0.25, [(0.5, 0.25)], 2),
        # 0.29 - 0.27 is not 0.01, but 0.286 - 0.274 is 0.012.
        (0.286, [(0.274, -0.012)], 3),
        # The first agrees with two decimals, the second needs three.
        (0.286, [(0.5, 0.214), (0.274, -0.012)], 3),
        # Paired differences belong to other runs, and cannot be checked without a value.
        (0.286, [(0.274, -0.5), (math.nan, math.nan)], 2),
        (math.nan, [(0.274, math.nan)], 2),
        # With any number of decimals 0.67 - 0.33 ends in 4, and 0.33 in 3: the fewest decimals stay.
        (1 / 3, [(1.0, 2 / 3), (2 / 3, 1 / 3)], 2),
    ],
)
def test_decimals_grow_until_they_agree(reference: float, others: list[tuple[float, float]], decimals: int) -> None:
    assert agreeing_decimals(reference, others, 2) == decimals
