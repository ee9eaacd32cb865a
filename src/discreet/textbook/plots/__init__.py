"""Figures, and `sheet` and `marks`, with which they are drawn; `discreet.plot` offers them."""
