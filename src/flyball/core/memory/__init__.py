"""Memory of a run: guards, fingerprints, the mistake ledger, hand-overs."""
