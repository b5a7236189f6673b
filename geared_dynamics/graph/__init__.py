"""Pictures of gear trains: graph, canonical graph, equivalent open-loop chain."""

from geared_dynamics.graph.picture import graph_svg

__all__ = ["graph_svg"]
