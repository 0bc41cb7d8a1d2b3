"""Stop loops and remember mistakes: guards, fingerprints, the mistake ledger, hand-overs."""
