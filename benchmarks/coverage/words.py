"""What the page says of each kind of interval and test."""

ABOUT = """\
# Coverage

This page is made of stored runs by `python -m benchmarks.coverage report`; change
`benchmarks/coverage`, not it.

A 95 % interval should hold the true value in 95 of 100 data sets. A test at 5 % should find a
difference in 5 of 100 where there is none. This page counts how often they do. The simulation draws
many data sets from populations with known true values. Scores are normal, and those of positives
are higher by a shift. Tied scores are ratings in steps of 1. The number of positives is random, as
it is in practice. The hit rate is that of the best tenth. [How sure is
it](uncertainty.md#which-interval) says which interval to take.

A mark shows what is off by more than two Monte-Carlo errors. − means that intervals hold the true
value too rarely, or that tests find differences too often. + means the opposite. "0.0 of 28" means
that only 28 data sets have an interval, or a p-value, at all.
"""
EARLIER = "an earlier version of the command, which today's does not repeat"
LEFT_OUT = """\
## What is not simulated

- Tables have rows only for the populations that were simulated. The moderate model, the steep cuts,
  the five ratings and the weak model are missing in most.
- Bands of the lift. Lift is Qrecall / fraction, and so is its pointwise band, except where all
  positives are found.
- Permutation tests of anything but AUC; letters of more than two models; weights that depend on
  labels or scores; other quotas than the best tenth.
"""
BOOTSTRAP = """\
Five methods. *Percentile* takes quantiles of the resamples, and *basic* mirrors them. *BCa*
corrects them for bias and skewness. *Expanded* is BCa with the tails of Student's t. *Stratified*
takes quantiles of resamples that keep the numbers of both classes.

Use a closed form if there is one, else the default, expanded. Most of its intervals hold 93 to 97
%. Those of AHR with rare positives hold 92, and **those of AQR of the strong model 90**. **Near an
AUC of 1**, as at the steep cut, those of AUC, AHR and AQR hold **80 to 86**.

Basic intervals are as wide as percentile intervals, but lean to the wrong side. For the strong
model's AUC they lay too high in 75 of 500 data sets, and too low in 1. Stratified intervals take
the prevalence as known, which it was not here. They are too narrow for AHR, and mostly for the hit
rate.

**No bootstrap holds a hit rate near 1**, except in 5 %: if the sample has a hit rate of 1, all its
resamples do. Use `hit_rate_interval`.
"""
CLOSED_FORMS = """\
DeLong's logit and Wald intervals of AUC; PEM and Gini are 2·AUC − 1, and their intervals hold as
often. The score interval of the hit rate, Wilson's and the exact one.

The logit interval holds its level, by Student's t also with 20 positives. Wald's interval does not
near 1. A cut is steep if a strong model has about as many places as there are positives. There
Wilson's and the exact interval miss far too often, because they take the cut as fixed. The score
interval, the default, takes into account that the cut moves. With few positives and somewhat more
places than positives, as at the late cut, **it holds 88 %**.
"""
GROUPS = """\
One to three rows of each of n customers. The rows of a customer have one label and similar scores,
and are drawn together (`clusters=`).

As with single rows, percentile intervals lie too high if the AUC is near 1 or positive customers
are few. Those of the strong model's AUC lay above the truth in 36 data sets, below it in 6. The
default, expanded, counts the customers with a positive row, and holds 92 to 94 % there. **A hit
rate near 1** is out of reach of resamples: 11 %.
"""
FINITE_LIST = """\
The hit rate of the best tenth of a list that is 1.05 to 10 times as long as the sample, by
`hit_rate_interval(..., population=)`.

Use the score interval. It holds **89 to 93 % at steep cuts with few positives**. With rare
positives and a cut that is not steep, use the exact interval if it must not miss.
"""
DIFFERENCES = """\
Differences of two models on the same examples; the second has 0.75 times the shift. *Unpaired* is
for two sets of examples. The functions are `compare` (bootstrap), `delong_test` and `compare` with
`test="delong"`, `delong_test_unpaired`, and `compare_selections` (score).

Most hold their level. At the steep cut percentile intervals hold 92 %. **Near a hit rate of 1
percentile intervals hold 49 %**, because the better model has 1 in all resamples. **For an AUC near
1 with 30 positives all intervals are too narrow**, and hold 85 to 88 %.
"""
LEVELS = """\
Two models that are equally good: in how many of 100 data sets a test at 5 % finds a difference. The
tests are `compare` by bootstrap and by permutation, `delong_test` and `delong_test_unpaired`, and
`compare_selections`. More than 5 is too many.

**With 20 positives, the bootstrap and DeLong's test of AUC find somewhat too many, 7**: use the
permutation test. For the strong model the bootstrap finds 6, DeLong's test 4.

For hit rates of the strong model, where nearly all of the selected are positive, no test found
anything. At the steep cut the score test found 2.2.
"""
BANDS = """\
`curve_band` at the fractions, or false positive rates, 0.05, 0.1, 0.2, 0.3, 0.5 and 0.7. A
pointwise band is for one of these. A simultaneous band is for all of them together.

Do not look along a pointwise band: it often misses somewhere. Simultaneous bands hold about their
level. **With 20 positives or a few tied scores they hold somewhat less, 90 to 92 %, and with five
ratings and 30 positives 81 to 91**. Pointwise bands hold 92 to 100 %.
"""
OPTIMUM = """\
`best_cut_interval` of the best cut, for impacts with which a cut brings TPR − FPR. *The best cut's
value* is the most that any cut brings in the population. *The chosen cut's value* is what the cut
that was best on the sample brings in the population: what its user will get. *The best share* is
the share of the selected at the best cut.

Without ties, percentile intervals of the value lie too high, since each resample chooses its best
cut again. They hold the chosen cut's value in **89 to 94 %**. For the chosen cut use `expected`,
which subtracts the optimism; basic intervals of `value` held as often. With a handful of distinct
scores there is hardly any optimism, and percentile intervals lean to neither side. Use these there,
as **`expected` holds 86 to 88 %**.
"""
POISSON = """\
With `poisson=True` examples are drawn independently, once on average. These intervals hold as often
as with the other draws, **for the strong model's AUC 91 %**. A hit rate near 1 is out of reach here
too: 6 %.
"""
VERDICTS = """\
Five models on the same examples: all alike, or one or two better than the others, which have 0.75
times the shift. In how many of 100 data sets does `evaluate` say that it is sure of the first, and
is that right or wrong? How often would Holm's letters, which are for all pairs, say it? DeLong's
test compares AUC, the score test hit rates, both without resamples.

`evaluate` is wrong in less than 5 %. By AUC it is right up to seven times as often as Holm's
letters, by hit rates of 30 or 100 places seldom. The value shown for the first model is too high,
most of all if all models are alike. Its `expected` value is too high by a tenth to a third of that,
and for hit rates near 1 too low.
"""
FOLDS = """\
Models trained on five features, by cross-validation with stratified folds. The true value is the
mean over models trained on as many examples. `fold_summary` of five folds, and of five such
divisions.

**If all folds have the same hit rate, such as 1, the interval has no width**, and holds 3 to 5 %.
Then use `hit_rate_interval` on examples that no fold has seen. **With rare positives** five folds
hold a hit rate in 91 %. More divisions make intervals too narrow: 86 to 89.
"""
FOLD_LEVELS = """\
`fold_test` at 5 %, of two models that are equally good on average over training sets. It finds too
few differences rather than too many. If all differences of the folds are 0, as for most hit rates
of the strong model, p is undefined.
"""
AVERAGES = """\
`average_precision_interval`, which `evaluate` and the command use for rows without weights, and
`bootstrap` of the same data sets. AP is average precision; with tied scores it differs from AHR.

The closed form holds at least about as often. **Near an AUC of 1**, as at the steep cuts, it holds
96 % and the bootstrap 84 to 89. **With rare positives neither reaches its level: 90 and 91**. For
the weak model, with 20 positives among 2000, the bootstrap holds 91 to 93. AUC-PR has no closed
form.
"""
LIFT = """\
Lift of the best tenth. The same holds for Qrecall there, which is a tenth of the lift. *Divided* is
the score interval of the hit rate divided by the prevalence, as if the prevalence were known.

The default, expanded, holds 93 to 97 %, but **at the steep cuts 90 and 79**. *Divided* cannot
replace resamples: it holds 46 to 100.
"""
WEIGHTS = """\
Rows with log-normal weights that do not depend on labels or scores. 100 such rows are worth about
37 rows of equal weight (Kish). The default, expanded, takes this into account. **For the strong
model, and for the hit rate with rare positives, it holds 91 %; a hit rate near 1 in 9.**
"""
FEW_POSITIVES = """\
200 examples with a fixed number of positives, and a model as good as the moderate one. Tests at 5 %
are of two models that are equally good, by `compare` (bootstrap, permutation) and `delong_test`.
The table says in how many of 100 data sets they find a difference. Intervals are of the AUC of one
model.

**With fewer than 30 positives, the bootstrap and DeLong's test find too many differences**: 8 to 9
with 5 or 10, 14 and 10 with 3, 30 and 18 with 2. With 1 the bootstrap finds 70. `compare` warns.
The permutation test holds its level. The logit interval does too, from two positives on. The
bootstrap interval needs 5: **with 1 to 3 it holds 17 to 84 %**.
"""
FEW_CLUSTERS = """\
200 rows in a number of branches. The share of positives in a branch is 0.5 or 1.5 times the overall
share, and each branch shifts its scores. Tests are of the AUC of two models that are equally good,
by `compare` with `clusters=`. Intervals are of one model.

**30 or 40 clusters are somewhat too few**: the test finds 7 or 8 differences, and intervals of AHR
hold 91 %. `bootstrap` and `compare` warn of fewer than 60. With 4 to 10 the test finds 7 to 9, with
2 it finds 38. Intervals hold 90 % with 10, 76 to 85 with 4 or 6, 30 to 44 with 2.
"""
FEW_GROUPS = """\
Means over a number of groups of 40 rows, by `group_mean`. The share of positives in a group is 0.5
or 1.5 times the overall share, and each group shifts its scores. The hit rate is that of the best 4
rows.

**Fewer than 20 groups are too few**: intervals hold 75 to 84 % with 4, 86 to 90 with 6, 90 to 96
with 10 or 15. `bootstrap` warns.
"""
HULLS = """\
Areas that take the best of many cuts. Resamples find better cuts than the population has.
`bootstrap` warns: **intervals lie too high without ties**, and hold 85 to 91 %.
"""
