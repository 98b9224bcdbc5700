"""What memory and history know of a database's schema, and what becomes of entries when it changes.

`lineage` reads what a statement uses, `schemas` keeps past schemas, `drift` decides which entries are stale, and
`staleness` marks them. `checkup` runs every statement again that a person, an import or a check vouches for.
"""
