"""All public functions of the chapters of measures.

``docs/tools/stubs.py`` writes this list, and the names and types into the stub beside it.
"""

# ruff: noqa: F403

from quotakernels.measures.at_quota import *
from quotakernels.measures.by_group import *
from quotakernels.measures.charts import *
from quotakernels.measures.decisions import *
from quotakernels.measures.dominance import *
from quotakernels.measures.gains import *
from quotakernels.measures.hull import *
from quotakernels.measures.multiclass import *
from quotakernels.measures.operating import *
from quotakernels.measures.over_quotas import *
from quotakernels.measures.retrieval import *
from quotakernels.measures.roc_pr import *
from quotakernels.measures.screening import *
from quotakernels.measures.selection import *
from quotakernels.measures.tables.best_cut import *
from quotakernels.measures.tables.confusion import *
from quotakernels.measures.tables.rates import *
from quotakernels.measures.uplift import *
