"""What the command says of data sets of known populations: whether that is true, and whether one
sentence contradicts another.

Sentences are recognized by their templates.  Each template of an answer is in one of the lists
`CLAIMS`, `DOUBTS`, `FACTS` and `PARTS`, or nobody has said what it claims.
"""

from __future__ import annotations

import math
import re
import string
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from benchmarks.coverage.populations import Truth

Fields = dict[str, str]
SENTENCES: dict[str, str] = {
    f"{part}.{name}": text
    for part, named in tomllib.loads(
        (files("quotakernels") / "data" / "sentences.toml").read_text("utf-8")
    ).items()
    for name, text in named.items()
}

# what was printed


_NUMBER = r"-?\d[\d,]*(?:\.\d+)?%?"
_NUMBERS = (
    *("added", "amount", "chance", "everybody", "expected", "fewer", "found", "lower", "more"),
    *("nobody", "number", "per_place", "random", "rate", "share", "times", "upper"),
)
_EMPTY = ("interval", "luck", "places", "tuned", "spent", "of", "at")
_NAMES = r"m\d+(?:(?:,| or| and) m\d+)*"
KINDS = {"Places": r"[Aa]ll [\d,]+ places|[Tt]he one place", "positives": "[a-z]+", "said": r".+\."}
LISTS = (r".+ a random choice .+\.", r"m\d+ brings [^(]+(?:\(the best of .+\)[^(]+)?\.")
"""Lines that list what models have."""
QUESTIONS = {
    "which": "which",
    "many": "how_many",
    "brings": "what",
    "sure": "how_sure",
    "treatment": "treatment",
}
"""What the parts of the file answer."""


AHEAD = (
    *("sure.brings_as_much", "sure.brings_more", "sure.cut_brings_as_much"),
    *("sure.cut_brings_more", "sure.has_auc", "sure.finds_more", "sure.finds_fewer"),
    "sure.finds_as_many",
)
"""By how much the first model is ahead."""


BY_AUC = SENTENCES["sure.by_auc"].partition("{")[0]


def number(text: str) -> float:
    """A number that was printed; of a percentage the share."""
    plain = text.replace(",", "")
    return float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)


@cache
def pattern(name: str) -> re.Pattern[str]:
    """What a template becomes, with groups that have the names of its fields."""
    found = ""
    for literal, field, *_ in string.Formatter().parse(SENTENCES[name].replace("−", "-")):
        # the command writes options in the place of arguments
        option = r"(?:[a-z_]+=|--[a-z-]+ ?)\\S*?"
        found += re.sub(r"\b[a-z_]+=(0\\\.95|True)?", option, re.escape(literal))
        if field:
            kind = _NUMBER if field in _NUMBERS else ".*?" if field in _EMPTY else ".+?"
            if name.startswith(("sure.", "tests.")) and field in ("model", "models", "others"):
                kind = r"m\d+(?:(?:,| or| and) (?:m\d+|\d+ others))*"
            if field in KINDS:
                kind = KINDS[field]
            if field == "ahead":
                kind = re.sub(r"\(\?P<\w+>", "(?:", "|".join(pattern(x).pattern for x in AHEAD))
            again = f"(?P<{field}>" in found
            found += f"(?:{kind})" if again else f"(?P<{field}>{kind})"
    first = found[:1]
    return re.compile(f"[{first}{first.upper()}]{found[1:]}" if first.islower() else found)


def is_verdict(name: str) -> bool:
    """Whether a template answers in a few words, without a full stop."""
    text = SENTENCES[name].removesuffix("{spent}")
    return not text.endswith((".", "{said}"))


class Page:
    """What was printed: the answers in a few words, by what was asked, and the lines below; the
    table at the quota, and what is told of tests, by what they compare.
    """

    def __init__(self, text: str) -> None:
        self.verdicts: dict[str, str] = {}
        self.lines: list[str] = []
        self.table: list[list[str]] = []
        self.tests: dict[str, list[str]] = {}
        title = ""
        asked = {x: name for name, x in SENTENCES.items() if name.startswith("questions.")}
        for block in text.replace("−", "-").split("\n\n"):
            head, *more = block.splitlines() or [""]
            question = next((x for x in asked if head.startswith(x)), None)
            if question is not None:
                key = re.sub(r"^questions\.|_of_one$|_for_budget$", "", asked[question])
                self.verdicts[key] = head[len(question) + 1 :].removesuffix(".")
                self.lines += more
            elif head.startswith("At ") and not self.table:
                self.table = [re.split(r"\s{2,}", x.strip()) for x in more if "─" not in x]
            elif title:
                self.tests[title], title = block.splitlines(), ""
            elif head.startswith("Differences of "):
                title = head

    def said(self, name: str) -> list[Fields]:
        """The fields of a template, wherever it was used."""
        part = QUESTIONS.get(name.partition(".")[0], "")
        if is_verdict(name) and name not in PARTS:
            verdict = self.verdicts.get(part, "").removeprefix(BY_AUC)
            found = pattern(name).fullmatch(verdict)
            return [found.groupdict()] if found else []
        lines = [y for x in self.tests.values() for y in x] if part == "" else self.lines
        lines = [*lines, *(self.verdicts.values() if name in PARTS else ())]
        return [x.groupdict() for line in lines for x in pattern(name).finditer(line)]

    def column(self, head: str) -> list[float]:
        """A column of the table, that of the first model first."""
        if not self.table or head not in self.table[0]:
            return []
        k = self.table[0].index(head)
        return [number(x[k].rstrip("*")) for x in self.table[1:]]

    def row(self, model: str) -> str:
        """The row of a model in the table."""
        return next((" ".join(x) for x in self.table if x[0] == model), "")

    @property
    def first(self) -> str:
        """The model that is called the first."""
        found = re.search(r"\bm\d+\b", " ".join([self.verdicts["which"], *self.lines]))
        return found[0] if found else ""

    @property
    def names_one(self) -> bool:
        """Whether one of several models is named without a doubt."""
        return bool(re.fullmatch(r"m\d+", self.verdicts["which"]))

    @property
    def names_none(self) -> bool:
        """Whether a random choice does, or may do, as well as all models."""
        names = ("random_is_better", "random_is_as_good", "perhaps_chance", "perhaps_chance_of_one")
        return any(self.said(f"which.{x}") for x in names)

    @property
    def interval(self) -> tuple[float, float]:
        """That of what the first model brings, or else finds."""
        names = ("brings.with_places", "which.found", "which.found_one", "which.found_called")
        found = (ends(x["interval"]) for name in names for x in self.said(name))
        return next(found, (math.nan, math.nan))

    def unknown(self) -> Iterator[str]:
        """Verdicts and lines that are of no template."""
        said = [x for x in (*CLAIMS, *DOUBTS, *FACTS) if x in SENTENCES]
        whole = [*(pattern(x) for x in said if not is_verdict(x)), *map(re.compile, LISTS)]
        short = [*(pattern(x) for x in said if is_verdict(x)), re.compile(_NAMES)]

        def known(text: str) -> bool:
            if any(x.fullmatch(text) for x in whole):
                return True
            stops = [x.end() for x in re.finditer(r"\.(?= [A-Z])", text)]
            return any(known(text[:x]) and known(text[x + 1 :]) for x in stops)

        verdicts = [x.removeprefix(BY_AUC) for x in self.verdicts.values()]
        yield from (x for x in verdicts if not any(y.fullmatch(x) for y in short))
        tests = (y for x in self.tests.values() for y in x)
        yield from (x for x in (*self.lines, *tests) if not known(x))


def ends(text: str) -> tuple[float, float]:
    """Both ends of an interval in some words, NaN without one."""
    found = re.search(rf"({_NUMBER}) to ({_NUMBER})", text)
    return (number(found[1]), number(found[2])) if found else (math.nan, math.nan)


# what is claimed: whether it is false


_SLACK = 0.06
"""Half of the last digit of what is printed with one."""


def _models(text: str) -> list[str]:
    return re.findall(r"\bm\d+\b", text)


def _outside(interval: tuple[float, float], truth: float, slack: float = _SLACK) -> bool:
    return interval[0] > truth + slack or interval[1] < truth - slack


class Made(NamedTuple):
    """A claim that was made, with the fields of its template, and the truth."""

    fields: Fields
    page: Page
    truth: Truth

    def value(self, name: str) -> float:
        """The number in a field."""
        return number(self.fields[name])

    def ends(self) -> tuple[float, float]:
        """Those of the interval in a field; NaN without one."""
        return ends(self.fields.get("interval", ""))

    def rank(self, name: str = "") -> float:
        """The true rank of a model, of the first without a name."""
        return self.truth.rank[name or self.page.first]

    def is_short(self, value: float, places: float = math.inf) -> bool:
        """Whether up to so many places really bring more than that, and not by a little only."""
        truth, most = self.truth, self.truth.most(places)
        return value < most - 0.02 * max(abs(most), abs(truth.everybody - truth.nobody))


def _not_the_best(x: Made) -> bool:
    return sum(y >= x.rank() for y in x.truth.rank.values()) > 1


def _not_better(x: Made) -> bool:
    own = x.rank(x.fields.get("model", ""))
    return any(x.rank(y) >= own for y in _models(x.fields.get("models") or x.fields["others"]))


def _not_above_chance(x: Made) -> bool:
    return x.rank() <= 0


def _not_below_chance(x: Made) -> bool:
    return x.rank(x.fields.get("model", "")) >= 0


def _not_all_below_chance(x: Made) -> bool:
    return max(x.truth.rank.values()) >= 0


def _not_all_as_chance(x: Made) -> bool:
    return any(x.truth.rank.values())


def _interval_of_found(x: Made) -> bool:
    return _outside(x.ends(), x.truth.found[x.fields["model"]])


def _interval_of_brought(x: Made) -> bool:
    return _outside(x.ends(), x.truth.compared[x.page.first])


def _interval_of_rate(x: Made) -> bool:
    share = x.truth.found[x.page.first] / x.truth.places[x.page.first]
    return _outside((x.value("lower"), x.value("upper")), share, 0.0006)


def _interval_of_difference(x: Made) -> bool:
    first, second = _models(x.fields["ahead"])
    by_area = "AUC" in x.fields["ahead"]
    of = x.truth.area if by_area else x.truth.compared
    return _outside(x.ends(), of[first] - of[second], 0.0006 if by_area else _SLACK)


def _interval_of_uplift(x: Made) -> bool:
    return _outside(x.ends(), x.truth.uplift[_models(x.page.verdicts["treatment"])[0]])


def _interval_of_expected(x: Made) -> bool:
    """Of what a cut that was chosen will bring: that of the line above."""
    cuts, model, places = ("many.best_cut", "many.fewer", "many.fewer_one"), "", math.nan
    for line in x.page.lines:
        if found := next(filter(None, (pattern(cut).search(line) for cut in cuts)), None):
            first = found["first"].removeprefix("first ")
            model, places = found["model"], 1.0 if first == "one" else number(first)
        elif (expect := pattern("many.expect").search(line)) and expect["amount"] == x.fields[
            "amount"
        ]:
            return _outside(ends(line), x.truth.brings(model, places))
    return False


def _expected(x: Made) -> bool:
    """Whether the truth is farther away than half of the interval of what there is here."""
    model, (lower, upper), expected = x.page.first, x.page.interval, x.value("expected")
    own, slack = x.truth.compared[model], _SLACK
    if "%" in x.fields["expected"]:
        own, expected = x.truth.found[model], expected * x.truth.places[model]
    return abs(expected - own) > (upper - lower) / 2 + slack


def _number_does_not_pay(x: Made) -> bool:
    brings = x.truth.brings(x.fields["model"], x.value("number"))
    return brings <= max(x.truth.nobody, x.truth.everybody)


def _fewer_are_no_better(x: Made) -> bool:
    said = (*x.page.said("many.fewer"), *x.page.said("many.fewer_one"))
    brings = x.truth.brings(said[0]["model"], x.value("number"))
    return brings <= max(x.truth.compared.values())


def _fewer_are_better(x: Made) -> bool:
    return x.is_short(max(x.truth.compared.values()), max(x.truth.places.values()))


def _nobody_is_not_best(x: Made) -> bool:
    return x.is_short(x.truth.nobody)


def _adds_no_more(x: Made) -> bool:
    adds = x.truth.adds
    return sum(y >= adds[x.fields["model"]] for y in adds.values()) > 1


CLAIMS: dict[str, Callable[[Made], bool]] = {
    "which.random_is_better": _not_all_below_chance,
    "which.random_is_as_good": _not_all_as_chance,
    "which.wrong_way": _not_below_chance,
    "which.nobody_is_best": _nobody_is_not_best,
    "which.found": _interval_of_found,
    "which.found_one": _interval_of_found,
    "which.found_called": _interval_of_found,
    "which.best_here_expect": _expected,
    "many.all": lambda x: x.is_short(x.truth.everybody),
    "many.nobody": _nobody_is_not_best,
    "many.number_by": _number_does_not_pay,
    "many.expect": _interval_of_expected,
    "many.part_of": _fewer_are_no_better,
    "many.all_places": _fewer_are_better,
    "brings.here_and_elsewhere": _expected,
    "brings.with_places": _interval_of_brought,
    "treatment.than_controls": _interval_of_uplift,
    "treatment.sure": _adds_no_more,
    "sure.best": _not_the_best,
    "sure.better": _not_above_chance,
    "sure.random_is_better": _not_below_chance,
    "sure.better_than": _not_better,
    "sure.rate_and_chance": _interval_of_rate,
    "sure.chance_below": _not_above_chance,
    "sure.chance_above": _not_below_chance,
    "sure.ahead_surely": _interval_of_difference,
    "tests.better": _not_better,
}
"""Whether a sentence claims what is false."""
OF_TABLE = "interval of a model in the table"
INTERVALS = [
    *("which.found", "which.found_one", "which.found_called", "which.best_here_expect"),
    *("brings.here_and_elsewhere", "brings.with_places", "treatment.than_controls"),
    *("sure.rate_and_chance", "sure.ahead_surely", "many.expect", OF_TABLE),
]
"""Claims that are intervals, or stand for one."""


def _in(part: str, names: str) -> list[str]:
    return [f"{part}.{x}" for x in names.split()]


DOUBTS = [
    *_in("which", "unsure perhaps_chance perhaps_chance_of_one"),
    *_in("many", "chance_nobody perhaps_none perhaps_all chance_all expect_of_few"),
    "brings.may_not_pay",
    *_in("treatment", "may_add_nothing not_sure"),
    *_in("sure", "chance_within perhaps_chance few_for_test few_resamples"),
    *_in("sure", "all_alike some_alike doubt needed few_earn_half no_interval"),
    *_in("tests", "few_resamples few_earn_half alike"),
]
"""Sentences that say that something is not known."""
FACTS = [
    *(x for x in SENTENCES if x.startswith("nothing.")),
    *_in("which", "unknown none_finds_more only mostly random_finds finds_most no_quota"),
    *_in("which", "give_quota all_the_same where_most where_most_shared nothing_matters that_is"),
    *_in("which", "no_cut_brings_more best_cut_brings all_positive one_score in_all"),
    *_in("which", "in_all_short_one in_all_short in_all_parts rounded_down loses"),
    *_in("many", "no_difference any_number all_paid no_loss no_loss_give_cost nobody_is_best"),
    *_in("many", "without_limit all_is_best best_cut no_smaller nobody_in_quota"),
    *_in("many", "nobody_in_budget fewer fewer_one fewer_weight nobody_there reached"),
    *_in("many", "others_empty no_less no_less_paid chosen_here depends paid_for near"),
    *_in("many", "near_lead needed needed_weight find find_one find_and find_one_and give_gain"),
    *_in("brings", "nothing depends give_gain nobody_and_all best_cut beside_random counted"),
    *_in("brings", "impacts impacts_each weight found no_more more times_as_many"),
    *_in("brings", "times_as_much give_gain_for_that"),
    *_in("treatment", "unknown no_arms most others best_here best_here_expect beside"),
    *_in("sure", "unknown without_quota give_quota untested_interval untested"),
    *_in("sure", "nothing_to_compare not_comparable no_positive nobody_is_best"),
    *_in("sure", "none_brings_more undefined no_width ahead ahead_always"),
    *_in("tests", "differences"),
]
"""Sentences about the rows of the data set, and about what was asked for."""
PARTS = [
    *_in("which", "spending spending_each of_each take rows of_places best_here"),
    *_in("which", "best_here_expect finds brings has random_too at_share of_all_quotas"),
    *_in("which", "others_at_no_more"),
    *_in("many", "takes chance_p expect_of"),
    *_in("brings", "here_and_elsewhere no_width not_spent counted_in positive negative others"),
    *_in("brings", "selected left tuned of_places of_groups of_budget"),
    *_in("treatment", "positive by"),
    *_in("sure", "hit_rate brings by_auc in_places for_budget at_quota at_budget"),
    *AHEAD,
    *(x for x in SENTENCES if x.startswith("tests.of_")),
]
"""Parts of other sentences."""

# what contradicts itself


def _unlike_verdict(page: Page) -> bool:
    """One model is named without a doubt where it is not sure that it is the best, or not named."""
    sure = page.verdicts.get("how_sure", "")
    if not sure or page.names_none:
        return False
    best = page.said("sure.best")
    if best and page.names_one and best[0]["model"] != page.verdicts["which"]:
        return True
    tested = sure not in ("Unknown", "Too few resamples to tell", "It is the only model")
    return tested and page.names_one != bool(best)


def _random_and_model(page: Page) -> bool:
    """A random choice may do as well, and yet a model is advised or surely better."""
    advised = any(x.startswith("Take the") for x in page.lines)
    return page.names_none and bool(advised or page.said("sure.better"))


def _random_in_doubt(page: Page) -> bool:
    """A random choice does better, and yet that is not sure."""
    sure = page.said("sure.perhaps_chance")
    return bool(page.said("which.random_is_better") and sure)


def _p_and_interval(page: Page) -> bool:
    """A p that differs from what the interval of the same difference says."""
    for f in page.said("sure.ahead_surely"):
        lower, upper = ends(f["interval"])
        clear = min(abs(lower), abs(upper)) > _SLACK and abs(p_of(f) - 0.05) > _GRAIN
        if clear and (p_of(f) <= 0.05) != (lower > 0 or upper < 0):
            return True
    return False


_GRAIN = 0.02
"""Of p, which 200 resamples tell in steps of 0.01."""


def p_of(f: Fields) -> float:
    """The p that was printed, or the bound of it."""
    found = re.search(r"[\d.]+(?:e-?\d+)?", f["p"])
    return float(found[0]) if found else math.nan


def _p_and_rivals(page: Page) -> bool:
    """Models may be as good, though p says not; or one is sure, though p doubts it."""
    unsure = page.said("sure.some_alike") or page.said("sure.all_alike")
    for f in page.said("sure.ahead_surely"):
        if (unsure and p_of(f) < 0.045) or (page.said("sure.best") and p_of(f) > 0.055):
            return True
    return False


def _better_and_rival(page: Page) -> bool:
    """Worse than the first, and perhaps as good."""
    rivals = {y for x in page.said("sure.some_alike") for y in _models(x["models"])}
    worse = {y for x in page.said("sure.better_than") for y in _models(x["models"])}
    return bool(rivals & worse)


def _doubt_and_interval(page: Page) -> bool:
    """It may be no better than a random choice, though its interval excludes that; or the other way
    round.
    """
    random = [number(x["found"]) for x in page.said("which.random_finds")]
    for line in page.lines:
        found = re.search(rf"a random choice ({_NUMBER})(?: of {_NUMBER})?\.$", line)
        random += [number(found[1])] if found else []
    lower, _ = page.interval
    taken = any(x.startswith("Take the") for x in page.lines) and "how_sure" in page.verdicts
    if not random or math.isnan(lower) or not taken or page.said("brings.with_places"):
        return False
    if abs(lower - random[0]) <= 2 * _SLACK or page.said("sure.few_for_test"):
        return False
    return bool(page.said("sure.doubt")) != (lower <= random[0])


def _expected_and_interval(page: Page) -> bool:
    """What is expected of the winner lies outside its interval, or above what it has here."""
    lower, upper = page.interval
    for f in (*page.said("which.best_here_expect"), *page.said("brings.here_and_elsewhere")):
        names = ("which.found", "which.found_one") if "%" in f["expected"] else ()
        at = [x for name in names for x in page.said(name)]
        places = number(at[0]["found"]) / number(at[0]["rate"]) if at else 1.0
        slack = 0.006 * places
        if not lower - slack <= number(f["expected"]) * places <= upper + slack:
            return not math.isnan(lower)
    return False


def _expected_and_mean(page: Page) -> bool:
    """Less is expected of the winner than all models have on average."""
    rates = page.column("hit rate")
    said = [
        number(f["expected"]) for f in page.said("which.best_here_expect") if "%" in f["expected"]
    ]
    return any(x < sum(rates) / len(rates) - 0.0011 for x in said if rates)


def _added_and_interval(page: Page) -> bool:
    """A treatment that may add nothing, though its interval says otherwise; or the other way."""
    for f in page.said("treatment.than_controls"):
        lower, upper = ends(f["interval"])
        if min(abs(lower), abs(upper)) > _SLACK and not math.isnan(lower):
            return bool(page.said("treatment.may_add_nothing")) != (lower < 0 < upper)
    return False


def _pays_and_interval(page: Page) -> bool:
    """Places may bring less than nobody, though the interval says otherwise; or the other way."""
    for f in page.said("brings.with_places"):
        (lower, upper), nobody = ends(f["interval"]), number(f["nobody"])
        shown = next(iter(page.said("brings.beside_random")))["brings"].partition(" here")[0]
        if min(abs(lower - nobody), abs(upper - nobody)) > _SLACK and number(shown) > nobody:
            return bool(page.said("brings.may_not_pay")) != (lower < nobody)
    return False


def _tests_and_rivals(page: Page) -> bool:
    """A table tells two models apart that the answer does not, or the other way round."""
    told = [x for title, x in page.tests.items() if "AUC" not in title]
    better, alike = set[tuple[str, str]](), set[str]()
    for line in told[0] if told else []:
        first, *others = _models(line)
        if pattern("tests.better").fullmatch(line):
            better |= {(first, x) for x in others}
        else:
            alike.add(_models(line)[-1])
    rivals = [y for x in page.said("sure.some_alike") for y in _models(x["models"])]
    if page.said("sure.all_alike"):
        rivals = [x[0] for x in page.table[1:]]
    surely = [x["model"] for x in page.said("sure.best")]
    return any((page.first, x) in better for x in rivals) or bool(alike & {*surely})


def _order(page: Page) -> bool:
    """The table begins with another model than the answer."""
    named = page.first and page.table and page.table[0][0] == "model"
    return bool(named) and page.table[1][0] != page.first


CONTRADICTIONS: dict[str, Callable[[Page], bool]] = {
    "verdict, and how sure": _unlike_verdict,
    "random choice, and a model": _random_and_model,
    "random choice, and not sure": _random_in_doubt,
    "p, and its interval": _p_and_interval,
    "p, and who may be as good": _p_and_rivals,
    "better than, and may be as good": _better_and_rival,
    "no better than random, and the interval": _doubt_and_interval,
    "expected, and the interval": _expected_and_interval,
    "expected, and the mean of all": _expected_and_mean,
    "may add nothing, and the interval": _added_and_interval,
    "may bring less than nobody, and the interval": _pays_and_interval,
    "tests of pairs, and who may be as good": _tests_and_rivals,
    "first, and the table": _order,
}


def judged(text: str, truth: Truth, tested: bool) -> dict[str, bool]:
    """Each claim of what was printed, and whether it is false; each contradiction, if it is there.

    A template that is not known, or a verdict of one model, is a claim of its own.
    """
    page, found = Page(text), {}
    for name, false in CLAIMS.items():
        for k, fields in enumerate(page.said(name)):
            found[f"{name}{' again' * k}"] = false(Made(fields, page, truth))
    if tested and page.names_one:
        found["which: one model"] = _not_the_best(Made({}, page, truth))
    if (row := page.row("m0")) and not math.isnan(ends(row)[0]):
        share = truth.found["m0"] / truth.places["m0"]
        found[OF_TABLE] = _outside(ends(row), share, 0.0006)
    found |= {f"contradiction: {name}": true(page) for name, true in CONTRADICTIONS.items()}
    return found | {f"unknown sentence: {x}": True for x in page.unknown()}
