"""The house itself: contracts between rooms, locks, documents, wheel, set-up."""
