"""What a campaign adds: treated examples compared with controls, at a quota and over all."""

from quotakernels.measures.public import (
    autoc as autoc,
    auuc as auuc,
    qini_coefficient as qini_coefficient,
    qini_curve as qini_curve,
    toc_curve as toc_curve,
    uplift_at_quota as uplift_at_quota,
    uplift_curve as uplift_curve,
)

__all__ = [name for name in dir() if not name.startswith("_")]
