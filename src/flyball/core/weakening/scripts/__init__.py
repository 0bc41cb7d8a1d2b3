"""Tests in other languages, compared as their styles read them."""
