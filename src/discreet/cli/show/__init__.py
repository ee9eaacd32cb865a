"""How results, plans, accounts and errors are drawn. No command is in here: a shell can use it as well."""
