"""The only spawner: every program is started, limited and ended here."""
