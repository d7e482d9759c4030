"""How a search tells scikit-learn's callbacks, between chunks of work, how far it has got."""

# How long a search goes on before callbacks have a word.
SECONDS_A_CHUNK = 0.2


class Progress:
    """The tasks of one fit, as its callbacks see them; does nothing where none is set.

    Parameters
    ----------
    estimator : estimator
        With ``CallbackSupportMixin``. To be made before what its fit undoes when it fails.

    X, y : array-like
        What `fit` was given.

    sample_weight : array-like or None
        For callbacks that score.
    """

    def __init__(self, estimator, X, y, sample_weight=None):
        self._estimator, self._task, self._context = estimator, None, None
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._data = {"X": X, "y": y, "metadata": metadata}
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator, **self._data)

    @property
    def is_watched(self):
        """Whether there is a callback."""
        return self._context is not None

    def begin(self, name):
        """Say that a chunk of work begins."""
        if self.is_watched:
            self._task = self._context.subcontext(task_name=name)
            self._task.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def end(self, attributes=None):
        """Say that it is done; True if a callback asks the search to stop.

        Parameters
        ----------
        attributes : callable or None
            What gives the fitted attributes of the best answer so far, for callbacks that predict.
        """
        if not self.is_watched:
            return False
        return self._task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=attributes, **self._data
        )

    def chunk(self, control, name, work, attributes_of):
        """Do some work, and let callbacks say whether the search is to go on.

        Parameters
        ----------
        control : SearchControl
        name : str
        work : callable
            Without arguments.
        attributes_of : callable
            From what `work` returned to what ``end`` takes.
        """
        if not self.is_watched:
            return work()
        self.begin(name)
        result = work()
        control.raise_pending()
        if self.end(attributes_of(result)):
            control.request_stop()
        return result

    def finish(self):
        """Say that the fit is done; the estimator is fitted."""
        if self.is_watched:
            attributes = {k: v for k, v in vars(self._estimator).items() if k.endswith("_")}
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=attributes, **self._data
            )
