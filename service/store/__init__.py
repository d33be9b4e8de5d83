"""All SQL: the schema, the one writer's transaction, the roll-ups and every query."""
