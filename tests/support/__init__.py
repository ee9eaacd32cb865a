"""What test files share: the project's own files, the pages of its documentation, its command line."""
