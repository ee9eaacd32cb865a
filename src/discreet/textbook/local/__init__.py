"""Input perturbation: one protocol, or one family of them, per file; `discreet.local` offers them."""
