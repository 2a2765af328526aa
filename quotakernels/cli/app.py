"""The command line's commands.  Each imports what it runs: help and the version need none of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from quotakernels import __version__
from quotakernels.cli import options as of
from quotakernels.cli.options import CommandPage, GroupPage
from quotakernels.cli.query import Columns, grouped_query


@click.group(cls=GroupPage, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def app() -> None:
    """Evaluate and use scores when only a limited number of cases can be selected.

    COMMAND --help lists the options of a command.

    Examples
    --------
      The shipped example, three models with money for 100 loans:
        quotakernels evaluate --example credit --quota 100

      Two models of your own, when 5% of the rows can be selected:
        quotakernels evaluate FILE --label bought --score a --score b --quota 5%

      The same as a page to pass on:
        quotakernels report FILE --label bought --score a --quota 5% -o report.html

      The selected rows:
        quotakernels select FILE --score a --quota 5% -o chosen.csv
    """


@app.command(cls=CommandPage, params=[of.FILE], sections=of.EVALUATE)
def evaluate(
    file: Path | None,
    example: str | None,
    compare: bool,
    engine: str,
    memory_limit: float | None,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> None:
    r"""Compare the models whose scores are columns of FILE.

    FILE is CSV or JSON lines (also compressed), .xlsx, Parquet, Arrow or Feather, a directory or a
    pattern of such files, or - for the standard input. The answer comes first: which model to take,
    and how sure that is. A table shows what each model finds at each quota. With --gain or
    --impact the answer also says what that brings, and how many to take. How sure the numbers are
    is told with --confidence and --compare. --all prints every measure.

    Examples
    --------
      Try it; a bad loan that is granted costs 5, a good one refused 1:
        quotakernels evaluate --example credit --quota 100 --impact 0,-5,-1,0

      Two models, when 5% of the rows can be selected:
        quotakernels evaluate FILE --label bought --score a --score b --quota 5%

      How sure it is, and which model is better:
        quotakernels evaluate FILE --label bought --score a --score b \
            --quota 5% --confidence 0.95 --compare

      The best cut, chosen on some rows and judged on others:
        quotakernels evaluate FILE --label bought --score a --gain spend \
            --place-cost 0.5 --tune part=a --where part=b

      When each branch has 10 places:
        quotakernels evaluate FILE --label bought --score a --quota 10 --per branch

      Many Parquet files:
        quotakernels evaluate "scores/*.parquet" --label bought --score a
    """
    from quotakernels.cli.run import print_evaluated, task_of

    output: of.Format = "json" if as_json else "all" if everything else "answer"
    with task_of(file, example, compare, options) as task:
        print_evaluated(task, output, engine, memory_limit)


@app.command(
    cls=CommandPage,
    params=[of.FILE],
    sections=of.REPORT,
    short_help="Write a page that says which model should fill a quota.",
)
def report(file: Path | None, example: str | None, output: Path, **options: Any) -> None:
    r"""Write a page that says which model should fill a quota, with curves and tables.

    The page is one HTML file without other files. Its first lines say which model to take, how many
    rows to select, what that brings, and how sure the order of the models is. These answers are
    about the first --quota.

    Examples
    --------
      The shipped example, three models with money for 100 loans:
        quotakernels report --example credit --quota 100 -o report.html

      What each model brings, by what customers spend, less the cost of a letter:
        quotakernels report FILE --label bought --score a --score b \
            --gain spend --place-cost 0.5 --quota 5% -o report.html
    """
    from quotakernels.cli.run import task_of, write_page

    if options["confidence"] is None:  # intervals need no asking, nor do tests of several models
        options["confidence"] = 0.95
    compare = options.pop("compare") or len(set(options["score"])) != 1
    with task_of(file, example, compare, options) as task:
        write_page(task, output)


@app.command(
    cls=CommandPage,
    params=[of.FILE],
    sections=of.SELECT,
    short_help="Write the rows that fill the quota, best first.",
)
def select(file: Path | None, example: str | None, output: Path, **chosen: Any) -> None:
    r"""Write the rows of FILE that fill the quota, spend a budget or reach a threshold, best first.

    A quota of 200 writes 200 rows. If more rows are tied at the edge than places are left, it draws
    some of them. 5% of the rows is rounded down. A budget skips rows that cost more than the money
    left. --all-ties writes all tied rows, with the column selection_probability. It is 1 above the
    edge; at the edge it is the share of the tied rows that the quota or budget selects. The name of
    the output gives its format: .csv, .tsv, .xlsx, .parquet, .arrow or .feather.

    Examples
    --------
      The 200 best rows:
        quotakernels select FILE --score a --quota 200 -o chosen.csv

      The 10 best rows of each branch:
        quotakernels select FILE --score a --quota 10 --per branch -o chosen.csv

      The best rows that a million pays for:
        quotakernels select FILE --score a --budget 1000000 --cost amount \
            -o chosen.csv

      All rows with a score of 0.35 and more:
        quotakernels select FILE --score a --threshold 0.35 -o chosen.csv
    """
    from quotakernels.cli.run import Asked, example_file, write_selected

    if (file is None) == (example is None):
        raise click.UsageError("Give FILE, or --example credit.")
    asked = Asked(**chosen)
    if file is not None:
        write_selected(file, output, asked)
        return
    with example_file() as path:
        write_selected(path, output, asked)


@app.command(
    cls=CommandPage,
    params=[of.FILE],
    sections=of.PLAN,
    short_help="Say how many labelled rows tell two models apart.",
)
def plan(file: Path | None, **asked: Any) -> None:
    r"""Say how many labelled rows it takes to tell two models apart that score the same rows.

    Labelled rows that you have tell how much the models vary. Without FILE, curves are assumed: the
    scores of each class are normal.

    Examples
    --------
      Hit rates that differ by 2 points when 5% of the rows are selected:
        quotakernels plan --difference 2% --quota 5% --prevalence 3% --auc 0.8

      An AUC of 0.82 instead of 0.8, for models that are much alike:
        quotakernels plan --difference 0.02 --prevalence 3% --auc 0.8 \
            --correlation 0.8

      As much as the models vary in rows that have labels:
        quotakernels plan FILE --label bought --score a --score b \
            --quota 5% --difference 2%
    """
    from quotakernels.cli.run import print_plan

    print_plan(file, **asked)


@app.command(cls=CommandPage, params=[of.NEEDED_FILE], sections=of.TABLES)
def tables(
    file: Path, label: str, score: str, ratio: float | None, output: Path, **columns: Any
) -> None:
    """Write the confusion table of every cut of the scores.

    Each row of the output is a cut: it selects the rows with at least the score threshold. The
    first cut selects none. The columns are threshold, quota (how many are selected), tp, fp, fn and
    tn. Publish the file, so that others can apply their own impacts and class ratio. The name of
    the output gives its format: .csv, .tsv, .xlsx, .parquet, .arrow or .feather.

    Examples
    --------
      Tables of balanced classes:
        quotakernels tables FILE --label bought --score a --ratio 1 -o tables.csv
    """
    from quotakernels.cli.run import write_cuts

    write_cuts(file, output, label, score, ratio, columns)


@app.command(
    cls=CommandPage,
    params=[click.Argument(["table"])],
    sections=of.SQL,
    short_help="Print the query that groups the rows in a database.",
)
def sql(table: str, dialect: str, **columns: Any) -> None:
    r"""Print the query that groups the rows of TABLE by score, for data that stay in a database.

    The result of the query has a row for each distinct score, and its columns are the arguments of
    quotakernels.Ranking.from_counts. Every measure can be computed from that ranking. TABLE is
    copied after FROM. Column names must be exact: in Snowflake they are mostly in capitals. NULL
    and NaN become values that from_counts refuses.

    Examples
    --------
      A table of Spark with weights:
        quotakernels sql scored --dialect spark --label bought --score a \
            --weight times
    """
    click.echo(grouped_query(table, Columns(**columns), dialect))
