"""Ten digits, drawn some hundred times each, never twice the same: a data set that needs no download and no package."""

import math

import torch

# The corners of each digit's stroke, in hundredths of its box: to the right, downwards.
STROKES = [
    [(50, 10), (28, 30), (28, 70), (50, 90), (72, 70), (72, 30), (50, 10)],
    [(35, 28), (55, 10), (55, 90)],
    [(26, 28), (42, 10), (66, 14), (72, 36), (26, 90), (76, 90)],
    [(27, 14), (68, 14), (46, 42), (72, 64), (58, 88), (26, 84)],
    [(62, 90), (62, 10), (24, 62), (78, 62)],
    [(72, 10), (32, 10), (29, 45), (58, 42), (74, 64), (58, 88), (26, 84)],
    [(66, 12), (36, 38), (28, 70), (48, 90), (70, 74), (56, 54), (30, 64)],
    [(24, 12), (76, 12), (42, 90)],
    [(50, 48), (31, 30), (50, 10), (69, 30), (50, 48), (28, 70), (50, 90), (72, 70), (50, 48)],
    [(70, 38), (46, 48), (31, 30), (50, 10), (68, 24), (64, 90)],
]
SIDE = 8  # pixels


def draw(stroke, count, generator):
    """`count` images of a stroke: each is turned, stretched and moved a little, by a hand that is not quite steady."""
    def about(mean, spread, *shape):
        return mean + spread * torch.randn(count, *shape, generator=generator)

    corners = torch.tensor(stroke) / 100 - 0.5 + about(0, 0.02, len(stroke), 2)
    turn, lean, size = about(0, 0.1), about(0, 0.12), about(1, 0.08, 2)
    moves = torch.stack([torch.stack([turn.cos(), lean - turn.sin()], 1), torch.stack([turn.sin(), turn.cos()], 1)], 1)
    corners = (corners * size[:, None]) @ moves.transpose(1, 2) + about(0.5, 0.03, 1, 2)

    centres = (torch.arange(SIDE) + 0.5) / SIDE
    pixels = torch.stack(torch.meshgrid(centres, centres, indexing="xy"), -1).reshape(1, -1, 1, 2)
    begin, way = corners[:, None, :-1], (corners[:, 1:] - corners[:, :-1])[:, None]
    along = (((pixels - begin) * way).sum(-1) / (way * way).sum(-1).clamp(min=1e-6)).clamp(0, 1)
    distance = (pixels - begin - along[..., None] * way).norm(dim=-1).amin(-1)
    ink = (about(1.3, 0.15, 1) - distance * SIDE).clamp(0, 1)
    return (ink + about(0, 0.05, SIDE * SIDE)).clamp(0, 1)


def draw_digits(count=1800, seed=0):
    """Images, a row of 64 grey values from 0 to 1 each, and their digits: as many of each, in order."""
    generator = torch.Generator().manual_seed(seed)
    each = math.ceil(count / len(STROKES))
    images = torch.cat([draw(stroke, each, generator) for stroke in STROKES])
    return images, torch.arange(len(STROKES)).repeat_interleave(each)
