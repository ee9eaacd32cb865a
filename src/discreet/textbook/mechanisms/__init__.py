"""Mechanisms that no question uses; `discreet.mechanisms.textbook` offers them."""
