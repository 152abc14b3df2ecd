"""Statistics against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from counterbc.errors import DataError
from reproduction.anova import (
    anova,
    bonferroni,
    by_subject,
    per_run,
    post_hoc,
    resolvable,
    spread,
)

WIDE = pd.DataFrame(
    {"bc": [1.0, 2, 3, 4], "bcnd": [2.0, 2, 5, 4], "counter-bc": [4.0, 3, 7, 9]},
    index=pd.Index(range(4), name="seed"),
)


def test_the_sentence_of_an_anova_is_that_worked_out_by_hand() -> None:
    # Means 2.5, 3.25, 5.75 around 3.8333: SS of methods = 4 (1.7778 + .3403 + 3.6736) = 23.1667.
    # Subjects' means 7/3, 7/3, 5, 17/3: SS = 3 (2.25 + 2.25 + 1.3611 + 3.3611) = 27.6667.
    # Total SS = 57.6667, so the error is 57.6667 − 23.1667 − 27.6667 = 6.8333 on 6 degrees.
    F = (23.166667 / 2) / (6.833333 / 6)
    assert pytest.approx(10.1707, abs=1e-4) == F
    # Covariances × 3: bc 5, bcnd 6.75, counter-bc 22.75; 4.5, 9.5 and 10.25 between them. Minus
    # the means of row and column 6.3333, 7.1667, 14.1667 and plus the whole mean 9.2222 they are
    # 1.5556, 1.6389, 3.6389; 0.2222, −1.7778, −1.8611. Their trace is the error again, 6.8333,
    # their squares sum to 18.3472 + 2 · 6.6736 = 31.6944: ε of Greenhouse and Geisser.
    epsilon = 6.833333**2 / (2 * 31.694444)
    result = anova(WIDE)
    assert pytest.approx(F, abs=1e-4) == result.F
    assert result.epsilon == pytest.approx(epsilon)
    assert result.df == pytest.approx((2 * epsilon, 6 * epsilon))
    assert result.p == pytest.approx(stats.f.sf(F, 2 * epsilon, 6 * epsilon), abs=1e-6)
    assert result.effect == pytest.approx(23.166667 / 57.666667)
    assert result.text == "F(1.47, 4.42) = 10.2, p = .025"


def test_the_paper_s_degrees_of_freedom_are_of_four_methods_and_fifty_subjects() -> None:
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal([0, 0, 0, 3], 1, (50, 4)), columns=list("abcd"))
    result = anova(wide)
    assert result.df[1] / result.df[0] == pytest.approx(49)  # 134.24 / 2.74 in the paper
    assert result.text.endswith("p < .001")


def test_post_hoc_tests_are_paired_and_adjusted_for_all_pairs() -> None:
    result = {(t.method, t.other): t for t in post_hoc(WIDE)}
    assert list(result) == [("bcnd", "bc"), ("counter-bc", "bc"), ("counter-bc", "bcnd")]
    best = result["counter-bc", "bc"]
    # Differences 3, 1, 4, 5: mean 3.25, sd 1.7078, t = 3.25 / (1.7078 / 2) = 3.806 on 3 degrees.
    assert best.difference.mean == 3.25
    assert best.p == pytest.approx(3 * 2 * stats.t.sf(3.25 / (1.707825 / 2), 3), rel=1e-5)
    assert best.effect == pytest.approx(3.25 / np.sqrt((5 / 3 + 22.75 / 3) / 2))
    # Differences 1, 0, 2, 0: t = 0.75 / (0.9574 / 2) = 1.5667.
    assert result["bcnd", "bc"].p == pytest.approx(3 * 2 * stats.t.sf(1.566699, 3), rel=1e-5)


def test_p_by_runs_takes_a_run_s_datasets_for_one_number() -> None:
    # Three runs at two sizes; Counter-BC is above BC by 1, 3 in run 0, 2, 2 in 1 and 5, 5 in 2.
    above = np.array([1.0, 3, 2, 2, 5, 5])
    index = pd.MultiIndex.from_product([range(3), (100, 200)], names=["seed", "pairs"])
    wide = pd.DataFrame({"bc": np.arange(6.0), "counter-bc": np.arange(6.0) + above}, index)
    (result,) = post_hoc(wide)
    assert result.p == pytest.approx(stats.ttest_1samp(above, 0.0).pvalue)
    # By runs 2, 2, 5: mean 3, sd √3, so t = 3 / (√3 / √3) = 3 on 2 degrees of freedom.
    assert result.p_by_runs == pytest.approx(2 * stats.t.sf(3.0, 2))


def test_a_gap_is_left_out_of_both_methods_before_a_run_s_mean() -> None:
    index = pd.MultiIndex.from_product([range(2), (100, 200)], names=["seed", "pairs"])
    wide = pd.DataFrame({"bc": [1.0, np.nan, 3, 5], "counter-bc": [2.0, 100, 4, 6]}, index)
    assert per_run(wide).to_numpy().tolist() == [[1.0, 2.0], [4.0, 5.0]]


def test_what_is_no_p_stays_so_when_adjusted() -> None:
    assert bonferroni([0.01, 0.5, 0.2]) == pytest.approx([0.03, 1.0, 0.6])
    assert np.isnan(bonferroni([0.01, np.nan])[1])


def test_runs_of_which_a_method_diverged_are_left_out_and_counted() -> None:
    wide = pd.concat([WIDE, pd.DataFrame({"bc": [np.nan], "bcnd": [1.0], "counter-bc": [2.0]})])
    assert pytest.approx(anova(WIDE).F) == anova(wide).F
    assert anova(wide).left_out == 1
    with pytest.raises(DataError, match=r"1 runs of 3 methods are complete; .* raise --seeds"):
        anova(wide.iloc[3:])


def test_methods_that_never_differ_have_no_f() -> None:
    runs = pd.Index(range(3), name="seed")
    constant = pd.DataFrame({"bc": [200.0] * 3, "counter-bc": [200.0] * 3}, runs)
    assert anova(constant).text == "no F: the methods do not differ in any run"
    assert np.isnan(post_hoc(constant)[0].p)


@pytest.mark.parametrize(("methods", "pairs"), [(2, 1), (4, 6), (5, 10)])
def test_what_runs_resolve_has_the_power_asked_for_after_adjustment(
    methods: int, pairs: int
) -> None:
    n, sd = 50, 2.0
    difference = resolvable(n, sd, methods)
    # The power of a two-sided t-test, from the noncentral t distribution.
    shift, edge = np.sqrt(n) * difference / sd, stats.t.ppf(1 - 0.025 / pairs, n - 1)
    power = stats.nct.sf(edge, n - 1, shift) + stats.nct.cdf(-edge, n - 1, shift)
    assert power == pytest.approx(0.8, abs=1e-6)


def test_the_spread_is_that_of_the_least_certain_comparison() -> None:
    assert spread(WIDE) == pytest.approx(np.sqrt(3))  # counter-bc − bcnd: 2, 1, 2, 5


def test_a_subject_is_a_dataset() -> None:
    rows = pd.DataFrame(
        [{"pairs": p, "seed": s, "method": m, "return": p + s + len(m)}
         for p in (100, 200) for s in (0, 1) for m in ("counter-bc", "bc")]
    )  # fmt: skip
    wide = by_subject(rows, "return", ("pairs", "seed"))
    assert list(wide.columns) == ["counter-bc", "bc"]
    assert wide.loc[(200, 1), "bc"] == 203
    assert len(wide) == 4
