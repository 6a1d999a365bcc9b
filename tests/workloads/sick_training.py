"""``training`` with a number that is none on rank 1, in its second step: where, the cell's name says."""

from aorta.workloads.training.work import Training


class Sick(Training):
    """In a part of a gradient after it was added up, or in a weight and so in the loss."""

    steps_done = 0

    def _step(self):
        self.steps_done += 1
        if self.trial.cell == "loss" and self._is_sick():
            next(self.model.parameters()).data.fill_(float("nan"))
        return super()._step()

    def _norm(self):
        if self.trial.cell == "gradient" and self._is_sick():
            gradient = next(one.grad for one in self.model.parameters() if one.grad is not None)
            gradient.to_local().view(-1)[0] = float("nan")
        return super()._norm()

    def _is_sick(self):
        return self.trial.rank == 1 and self.steps_done == 2
