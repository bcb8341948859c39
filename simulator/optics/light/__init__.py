"""Degradations of light and lens: darkness, blur, tone."""
