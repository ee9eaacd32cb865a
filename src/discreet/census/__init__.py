"""A synthetic census: people who don't exist, to show and to test on. Nothing here may serve as noise."""

from discreet.census.population import CENSUS_DAY, EDUCATION, LARGEST, synthetic

__all__ = ["CENSUS_DAY", "EDUCATION", "LARGEST", "synthetic"]
