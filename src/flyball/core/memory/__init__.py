"""What a run remembers and notices: guards, fingerprints, the mistake ledger, hand-overs."""
