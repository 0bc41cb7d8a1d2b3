"""The built-in driver: no key, no network, no model. It searches, and says what it found."""
