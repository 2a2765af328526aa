"""Averages over all quotas: hit rate, Qrecall, AUC and PEM."""
