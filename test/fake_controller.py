"""The action of a joint trajectory controller, for test/ros."""

from __future__ import annotations

from typing import Any

ACTION = "/arm_controller/follow_joint_trajectory"


class FakeController:
    """The controller's action, whose goals the test ends by hand."""

    def __init__(self, node: Any) -> None:
        from control_msgs.action import FollowJointTrajectory

        self.kind = FollowJointTrajectory
        self.accepts = True
        self.handles: list[Any] = []
        self.server: Any = None
        self.cancels = 0
        self.serve(node)

    def serve(self, node: Any) -> None:
        """Offer the action on a node."""
        from rclpy.action import ActionServer, CancelResponse, GoalResponse

        def cancelled(_handle: Any) -> Any:
            self.cancels += 1
            return CancelResponse.ACCEPT

        self.server = ActionServer(
            node,
            self.kind,
            ACTION,
            execute_callback=lambda handle: self.kind.Result(),
            goal_callback=lambda goal: (
                GoalResponse.ACCEPT if self.accepts else GoalResponse.REJECT
            ),
            handle_accepted_callback=self.handles.append,
            cancel_callback=cancelled,
        )

    def leave(self) -> None:
        """Offer it no longer, or it would stay in the graph, in which the next module may be."""
        if self.server is not None:
            self.server.destroy()
        self.server = None

    @property
    def newest(self) -> Any:
        return self.handles[-1]

    def end(self, how: str, code: int, text: str) -> None:
        """End the newest goal: succeed, abort or canceled."""

        def finish(handle: Any) -> Any:
            getattr(handle, how)()
            return self.kind.Result(error_code=code, error_string=text)

        self.newest.execute(finish)
