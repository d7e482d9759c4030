"""A callback of scikit-learn's that notes what it sees."""


class Recorder:
    """Notes the tasks and the scores of the trees, and asks to stop after some of them."""

    def __init__(self, stop_after=None):
        self.stop_after, self.tasks, self.scores, self.n_open = stop_after, [], [], 0

    def setup(self, estimator, context):
        self.tasks, self.scores = [], []

    def teardown(self, estimator, context):
        self.is_torn_down = True

    def on_fit_task_begin(self, estimator, context):
        self.n_open += 1

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.n_open -= 1
        self.tasks.append(context.task_name)
        if fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, y))
        return len(self.tasks) == self.stop_after
