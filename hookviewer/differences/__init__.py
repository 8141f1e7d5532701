"""How far tensors, recordings and models lie apart, in numbers: side by side, over depth, over inputs."""

from hookviewer.differences.channels import ChannelDifferences, channel_differences
from hookviewer.differences.diverging import divergence_plan, first_divergence, tolerance_of
from hookviewer.differences.grams import Gram, Grams, grams
from hookviewer.differences.maps import MapDifferences, map_differences
from hookviewer.differences.matching import Matching, matched
from hookviewer.differences.pictures import psnr, ssim
from hookviewer.differences.recordings import Difference, Differences, compare, difference
from hookviewer.differences.similarity import Similarity, SimilaritySums, cka, similarity
from hookviewer.differences.steps import Divergence, Step, Verdict
from hookviewer.differences.ulp import ulps

__all__ = [
    "ChannelDifferences",
    "Difference",
    "Differences",
    "Divergence",
    "Gram",
    "Grams",
    "MapDifferences",
    "Matching",
    "Similarity",
    "SimilaritySums",
    "Step",
    "Verdict",
    "channel_differences",
    "cka",
    "compare",
    "difference",
    "divergence_plan",
    "first_divergence",
    "grams",
    "map_differences",
    "matched",
    "psnr",
    "similarity",
    "ssim",
    "tolerance_of",
    "ulps",
]
