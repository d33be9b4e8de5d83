"""Frames in, frozen results out: pure, no database, no web."""
