"""Middleware: what stands before the routes and sees each request, one file each, from the outside in.

safe_headers   what a browser is told of each reply
observed       metrics, the log, and a name for each request
strict         requests that two readers could understand in two ways
calls          many calls of one caller at once
bodies         bodies that are large, slow or ambiguous
"""
