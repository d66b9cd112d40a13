"""Greeks of barriers that are watched at all times, if a dividend is paid at the very end.

Such a dividend can take a price past a barrier below it after the last step has been survived, so the payoff jumps
where the price is at the level. (After any other step a price so near to the barrier is as good as certain to reach it
in the next step, so the probability of survival goes to 0 and nothing jumps.) Pathwise derivatives miss what the jump
adds. So as log-prices x_k move by w_k, k = 1 .. n, all but the last do so pathwise, while x_n stays where it is and
its law moves instead:

    d E f(x_1, .., x_n) = E (sum of w_k d f / d x_k, k < n) + w_n E f z / (sigma sqrt(dt)),

where z is the normal number of the last step. The second term is by the score of that step alone
(`likelihood_ratio.last_step`)."""

from __future__ import annotations

from collections.abc import Sequence

from simsuite.expressions.derivative import add, directional, multiply
from simsuite.expressions.tree import Node
from simsuite.solvers.gbm.greeks.likelihood_ratio import last_step
from simsuite.solvers.gbm.greeks.pathwise import PathwiseDerivatives
from simsuite.solvers.gbm.market.dynamics import Dynamics
from simsuite.solvers.gbm.payoffs.functionals import Functional, Kind


def jumps_in_the_end(functionals: Sequence[Functional], dynamics: Dynamics) -> bool:
    """Whether a dividend after the last step can take a price beyond a barrier that is watched at all times."""
    below = {f.asset for f in functionals if f.kind == Kind.SURVIVAL and f.level < 0}
    return any(payment.step == dynamics.n_steps for a in below for payment in dynamics.paid[a])


def derivative(
    tree: Node, names: Sequence[str], asset: int, pathwise: PathwiseDerivatives, power: int
) -> tuple[Node, Node] | None:
    """(derivative of E f as log-prices move by (t / T)^power, the score in it, whose mean is 0). None where the last
    step has no noise."""
    score = last_step(asset, pathwise)
    if score is None:
        return None
    return add(directional(tree, pathwise.before_end(names, power)), multiply(tree, score)), score
