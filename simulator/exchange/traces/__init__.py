"""Traces of applications that run elsewhere, as conversations: OpenTelemetry's and its kin."""
