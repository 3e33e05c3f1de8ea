"""From a `Report` to pages and Markdown; nothing here reads a file of the project or knows DuckDB."""

#: Stands in every output where the build hash belongs; the build replaces it once the hash over all is known.
BUILD_HASH = "@@reportgen-build-hash@@"
