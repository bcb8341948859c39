"""An assistant that is not called but calls: a trained policy, or an app at a pair of glasses."""
