"""What the help pages show beside the options' own texts: headings and examples."""

from __future__ import annotations

from typing import Any

OVERVIEW = {
    "Three models that come along, with money for 100 loans:": (
        "quotakernels evaluate --example credit --quota 100"
    ),
    "Two models of your own, when 5% of the rows can be selected:": (
        "quotakernels evaluate FILE --label bought --score a --score b --quota 5%"
    ),
    "The same as a page to pass on:": (
        "quotakernels report FILE --label bought --score a --quota 5% -o report.html"
    ),
    "The selected rows:": "quotakernels select FILE --score a --quota 5% -o chosen.csv",
}
EVALUATE: dict[str, Any] = {
    "sections": {
        "Data and quotas": (
            *("label", "score", "quota", "pos_label", "weight", "where"),
            "example",
        ),
        "What a selection brings": ("gain", "cost", "impact", "tune"),
        "How sure it is": ("confidence", "compare", "resamples", "seed"),
        "Large data": ("engine", "memory_limit"),
        "Output": ("as_json",),
    },
    "examples": {
        "Try it; a bad loan that is granted costs 5, a good one refused 1:": (
            "quotakernels evaluate --example credit --quota 100 --impact 0,-5,-1,0"
        ),
        "Two models, when 5% of the rows can be selected:": (
            "quotakernels evaluate FILE --label bought --score a --score b --quota 5%"
        ),
        "How sure it is, and which model is better:": (
            "quotakernels evaluate FILE --label bought --score a --score b \\\n"
            "    --quota 5% --confidence 0.95 --compare"
        ),
        "The best cut, chosen on some rows and judged on others:": (
            "quotakernels evaluate FILE --label bought --score a --gain spend \\\n"
            "    --cost 0.5 --tune part=a --where part=b"
        ),
        "Many Parquet files:": "quotakernels evaluate 'scores/*.parquet' --label bought --score a",
    },
}
REPORT: dict[str, Any] = {
    "sections": {
        heading: tuple(name for name in names if name != "compare")
        for heading, names in EVALUATE["sections"].items()
        if heading not in ("Large data", "Output")
    },
    "examples": {
        "Three models that come along, with money for 100 loans:": (
            "quotakernels report --example credit --quota 100 -o report.html"
        ),
        "What each model brings, by what customers spend, less the cost of a letter:": (
            "quotakernels report FILE --label bought --score a --score b \\\n"
            "    --gain spend --cost 0.5 --quota 5% -o report.html"
        ),
    },
}
SELECT: dict[str, Any] = {
    "examples": {
        "The 200 best rows:": "quotakernels select FILE --score a --quota 200 -o chosen.csv",
        "All rows with a score of 0.35 and more:": (
            "quotakernels select FILE --score a --threshold 0.35 -o chosen.csv"
        ),
    },
}
TABLES: dict[str, Any] = {
    "examples": {
        "Tables of balanced classes:": (
            "quotakernels tables FILE --label bought --score a --ratio 1 -o tables.csv"
        ),
    },
}
COMPLETION: dict[str, Any] = {
    "examples": {
        "For every new Bash:": "echo 'eval \"$(quotakernels completion bash)\"' >> ~/.bashrc",
        "For every new Zsh:": "echo 'eval \"$(quotakernels completion zsh)\"' >> ~/.zshrc",
        "For every new Fish:": (
            "quotakernels completion fish > ~/.config/fish/completions/quotakernels.fish"
        ),
    },
}
