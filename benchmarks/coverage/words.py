"""What the page says of each kind of interval and test."""

ABOUT = """\
# Coverage

This page is made of stored runs by `python -m benchmarks.coverage report`; change
`benchmarks/coverage`, not it.

A 95 % interval should hold the true value in 95 of 100 data sets, and a test at 5 % find a
difference where there is none in 5. Here data sets are drawn again and again from populations
whose true values are known, and what holds is counted. Scores are normal, those of positives
higher by a shift; tied ones are ratings in steps of 1. The number of positives is left to chance,
as it is in life. The hit rate is that of the best tenth. [How sure is
it](uncertainty.md#which-interval) tells which interval to take.

What is off by more than two Monte-Carlo errors is marked, − where intervals hold the truth, or
tests keep quiet, too rarely, and + where more often than they say. "0.0 of 28" is a share of the 28
data sets that have an interval, or a p-value, at all.
"""
EARLIER = "an earlier version of the command, which today's does not repeat"
LEFT_OUT = """\
## What is not simulated

- Most kinds of intervals and tests of the moderate model, the steep cuts, the five ratings and the
  weak model: a table without such rows was not simulated for them.
- Bands of the lift. It is Qrecall / fraction, and its pointwise band that of Qrecall so divided,
  but for places where all positives are found.
- Permutation tests of anything but AUC; letters of more than two models; weights that have to do
  with labels or scores; other quotas than the best tenth.
"""
BOOTSTRAP = """\
Quantiles of the resamples (percentile), the same mirrored (basic), corrected for bias and
skewness (BCa), BCa with the tails of Student's t (expanded), and that of resamples that keep the
numbers of both classes (stratified).

Take the default, expanded, and closed forms where there are some. Most of its intervals hold 93 to
97 %. Those of AHR with rare positives hold 92, and **those of AQR of the strong model 90**. **Near
an AUC of 1**, as at the steep cut, those of AUC, AHR and AQR hold **80 to 86**. Basic intervals are
as wide as percentile ones, but lean to the wrong side: the strong model's AUC was missed by
intervals that lay too high in 75 data sets of 500, too low in 1. Stratified ones take the
prevalence as known, which it was not here, and are too narrow for AHR and mostly the hit rate. **No
bootstrap holds a hit rate near 1**, but in 5 %: all resamples are 1 as the sample is; take
`hit_rate_interval`.
"""
CLOSED_FORMS = """\
The logit and Wald interval of DeLong, of AUC; PEM and Gini are 2·AUC − 1, and held as often.
The score interval of the hit rate, Wilson's and the exact one.

The logit interval holds its level, by Student's t also with 20 positives; Wald's does not near 1.
Where the cut is steep, a strong model with about as many places as there are positives, Wilson's
and the exact interval miss far too often: they take the cut as fixed. The score interval, the
default, counts that it moves. With somewhat more places than positives and few of these, as at the
late cut, **it holds 88 %**.
"""
GROUPS = """\
One to three rows of each of n customers, with one label and scores that are alike, drawn by
`clusters=`. As of single rows, percentiles lie too high where AUC is near 1 or positive customers
are few: those of the strong model's AUC above the truth in 36 data sets, below in 6. The default,
expanded, counts the customers that have a positive row, and holds 92 to 94 % there. **A hit rate
near 1** is out of reach of resamples: 11 %.
"""
FINITE_LIST = """\
The hit rate of the best tenth of a list of 1.05 to 10 times the sample, by
`hit_rate_interval(..., population=)`. Take the score interval, which holds **89 to 93 % at steep
cuts of few positives**; with rare positives the exact one, where it must not miss and the cut is
not steep.
"""
DIFFERENCES = """\
Differences of two models on the same examples, of which the second has 0.75 times the shift;
unpaired, of two sets of examples. By `compare` (bootstrap), `delong_test` and `compare` with
`test="delong"`, `delong_test_unpaired`, and `compare_selections` (score, McNemar, Fisher).

Most hold their level. Fisher's interval does not at the steep cut: it takes the cuts as fixed. The
score interval does, percentiles hold 92 %. **Of an AUC near 1 with 30 positives all intervals are
too narrow**, and hold 85 to 88 %.
"""
LEVELS = """\
How many of 100 data sets a test at 5 % finds a difference in, of two models that are equally
good: `compare` by bootstrap and by permutation, `delong_test` and `delong_test_unpaired`, and
`compare_selections`. More than 5 is too many.

**With 20 positives bootstrap and DeLong's test of AUC find somewhat too many, 7**: take the
permutation test. The bootstrap finds 6 of the strong model, where DeLong's test finds 4. Of hit
rates, McNemar's test found nothing with tied scores, where two thirds of the selected are positive,
Fisher's with mid-p 2.2; with rare positives both found the same, and of the strong model's
selected, nearly all positive, nothing. At the steep cut the score test found 2.2, Fisher's with
mid-p 0.6.
"""
BANDS = """\
`curve_band` at the fractions, or false positive rates, 0.05, 0.1, 0.2, 0.3, 0.5 and 0.7. A
pointwise band is for one place; that all places hold together is what a simultaneous band is for.

Do not look along a pointwise band: some place often misses. Simultaneous bands hold about their
level, **with 20 positives or a few tied scores somewhat less, 90 to 92 %, and with five ratings and
30 positives 81 to 91**. Pointwise ones hold 92 to 100 %.
"""
OPTIMUM = """\
`optimum_interval` of a best cut, for impacts by which a cut brings TPR − FPR. The best cut's
value is the most that any cut brings in the population; the chosen cut's value is what the cut
that was best on the sample brings there: what its user will get. The share is that of the
selected at the best cut.

Without ties the percentiles of the values lie too high, since the resamples choose once more: they
hold the chosen cut's in **89 to 94 %**. For the chosen cut take `expected`, which takes the
optimism off; basic intervals of `value` held as often. Where scores have a handful of values there
is hardly any optimism, and the percentiles lean to neither side: take these, as **`expected` holds
86 to 88 %**.
"""
POISSON = """\
Examples that are drawn independently, once on average, by `poisson=True`: they hold as often as the
other draws, **of the strong model's AUC 91 %**. A hit rate near 1 is out of reach here too: 6 %.
"""
VERDICTS = """\
Five models on the same examples: all alike, or the others with 0.75 times the shift of the best one
or two. How many of 100 data sets `evaluate` says in that it is sure of the first, where that is
wrong and where it is right; and how often Holm's letters, which are for all pairs, would say it.
AUC is tested by DeLong's test, the hit rate by the score test, without resamples.

It is wrong in less than 5 %, and by AUC right up to seven times as often as by Holm; by hit rates
of 30 or 100 places seldom. The first one's value is too high most of all where all are alike;
what it is expected to be is so by a tenth to a third of that, and of hit rates near 1 too low.
"""
FOLDS = """\
Models that are trained, on five features, by cross-validation with stratified folds; the true
value is the mean over models that are trained on so many examples. `fold_summary`, of five folds
and of five such divisions.

**One hit rate of all folds, such as 1, has no width**, and holds 3 to 5 %: take `hit_rate_interval`
on examples that no fold has seen. **With rare positives** five folds hold a hit rate in 91 %, and
more divisions make intervals narrower than they should be: 86 to 89.
"""
FOLD_LEVELS = """\
`fold_test` of two models that are equally good on average over training sets, at 5 %: too careful
rather than too bold. Where all differences of the folds are 0, as of most hit rates of the strong
model, p is undefined.
"""
AVERAGES = """\
`average_precision_interval`, which `evaluate` and the command take where rows have no weights, and
`bootstrap` of the same data sets. AP is average precision, which differs from AHR where scores are
tied.

The closed form holds at least about as often, and **near an AUC of 1**, as at the steep cuts, 96 %
where the bootstrap holds 84 to 89. **With rare positives neither reaches its level: 90 and 91**. Of
the weak model, with 20 positives among 2000, the bootstrap holds 91 to 93. AUC-PR has no closed
form.
"""
LIFT = """\
Of the best tenth; so it is with Qrecall there, a tenth of the lift. *Divided* is the score interval
of the hit rate over the prevalence, as if that were known.

The default, expanded, holds 93 to 97 %, but **at the steep cuts 90 and 79**. *Divided* is no way
around resamples: it holds 46 to 100.
"""
WEIGHTS = """\
Rows of log-normal weights, which have nothing to do with labels or scores: 100 rows then tell about
as much as 37 of equal weight (Kish). The default, expanded, counts this. **Of the strong model, and
of the hit rate with rare positives, it holds 91 %; a hit rate near 1 in 9.**
"""
FEW_POSITIVES = """\
Of 200 examples so many are positive, the model being as good as the moderate one. Tests are of two
models that are alike, by `compare` (bootstrap, permutation) and `delong_test`, at 5 %: how many of
100 data sets they find a difference in. Intervals are of the AUC of one model.

**With fewer than 30 positives bootstrap and DeLong's test find too many differences**: 8 to 9 with
5 or 10, 14 and 10 with 3, 30 and 18 with 2, and the bootstrap 70 with 1. `compare` warns. The
permutation test holds its level. The logit interval does too, if there are two positives. The
bootstrap interval needs 5: **with 1 to 3 it holds 17 to 84 %**.
"""
FEW_CLUSTERS = """\
200 rows of so many branches. A branch has half as many positives as all, or half as many more, and
a level of scores of its own. Tests are of the AUC of two models that are alike, by `compare` with
`clusters=`; intervals are of one model.

**30 or 40 clusters are somewhat too few**: the test finds 7 or 8 differences, and intervals of AHR
hold 91 %. `bootstrap` and `compare` warn of fewer than 60. Of 4 to 10 the test finds 7 to 9, of 2
it finds 38; intervals hold 90 % of 10, 76 to 85 of 4 or 6, 30 to 44 of 2.
"""
FEW_GROUPS = """\
Means over so many groups of 40 rows, by `group_mean`. A group has half as many positives as all, or
half as many more, and a level of scores of its own. The hit rate is that of the best 4 rows.

**Fewer than 20 groups are too few**: intervals hold 75 to 84 % of 4, 86 to 90 of 6, 90 to 96 of 10
or 15. `bootstrap` warns.
"""
HULLS = """\
Areas that take the best of many cuts, of which resamples find better ones than there are.
`bootstrap` warns: **intervals lie too high without ties**, and hold 85 to 91 %.
"""
