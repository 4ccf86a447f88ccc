"""Servers on 127.0.0.1 that speak the wire formats of the services this app can use, with failures to order."""
