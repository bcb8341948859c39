"""The studio as the world sees it: a renderer."""

from __future__ import annotations

from simulator.studio import check_packages
from simulator.studio.camera import looking_again, scene_to_picture
from simulator.world.pictures.scene import Rendered, Scene


class Studio:
    """The renderer that traces light; see `simulator.world.pictures.scene.Renderer`."""

    version = scene_to_picture.RENDERER

    def check(self) -> None:
        """Raise `Unavailable` unless every package of the extra is there."""
        check_packages()

    def compose(self, scene: Scene) -> Rendered:
        """Take the picture of a scene."""
        check_packages()
        return scene_to_picture.compose(scene)

    def again(self, scene: Scene, how: str) -> Rendered:
        """Take it as a wearer does who looks again."""
        check_packages()
        return looking_again.retake(scene, how)
