"""The history of the schema; found by Alembic inside the wheel."""
