"""Exact reference for the measures: plain Python and ``Fraction``, straight from the sums.

Nothing here is fast or clever, and nothing is shared with the library: it is what the library is
compared with. ``None`` stands for "undefined". Sequences are Python sequences (of an array, pass
``.tolist()``); every number is converted exactly, so ``0.1`` means the float, not one tenth.

``AR`` is Arbel & Rokach, "Classifier Evaluation under Limited Resources", ``DG`` is
Davis & Goadrich, "The Relationship Between Precision-Recall and ROC Curves".

Measures of one table have common names: they stay in their modules, ``confusion`` (two classes),
``classes`` (K classes), ``impact``, ``charts`` and ``retrieval``.
"""

from . import charts, classes, confusion, fields, impact, operating, retrieval
from .at_quota import *
from .costs import *
from .envelope import *
from .fields import normalized_enrichment_factor, normalized_pr_auc, pr_gain_auc
from .large import *
from .points import *
from .pr import *
from .roc import *
from .small_cases import *
from .summary import *
from .table import *
