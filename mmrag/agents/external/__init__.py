"""Agents from outside (Python objects, kits' agents, programs), asked without being trusted."""
