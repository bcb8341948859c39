from ui_parts import bundles, server

__all__ = ["bundles", "server"]
