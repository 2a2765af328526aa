"""What a campaign adds: treated examples compared with controls, at a quota and over all."""

from quotakernels.measures.public import (
    auuc,
    qini_coefficient,
    qini_curve,
    uplift_at_quota,
    uplift_curve,
)

__all__ = ["auuc", "qini_coefficient", "qini_curve", "uplift_at_quota", "uplift_curve"]
