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
## Few examples

Two models that are alike, on 200 examples, were told apart at 5 % by `compare` with the
bootstrap in

| positives | 1 | 2 | 3 | 5 | 10 | 30 |
|---|---|---|---|---|---|---|
| of all samples | 79 % | 32 % | 26 % | 5 % | 7 % | 4 % |

and with rows in clusters in

| clusters | 2 | 4 | 6 | 10 | 30 |
|---|---|---|---|---|---|
| of all samples | 45 % | 20 % | 13 % | 5 % | 7 % |

DeLong's test did in 21, 14, 10 and 8.6 % with 2, 3, 5 and 10 positives. With 10 positives the logit
interval of AUC held in 93 % by Student's t, and in 89 % by the normal quantile. With 10 to 30
clusters the default bootstrap interval held AUC and AHR in 92 to 95 %, percentiles in 88 to 94.
Intervals of hull AUC and achievable AUC-PR held 74 to 88 %. These figures are from earlier runs,
which are not stored.

## What is not simulated

- The moderate model, but for bootstrap, closed forms and the best cut.
- The default bootstrap interval of the moderate model, at the steep cut and of Poisson draws.
- Bands of the lift. It is Qrecall / fraction, and its pointwise band that of Qrecall so divided,
  but for places where all positives are found.
- Permutation tests of anything but AUC; letters of more than two models; hull AUC and achievable
  AUC-PR; weights; other quotas than the best tenth.
"""
BOOTSTRAP = """\
Quantiles of the resamples (percentile), the same mirrored (basic), corrected for bias and
skewness (BCa), and percentiles of resamples that keep the numbers of both classes (stratified).

Take the default, and closed forms where there are some. The default is BCa with the tails of
Student's t (expanded). In 300 data sets, which are not stored here, it held AUC, AHR and AQR in
93, 92 and 92 % with rare positives, where BCa held 91, 90 and 91; **of the strong model in 93, 92
and 89**, and of tied scores in 93, 90 and 93, like BCa. Basic intervals are as wide as
percentile ones, but lean to the wrong side: the strong model's AUC was missed by intervals that lay
too high in 75 data sets of 500, too low in 1. Stratified ones take the prevalence as known, which
it was not here, and are too narrow for AHR and mostly the hit rate. **No bootstrap holds a hit rate
near 1**: all resamples are 1 as the sample is; take `hit_rate_interval`. Near an AUC of 1, as at
the steep cut, no bootstrap interval holds its level.
"""
CLOSED_FORMS = """\
The logit and Wald interval of DeLong, of AUC; PEM and Gini are 2·AUC − 1, and held as often.
The score interval of the hit rate, Wilson's and the exact one.

The logit interval holds its level, by Student's t also with 20 positives; Wald's does not near 1.
Where the cut is steep, a strong model with about as many places as there are positives, Wilson's
and the exact interval miss far too often: they take the cut as fixed. The score interval, the
default, counts that it moves. With somewhat more places than positives and few of these it holds
less than its level too.
"""
GROUPS = """\
One to three rows of each of n customers, with one label and scores that are alike, drawn by
`clusters=`. As of single rows, percentiles lie too high where AUC is near 1 or positive customers
are few: those of the strong model's AUC above the truth in 36 data sets, below in 6. The default,
expanded, counts the customers that have a positive row, and holds 92 to 94 % there. A hit rate near
1 is out of reach of resamples.
"""
FINITE_LIST = """\
The hit rate of the best tenth of a list of 1.05 to 10 times the sample, by
`hit_rate_interval(..., population=)`. Take the score interval; with rare positives the exact one,
where it must not miss and the cut is not steep.
"""
DIFFERENCES = """\
Differences of two models on the same examples, of which the second has 0.75 times the shift;
unpaired, of two sets of examples. By `compare` (bootstrap), `delong_test` and `compare` with
`test="delong"`, `delong_test_unpaired`, and `compare_selections` (score, McNemar, Fisher).

Most hold their level. Percentiles of the hit rate do not where that is near 1, and Fisher's
interval does not at the steep cut: it takes the cuts as fixed. The score interval does. Of an AUC
near 1 with 30 positives all intervals are too narrow.
"""
LEVELS = """\
How many of 100 data sets a test at 5 % finds a difference in, of two models that are equally
good: `compare` by bootstrap and by permutation, `delong_test` and `delong_test_unpaired`, and
`compare_selections`. More than 5 is too many.

With 20 positives bootstrap and DeLong's test of AUC find somewhat too many, 7: take the
permutation test. Of hit rates, McNemar's test found nothing with tied scores, where two thirds of
the selected are positive, Fisher's with mid-p 2.2; with rare positives both found the same, and of
the strong model's selected, nearly all positive, nothing. At the steep cut the score test found
2.2, Fisher's with mid-p 0.6. The score test has not been run on tied scores and rare positives
here.
"""
BANDS = """\
`curve_band` at the fractions, or false positive rates, 0.05, 0.1, 0.2, 0.3, 0.5 and 0.7. A
pointwise band is for one place; that all places hold together is what a simultaneous band is for.

Do not look along a pointwise band: some place often misses. Simultaneous bands hold about their
level, **with 20 positives or a few tied scores somewhat less, 90 to 92 %**. With five distinct
scores and 30 positives of 300 they held in 84 to 89 % of 150 data sets, which are not stored here.
"""
OPTIMUM = """\
`optimum_interval` of a best cut, for impacts by which a cut brings TPR − FPR. The best cut's
value is the most that any cut brings in the population; the chosen cut's value is what the cut
that was best on the sample brings there: what its user will get. The share is that of the
selected at the best cut.

Without ties the percentiles of the values lie too high, since the resamples choose once more. For
the chosen cut take `expected`, which takes the optimism off; basic intervals of `value` held as
often. Where scores have a handful of values there is hardly any optimism, and the percentiles lean
to neither side: take these.
"""
POISSON = """\
Examples that are drawn independently, once on average, by `poisson=True`: they hold as
often as other percentiles.
"""
VERDICTS = """\
Five models on the same examples: all alike, or the others with 0.75 times the shift of the best one
or two. How many of 100 data sets `evaluate` says in that it is sure of the first, where that is
wrong and where it is right; and how often Holm's letters, which are for all pairs, would say it.
AUC is tested by DeLong's test, the hit rate by the score test, without resamples.

It is wrong in less than 5 %, and by AUC right up to seven times as often as by Holm; by hit rates
of 30 or 100 places hardly ever. The first one's value is too high most of all where all are alike;
what it is expected to be is so by a tenth to a third of that, and of hit rates near 1 too low.
"""
FOLDS = """\
Models that are trained, on five features, by cross-validation with stratified folds; the true
value is the mean over models that are trained on so many examples. `fold_summary`, of five folds
and of five such divisions.

**One hit rate of all folds, such as 1, has no width**: take `hit_rate_interval` on examples that
no fold has seen. With rare positives more divisions make the interval narrower than it should be:
one division holds better.
"""
FOLD_LEVELS = """\
`fold_test` of two models that are equally good on average over training sets, at 5 %: too careful
rather than too bold. Where all differences of the folds are 0, as of most hit rates of the strong
model, p is undefined.
"""
