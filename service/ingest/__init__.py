"""Bytes in, records out: pure, no database, no web."""
