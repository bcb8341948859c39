"""Degradations that move or hide pixels: rotation, truncation, occlusion."""
