"""The shafts' motion for a motion of the links, by definition and substitution.

From the outermost elastic joint inward, theta_j = q_j + F_j / K_j with F_j the force on the
link and all its time derivatives, by Lagrange's equations in jets.
"""

from __future__ import annotations

import numpy as np

from naive.bodies import Array, coordinates
from naive.elastic import ElasticTwin
from naive.jets import PathTwin


class FlatTwin(PathTwin, ElasticTwin):
    """The arm of two records in x = (q, theta), along a path of q."""

    def shafts(self, path: Array) -> tuple[Array, Array]:
        """Rows theta, vtheta, atheta (3, n_e), and the force on x (n + n_e,), springs included.

        Args:
            path: q and its derivatives (2 n_e + 3 or more, n); each joint's motor sits before it.
        """
        stiffness = {int(np.argmax(-z)): k * z.min() ** 2 for z, k, _ in self.springs}
        theta = path[:, self.elastic].copy()
        for j in sorted(self.elastic, key=self.depth, reverse=True):
            k = self.elastic.index(j)
            force = self.force_derivatives(np.hstack([path, theta]), j)
            # The last rows lack the shafts' highest derivatives, and nobody reads them.
            theta[: len(force), k] = path[: len(force), j] + force / stiffness[j]
        x = np.hstack([path, theta])
        force = self.inverse_dynamics_time_derivatives(x[:3])[0]
        return theta[:3], force - self.spring_forces(x[0], np.zeros(self.n))

    def depth(self, j: int) -> int:
        """Number of joints between the root and joint j."""
        name, count = coordinates(self.robot)[j], 0
        link = next(joint.child for joint in self.robot.joints if joint.name == name)
        while link in self.parent_joint:
            link, count = self.parent_joint[link].parent, count + 1
        return count
