"""Search of passages: words and meaning, fused and ranked again."""
