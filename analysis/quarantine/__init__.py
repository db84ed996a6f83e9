"""Quarantine: a contract with an owner, an expiry, evidence and a price."""
