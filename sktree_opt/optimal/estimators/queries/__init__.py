"""Estimators that answer questions with several limits (see ``run.queries``)."""
